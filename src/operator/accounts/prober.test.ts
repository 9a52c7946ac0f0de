import { expect, it } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import type { Account } from "../../account/account.ts";
import { probe } from "./prober.ts";

/** An account whose circuit breaker is open. `answer`: the result of a probe. */
function accountWith(answer: (signal: AbortSignal) => Promise<void>) {
  const account = { probes: 0, rechecks: 0, due: true };
  const faked = {
    breaker: {
      probeSoon() {
        account.due = true;
      },
      get isProbeDue() {
        return account.due;
      },
    },
    probe(_: unknown, signal: AbortSignal) {
      account.probes += 1;
      return answer(signal);
    },
    async recheckMissing() {
      account.rechecks += 1;
    },
  };
  return Object.assign(account, { account: faked as unknown as Account });
}

const hanging = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

it("probes each account when its probe is due, also while the service of another one hangs", async () => {
  const [clock, stop] = [new VirtualClock(), new AbortController()];
  const slow = accountWith(hanging);
  const failing = accountWith(() => Promise.reject(new Error("no")));
  const notDue = accountWith(hanging);
  notDue.due = false;
  const all = [slow, failing, notDue].map(({ account }) => account);
  const own = notDue.account;
  const readOwnKey = () => Promise.reject(new Error("there is none"));
  const probing = probe({ accounts: { all, own, readOwnKey }, clock }, stop.signal);
  await clock.advance(2500);
  expect([slow, failing, notDue].map(({ probes, rechecks }) => [probes, rechecks])).toEqual([
    [1, 0],
    [3, 3],
    [0, 3],
  ]);
  stop.abort();
  await probing;
  expect(clock.pending).toBe(0);
});

it("probes the operator's own account within a second when its key has come or changed, and only then", async () => {
  const [clock, stop] = [new VirtualClock(), new AbortController()];
  const refused = accountWith(async () => {
    refused.due = false;
  });
  refused.due = false;
  const { account: own } = refused;
  let key: string | undefined;
  const readOwnKey = async () => {
    if (key === undefined) throw new Error("there is none");
    return key;
  };
  const probing = probe({ accounts: { all: [own], own, readOwnKey }, clock }, stop.signal);
  const probesAfter = async (next: string | undefined) => {
    key = next;
    await clock.advance(1100);
    return refused.probes;
  };
  expect(await probesAfter(undefined)).toBe(0);
  expect(await probesAfter("first")).toBe(1);
  expect(await probesAfter("first")).toBe(1);
  expect(await probesAfter("second")).toBe(2);
  // the moment in which the file is replaced
  expect(await probesAfter(undefined)).toBe(2);
  expect(await probesAfter("second")).toBe(3);
  stop.abort();
  await probing;
});

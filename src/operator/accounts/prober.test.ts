import { expect, it } from "vitest";
import type { Account } from "../../account/account.ts";
import { VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { probe } from "./prober.ts";

/** An account whose gate is closed, and what becomes of a probe. */
function closed(answer: (signal: AbortSignal) => Promise<void>) {
  const account = { probes: 0, looks: 0, due: true };
  const faked = {
    breaker: {
      get isDue() {
        return account.due;
      },
    },
    collection: () => ({
      probe({ signal }: { signal: AbortSignal }) {
        account.probes += 1;
        return answer(signal);
      },
    }),
    async lookForLost() {
      account.looks += 1;
    },
  };
  return Object.assign(account, { account: faked as unknown as Account });
}

const hanging = (signal: AbortSignal): Promise<void> =>
  new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));

it("asks for each account when its gate allows, and one service that hangs keeps no other from being asked", async () => {
  const [clock, stop] = [new VirtualClock(), new AbortController()];
  const [slow, failing, open] = [closed(hanging), closed(async () => Promise.reject(new Error("no"))), closed(hanging)];
  open.due = false;
  const all = [slow, failing, open].map(({ account }) => account);
  const probing = probe({ accounts: { all }, clock }, stop.signal);
  await clock.advance(2500);
  expect([slow, failing, open].map(({ probes, looks }) => [probes, looks])).toEqual([
    [1, 0],
    [3, 3],
    [0, 3],
  ]);
  stop.abort();
  await probing;
  expect(clock.pending).toBe(0);
});

import { beforeEach, describe, expect, it, vi } from "vitest";
import { callsOptions } from "../../../test/fakes/account/calls.ts";
import { recordsOf } from "../../../test/fakes/account/records.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { GatewayError } from "../../gateway/errors.ts";
import { ipPolicies } from "../../gateway/resources/index.ts";
import { Postponed } from "../../objects/reconcile-error.ts";
import { digestOf } from "../key-proof.ts";
import { Calls, type CallsOptions, withoutSecrets } from "./calls.ts";
import { CircuitBreaker } from "./circuit-breaker.ts";
import { RequestBudget } from "./request-budget.ts";
import { Turn } from "./turn.ts";
import { Turns } from "./turns.ts";

const request = { lane: "edit" as const, signal: new AbortController().signal };
const never = new Promise<never>(() => {});
const unavailable = new GatewayError({ kind: "failed", status: 503, method: "GET", route: "/", problem: "no" });
const refused = new GatewayError({ kind: "refused", status: 401, method: "GET", route: "/", problem: "no" });

/** How many requests could be sent at once. Takes them all. */
function tokensOf(budget: RequestBudget): number {
  let count = 0;
  while (budget.tryAcquire("edit")) count += 1;
  return count;
}

describe("a request that waits for the budget while the breaker begins a probe", () => {
  let clock: VirtualClock;
  let budget: RequestBudget;
  let calls: Calls;
  let sent: number;
  let probe: PromiseWithResolvers<void>;
  let outcome: Promise<unknown>;
  let abort: AbortController;

  /** One request a second, and no token left. */
  beforeEach(async () => {
    clock = new VirtualClock();
    budget = new RequestBudget({ perMinute: 60, clock });
    probe = Promise.withResolvers();
    const breaker = new CircuitBreaker({ clock, probe: () => probe.promise });
    calls = new Calls({ ...callsOptions(clock), turns: new Turns(budget, clock), breaker });
    sent = 0;
    while (budget.tryAcquire("edit"));
    const call = async () => {
      sent += 1;
    };
    abort = new AbortController();
    outcome = calls.read(call, { ...request, signal: abort.signal }).catch((error: unknown) => error);
    await settle();
    breaker.failed(refused);
    await clock.advance(5000);
  });

  it("is sent only when the answer says that the service takes requests", async () => {
    expect(sent).toBe(0);
    probe.resolve();
    await outcome;
    expect(sent).toBe(1);
  });

  it("is not sent when the probe fails as well, and has its error", async () => {
    probe.reject(refused);
    expect(await outcome).toBe(refused);
    expect(sent).toBe(0);
  });

  it("ends with its signal", async () => {
    const reason = new Error("stopped");
    abort.abort(reason);
    expect(await outcome).toBe(reason);
  });

  it("leaves its turn to the probe, and keeps no request of the budget", async () => {
    expect(tokensOf(budget)).toBe(5);
    await clock.advance(1000);
    await calls.read(async () => {}, { ...request, isProbe: true });
    expect(sent).toBe(0);
  });
});

it("tells of each change that the service has carried out, and of no other", async () => {
  const clock = new VirtualClock();
  let written = 0;
  const calls = new Calls({
    ...callsOptions(clock),
    onWritten: () => {
      written += 1;
    },
  });
  await calls.read(async () => {}, request);
  const invalid = new GatewayError({ kind: "refused", status: 422, method: "PATCH", route: "/", problem: "no" });
  await expect(calls.change(() => Promise.reject(invalid), request)).rejects.toBe(invalid);
  expect(written).toBe(0);
  await calls.change(async () => {}, request);
  expect(written).toBe(1);
});

describe("requests of an account", () => {
  let clock: VirtualClock;
  let budget: RequestBudget;
  let breaker: CircuitBreaker;
  let options: CallsOptions;
  let calls: Calls;

  /** One request a second, after a burst of 12. */
  beforeEach(() => {
    clock = new VirtualClock();
    budget = new RequestBudget({ perMinute: 60, clock });
    breaker = new CircuitBreaker({ clock });
    options = { ...callsOptions(clock), turns: new Turns(budget, clock), breaker };
    options.keyProof.use(digestOf("key"));
    calls = new Calls(options);
  });

  const reason = new Error("no longer");
  /** Throws each time after these first times. */
  const throwsAfter = (times: number) => {
    let asked = 0;
    return () => {
      asked += 1;
      if (asked > times) throw reason;
    };
  };

  it.each<[string, "read" | "change", Partial<CallsOptions>, { assertValid?: () => void }]>([
    ["a read, when this process may not send any more", "read", { assertMaySend: throwsAfter(1) }, {}],
    ["a change, when this process may not send any more", "change", { assertMaySend: throwsAfter(1) }, {}],
    ["a change, when its reason no longer holds", "change", {}, { assertValid: throwsAfter(1) }],
  ])("are not sent if that shows right before the first byte: %s", async (_, verb, more, ends) => {
    let isSent = false;
    const outcome = new Calls({ ...options, ...more })[verb](
      async ({ assertMaySend }) => {
        assertMaySend?.("key");
        isSent = true;
      },
      { ...request, ...ends },
    );
    await expect(outcome).rejects.toBe(reason);
    expect(isSent).toBe(false);
  });

  it.each(["unknown", "failed", "refused"] as const)(
    "tell of a change that was written what became of it, though this process may send no more: %s",
    async (kind) => {
      const failed = new GatewayError({ kind, status: 504, method: "POST", route: "/", problem: "no" });
      const onUnanswered = vi.fn();
      let mayChange = true;
      const assertMaySend = () => {
        if (!mayChange) throw reason;
      };
      const outcome = new Calls({ ...options, assertMaySend }).change(
        async () => {
          mayChange = false;
          throw failed;
        },
        { ...request, onUnanswered },
      );
      await expect(outcome).rejects.toBe(failed);
      expect(onUnanswered).toHaveBeenCalled();
    },
  );

  it("cost nothing when they turn out to be invalid after the wait for the budget", async () => {
    await expect(calls.read(async () => {}, { ...request, assertValid: throwsAfter(0) })).rejects.toBe(reason);
    expect(tokensOf(budget)).toBe(12);
  });

  it("include one probe at a time while the breaker is open, when it is due", async () => {
    breaker.failed(refused);
    let sent = 0;
    const probe = () =>
      calls.read(
        async () => {
          sent += 1;
          return never;
        },
        { ...request, isProbe: true },
      );
    await expect(probe()).rejects.toBe(refused);
    await clock.advance(2000);
    void probe();
    await settle();
    await expect(probe()).rejects.toBe(refused);
    expect(sent).toBe(1);
  });

  it("tell the breaker of each answer", async () => {
    for (let count = 0; count < 5; count += 1) breaker.failed(unavailable);
    await clock.advance(2000);
    await expect(calls.read(() => Promise.reject(unavailable), { ...request, isProbe: true })).rejects.toBe(
      unavailable,
    );
    expect(breaker.wasAcceptedWithin(1000)).toBe(false);
    await clock.advance(4000);
    await calls.read(async () => {}, { ...request, isProbe: true });
    expect(breaker.problem).toBeUndefined();
    expect(breaker.wasAcceptedWithin(1000)).toBe(true);
  });

  it("that began before the breaker opened neither close it nor delay its probe", async () => {
    const [answered, failed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const begun = [answered, failed].map(({ promise }) => calls.read(() => promise, request));
    await settle();
    breaker.failed(refused);
    answered.resolve();
    await begun[0];
    expect(breaker.problem).toBe(refused);
    await clock.advance(2000);
    breaker.beginProbe();
    failed.reject(refused);
    await expect(begun[1]).rejects.toBe(refused);
    await clock.advance(2000);
    expect(breaker.isProbeDue).toBe(true);
  });

  it("that are changes wait for the proof of the key, and end with their signal meanwhile", async () => {
    const recorded = new Map([[ipPolicies, new Set(["ipp_1"])]]);
    const { keyProof } = callsOptions(clock, { recorded: () => recorded, readList: () => never });
    keyProof.use(digestOf("key"));
    const abort = new AbortController();
    const change = new Calls({ ...options, keyProof }).change(async () => {}, { ...request, signal: abort.signal });
    await settle();
    abort.abort(reason);
    await expect(change).rejects.toBe(reason);
  });

  it.each([
    ["is postponed when its next run accepts the same list", 0, false, true],
    ["waits in its worker when its next run would need a later list", 1, false, false],
    ["is postponed when the service has asked for a pause", 1, true, true],
  ])("a reconcile that waits for a list %s", async (_, later, isPaused, isPostponed) => {
    const turn = new Turn(recordsOf(clock)("a"), clock);
    if (isPaused) budget.pauseAfter429(60);
    let ended: unknown;
    void calls.waitFor(never, { lane: "edit", turn }, turn.startedAt + later).catch((error: unknown) => {
      ended = error;
    });
    await clock.advance(3000);
    expect(ended instanceof Postponed).toBe(isPostponed);
  });
});

it("an answer keeps no secret at any depth, and everything else", () => {
  const answer = {
    secret: "hush",
    list: [{ secret: "hush", none: null, some: [1] }],
    inner: { secret: "hush", id: "a" },
  };
  expect(withoutSecrets(answer, ["secret"])).toEqual({ list: [{ none: null, some: [1] }], inner: { id: "a" } });
});

import { EventEmitter } from "node:events";
import { beforeEach, describe, expect, it } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { type Parts, run } from "./runner.ts";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

let did: string[];
let clock: VirtualClock;
let proc: FakeProcess;
let synced: PromiseWithResolvers<void>;
let elected: PromiseWithResolvers<void>;
let lost: PromiseWithResolvers<Error>;
let drained: PromiseWithResolvers<void>;
let hardStop: AbortSignal | undefined;

beforeEach(() => {
  did = [];
  clock = new VirtualClock();
  proc = new FakeProcess();
  synced = Promise.withResolvers();
  elected = Promise.withResolvers();
  lost = Promise.withResolvers();
  drained = Promise.withResolvers();
  hardStop = undefined;
});

const doing = (what: string) => async () => {
  did.push(what);
};

const parts = (): Parts => ({
  health: { listen: doing("listen"), close: doing("close health") },
  informers: [{ start: () => did.push("start informer"), synced: synced.promise, stop: doing("stop informer") }],
  elector: {
    start: () => did.push("start election"),
    elected: elected.promise,
    lost: lost.promise,
    release: doing("release"),
    stop: doing("stop election"),
  },
  controllers: [
    {
      start(signal) {
        hardStop = signal;
        did.push("start controller");
      },
      drain() {
        did.push("drain");
        return drained.promise;
      },
    },
  ],
  recorder: { close: doing("flush events") },
  close: [doing("close connections")],
});

const begin = (given = parts()) => run(given, { log: recordingLogger(), clock, process: proc });

async function started(given = parts()): Promise<Promise<number>[]> {
  const code = begin(given);
  synced.resolve();
  elected.resolve();
  await settle();
  return [code];
}

describe("run", () => {
  it("starts each part when those before are ready", async () => {
    const code = begin();
    await settle();
    expect(did).toEqual(["listen", "start informer"]);
    synced.resolve();
    await settle();
    expect(did.splice(0)).toEqual(["listen", "start informer", "start election"]);
    elected.resolve();
    await settle();
    expect(did.splice(0)).toEqual(["start controller"]);
    drained.resolve();
    proc.emit("SIGTERM");
    await code;
  });

  it("starts controllers when the preparations of the leader are done", async () => {
    const prepared = Promise.withResolvers<void>();
    const preparation = { start: () => did.push("prepare"), synced: prepared.promise, stop: doing("stop preparation") };
    const [code] = await started({ ...parts(), preparations: [preparation] });
    expect(did.splice(0)).toEqual(["listen", "start informer", "start election", "prepare"]);
    prepared.resolve();
    await settle();
    expect(did.splice(0)).toEqual(["start controller"]);
    drained.resolve();
    proc.emit("SIGTERM");
    await code;
    expect(did).toContain("stop preparation");
  });

  it("stops in order, and leaves no listener and no timer", async () => {
    const [code] = await started();
    did.length = 0;
    proc.emit("SIGTERM");
    await settle();
    expect(did).toEqual(["drain"]);
    drained.resolve();
    expect(await code).toBe(0);
    expect(did).toEqual(["drain", "stop informer", "flush events", "close health", "release", "close connections"]);
    expect(proc.eventNames()).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(hardStop?.aborted).toBe(false);
  });

  it("aborts work that does not end in time, and then does not release the lease", async () => {
    const [code] = await started();
    proc.emit("SIGTERM");
    await clock.advance(29_999);
    expect(hardStop?.aborted).toBe(false);
    await clock.advance(2_001);
    expect(hardStop?.aborted).toBe(true);
    expect(await code).toBe(1);
    expect(did).toContain("stop election");
    expect(did).not.toContain("release");
  });

  it.each([
    [
      "A watch",
      { informers: [{ start: () => {}, synced: Promise.resolve(), stop: () => new Promise<void>(() => {}) }] },
    ],
    ["The writer of events", { recorder: { close: () => new Promise<void>(() => {}) } }],
    ["A part that closes last", { close: [() => new Promise<void>(() => {})] }],
  ] satisfies [string, Parts][])("exits when a part does not close: %s", async (part, stuck) => {
    const log = recordingLogger();
    const code = run({ ...parts(), ...stuck }, { log, clock, process: proc });
    synced.resolve();
    elected.resolve();
    await settle();
    drained.resolve();
    proc.emit("SIGTERM");
    await clock.advance(19_999);
    expect(proc.exits).toEqual([]);
    await clock.advance(1);
    expect(proc.exits).toEqual([1]);
    expect(await code).toBe(1);
    expect(String(log.lines.at(-1)?.fields["error"])).toBe(`Error: ${part} did not close within 20 s`);
  });

  it("gives up the lease when preparations do not end", async () => {
    const preparation = { start: () => {}, synced: Promise.resolve(), stop: () => new Promise<void>(() => {}) };
    const [code] = await started({ ...parts(), preparations: [preparation] });
    drained.resolve();
    proc.emit("SIGTERM");
    await clock.advance(32_000);
    expect(await code).toBe(1);
    expect(did).toContain("stop election");
  });

  it("stops before anything was synced", async () => {
    const code = begin();
    await settle();
    proc.emit("SIGINT");
    drained.resolve();
    expect(await code).toBe(0);
    expect(did).not.toContain("start election");
    expect(did).not.toContain("start controller");
  });

  it("exits at once at the second signal", async () => {
    const [code] = await started();
    proc.emit("SIGTERM");
    await clock.advance(1_000);
    proc.emit("SIGTERM");
    expect(proc.exits).toEqual([1]);
    drained.resolve();
    await code;
  });

  it("counts a signal that comes twice at once as one", async () => {
    const [code] = await started();
    proc.emit("SIGINT");
    await clock.advance(999);
    proc.emit("SIGINT");
    expect(proc.exits).toEqual([]);
    drained.resolve();
    expect(await code).toBe(0);
  });

  it("exits at once when the lease is lost", async () => {
    const [code] = await started();
    lost.resolve(new Error("The lease is held by another"));
    await settle();
    expect(proc.exits).toEqual([1]);
    expect(hardStop?.aborted).toBe(true);
    proc.emit("SIGTERM");
    drained.resolve();
    await code;
  });

  it.each(["unhandledRejection", "uncaughtException"])("exits at once at an %s", async (event) => {
    const [code] = await started();
    proc.emit(event, new Error("nobody handles this"));
    expect(proc.exits).toEqual([1]);
    proc.emit("SIGTERM");
    drained.resolve();
    await code;
  });

  it("runs background work with the controllers, and ends it at a stop", async () => {
    const given = parts();
    const background = async (signal: AbortSignal) => {
      did.push("begin background");
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      did.push("end background");
    };
    const [code] = await started({ ...given, background: [background] });
    expect(did.slice(-2)).toEqual(["start controller", "begin background"]);
    drained.resolve();
    proc.emit("SIGTERM");
    expect(await code).toBe(0);
    expect(did.indexOf("end background")).toBeLessThan(did.indexOf("stop informer"));
  });

  it("cleans up and reports failure when a part does not start", async () => {
    const given = parts();
    given.health = { listen: () => Promise.reject(new Error("EADDRINUSE")), close: doing("close health") };
    drained.resolve();
    expect(await begin(given)).toBe(1);
    expect(did.at(-1)).toBe("close connections");
  });
});

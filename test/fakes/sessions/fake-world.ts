import { Outdated } from "../../../src/objects/reconcile-error.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { CommandObject, CommandSpec, CommandStatus } from "../../../src/sessions/command.ts";
import type { CommandAccount, CommandReconcilerOptions } from "../../../src/sessions/command-reconciler.ts";
import type { Session } from "../../../src/sessions/session.ts";
import { FakeService, mirrored, type RequestOutcome } from "./fake-service.ts";

export const NAMESPACE = "gateway";
export const KEY = `${NAMESPACE}/go`;

/** What happens to a write of the status. */
export type WriteOutcome = "done" | "done, answer lost" | "not done";

export interface ProcessOptions {
  /** Awaited before each step that leaves the process, so that a test can stop it there. */
  pause: (what: string) => Promise<void>;
  request: () => RequestOutcome;
  write: () => WriteOutcome;
}

const defaults: ProcessOptions = { pause: async () => {}, request: () => "done", write: () => "done" };

/** One command in a fake API server, and the service. Any number of processes share them. */
export class FakeWorld {
  readonly service: FakeService;
  readonly #objects: readonly Session[];
  stored: CommandObject | undefined;
  #revision = 1;
  #time = Date.parse("2026-01-01T00:01:00Z");

  constructor(spec: CommandSpec, sessions: readonly Session[], more: { namespace?: string } = {}) {
    this.service = new FakeService(() => this.#time, sessions);
    this.#objects = sessions;
    this.stored = {
      apiVersion: "tunnelgateway.dev/v1",
      kind: "AgentCommand",
      metadata: { namespace: NAMESPACE, name: "go", uid: "1", generation: 1, resourceVersion: "1", ...more },
      spec,
    };
  }

  advance(seconds: number): void {
    this.#time += seconds * 1000;
  }

  readonly clock: Clock = {
    now: () => this.#time,
    date: () => new Date(this.#time),
    setTimeout() {
      throw new Error("a reconcile must not wait");
    },
  };

  /** The reconciler options of one process. Its cache has its own writes, and after `refresh` those of others. */
  process(given: Partial<ProcessOptions> = {}) {
    const { pause, request, write } = { ...defaults, ...given };
    let cache = this.stored;
    const { service, clock } = this;
    const account: CommandAccount = {
      namespace: NAMESPACE,
      collection: {
        get listedAt() {
          return clock.now();
        },
        get absenceProvedAt() {
          return clock.now();
        },
        allCached: () => service.online,
        hidden: [],
        listed: async () => {},
        read: async (id) => service.online.find((one) => one.id === id),
        admit: () => pause("admit"),
        command: async (command, id) => {
          await pause(`send ${command}`);
          service.handle(command, id, request());
          await pause(`answer ${command}`);
        },
      },
      mirror: { isEnabled: true, isSynced: true },
      objects: () => this.#objects.map((one) => mirrored(one)),
    };
    const options: CommandReconcilerOptions = {
      clock,
      accountOf: async () => account,
      command: () => cache,
      commands: () => (cache ? [cache] : []),
      write: async (command, status) => {
        await pause("write");
        cache = this.#write(command, status, write());
        await pause("written");
        return cache;
      },
      delete: async () => {
        this.stored = undefined;
      },
    };
    const refresh = () => {
      cache = this.stored;
    };
    return { options, account, refresh };
  }

  #write(command: CommandObject, status: CommandStatus, outcome: WriteOutcome): CommandObject {
    if (outcome === "not done") throw new Error("the API server cannot be reached");
    if (this.stored?.metadata.resourceVersion !== command.metadata.resourceVersion) throw new Outdated("written since");
    const metadata = { ...command.metadata, resourceVersion: String(++this.#revision) };
    this.stored = { ...command, metadata, status: structuredClone(status) };
    if (outcome === "done, answer lost") throw new Error("the answer of the API server was lost");
    return this.stored;
  }
}

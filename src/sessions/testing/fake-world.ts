import type { GatewayClient } from "../../gateway/client.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Request } from "../answer.ts";
import type { CommandObject, CommandSpec, CommandStatus } from "../command.ts";
import type { Session } from "../session.ts";
import type { CommandWorld } from "../visit.ts";
import { type Course, FakeService, mirrored } from "./fake-service.ts";

export const NAMESPACE = "gateway";
export const KEY = `${NAMESPACE}/go`;

/** What becomes of a write of the status. */
export type WriteCourse = "done" | "done, answer lost" | "not done";

export interface Courses {
  /** Where the process may be interrupted; every call outside waits here first. */
  pause: (what: string) => Promise<void>;
  request: () => Course;
  write: () => WriteCourse;
}

const fine: Courses = { pause: async () => {}, request: () => "done", write: () => "done" };

/** One command, the API server that keeps it and the service, shared by any number of processes. */
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

  pass(seconds: number): void {
    this.#time += seconds * 1000;
  }

  readonly clock: Clock = {
    now: () => this.#time,
    date: () => new Date(this.#time),
    setTimeout() {
      throw new Error("a visit must not wait");
    },
  };

  /** What one process sees. It sees its own writes, and those of others after `refresh`. */
  process(courses: Partial<Courses> = {}) {
    const { pause, request, write } = { ...fine, ...courses };
    let cache = this.stored;
    const { service, clock } = this;
    const client = (["restart", "stop", "update"] as const).map((name) => [
      `${name}Session`,
      async (id: string) => {
        await pause(`send ${name}`);
        service.take(name satisfies Request, id, request());
        await pause(`answer ${name}`);
      },
    ]);
    const world: CommandWorld = {
      namespace: NAMESPACE,
      clock,
      collection: {
        get listedAt() {
          return clock.now();
        },
        allCached: () => service.online,
        listed: async () => {},
        read: async (id) => service.online.find((one) => one.id === id),
        admit: () => pause("admit"),
        perform: (call) => call(Object.fromEntries(client) as GatewayClient, {}),
      },
      mirror: { isOn: true, isSynced: true },
      sessions: () => this.#objects.map((one) => mirrored(one)),
      command: () => cache,
      write: async (command, status) => {
        await pause("write");
        cache = this.#write(command, status, write());
        await pause("written");
        return cache;
      },
      remove: async () => {
        this.stored = undefined;
      },
    };
    const refresh = () => {
      cache = this.stored;
    };
    return { world, refresh };
  }

  #write(command: CommandObject, status: CommandStatus, course: WriteCourse): CommandObject {
    if (course === "not done") throw new Error("the API server cannot be reached");
    if (this.stored?.metadata.resourceVersion !== command.metadata.resourceVersion) throw new Outdated("written since");
    const metadata = { ...command.metadata, resourceVersion: String(++this.#revision) };
    this.stored = { ...command, metadata, status: structuredClone(status) };
    if (course === "done, answer lost") throw new Error("the answer of the API server was lost");
    return this.stored;
  }
}

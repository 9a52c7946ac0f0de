import { beforeEach, describe, expect, it } from "vitest";
import { settle } from "../../../test/fakes/runtime/virtual-clock.ts";
import { ReadObjects } from "./read-objects.ts";

/** What an informer has read, by namespace. */
type State = "read" | "forbidden" | "notServed" | "dead";

class Watch {
  readonly states = new Map<string, State>();
  readonly namespaces: string[];
  readonly #handlers: ((namespace: string) => void)[] = [];

  constructor(...namespaces: string[]) {
    this.namespaces = namespaces;
  }

  hasSyncedIn = (namespace: string) => ["read", "dead"].includes(this.#stateOf(namespace) ?? "");
  isDeadIn = (namespace: string) => this.#stateOf(namespace) === "dead";
  problemIn = (namespace: string) => this.#stateOf(namespace);
  addListHandler = (handler: (namespace: string) => void) => void this.#handlers.push(handler);

  refusalIn(namespace: string): "forbidden" | "notServed" | undefined {
    const state = this.#stateOf(namespace);
    return state === "forbidden" || state === "notServed" ? state : undefined;
  }

  become(namespace: string, state: State): void {
    this.states.set(namespace, state);
    if (state === "read") for (const handler of this.#handlers) handler(namespace);
  }

  #stateOf = (namespace: string) => this.states.get(this.namespaces.includes("") ? "" : namespace);
}

let accounts: Watch;
let policies: Watch;
let edges: Watch;
let keys: PromiseWithResolvers<void>[];
let opened: string[];
let read: ReadObjects;

function watch(...namespaces: string[]): void {
  accounts = new Watch(...namespaces);
  policies = new Watch(...namespaces);
  edges = new Watch(...namespaces);
  keys = [];
  opened = [];
  read = new ReadObjects({
    informers: new Map([
      ["IPPolicy", policies],
      ["TCPEdge", edges],
      ["GatewayAccount", accounts],
    ]),
    accounts,
    readKeys: () => {
      const reading = Promise.withResolvers<void>();
      keys.push(reading);
      return reading.promise;
    },
  });
  read.addOpenHandler((namespace) => opened.push(namespace));
}

async function become(namespace: string, state: State): Promise<void> {
  for (const one of [accounts, policies, edges]) one.become(namespace, state);
  for (const { resolve } of keys) resolve();
  await settle();
}

const visible = (namespace?: string) =>
  ["IPPolicy", "GatewayAccount"].map((kind) => read.visibilityOf(kind, namespace));

describe("of several namespaces", () => {
  beforeEach(async () => {
    watch("a", "b");
    await become("a", "read");
    await become("b", "forbidden");
  });

  it("what is in one that is refused may exist, for whoever asks about all", () => {
    expect(visible("a")).toEqual(["Visible", "Visible"]);
    expect(visible("b")).toEqual(["Unreadable", "Unreadable"]);
    expect(visible()).toEqual(["Unreadable", "Unreadable"]);
    expect(visible("elsewhere")).toEqual(["Unreadable", "Unreadable"]);
    expect([read.unreadNamespaces("IPPolicy"), read.unreadKinds("a"), read.unreadKinds("b").length]).toEqual([
      ...[["b"], [], 3],
    ]);
    expect(read.wayToReadAll("a")).toBeUndefined();
    const way = 'Let the operator read namespace "b", or take it out of WATCH_NAMESPACES';
    expect([read.wayToReadAll(), read.wayToReadAll("b"), read.problem]).toEqual([way, way, `${way}: forbidden`]);
  });

  it("one is read when its GatewayAccounts and their keys are known as well", async () => {
    policies.become("b", "read");
    expect(read.visibilityOf("IPPolicy")).toBe("Unreadable");
    accounts.become("b", "read");
    await settle();
    expect([read.isOpen("b"), read.visibilityOf("IPPolicy"), opened]).toEqual([false, "Unreadable", ["a"]]);
    for (const { resolve } of keys) resolve();
    await settle();
    expect([read.isOpen("b"), read.visibilityOf("IPPolicy"), opened]).toEqual([true, "Visible", ["a", "b"]]);
    expect(read.visibilityOf("TCPEdge")).toBe("Unreadable");
    const way =
      'Let the operator list and watch the TCPEdge objects of namespace "b", or take it out of WATCH_NAMESPACES';
    expect([read.wayToReadAll(), read.problem]).toEqual([way, undefined]);
  });

  it("one of which one kind is refused is not confused with another one", () => {
    edges.become("a", "forbidden");
    expect(read.wayToReadAll("a")).toBe("Let the operator list and watch all TCPEdge objects");
    expect(read.wayToReadAll()).toContain('read namespace "b"');
  });

  it("one that was read stays so when it is refused later, and is told", async () => {
    await become("b", "read");
    expect(read.problem).toBeUndefined();
    await become("b", "dead");
    expect(visible()).toEqual(["Visible", "Visible"]);
    expect(read.problem).toContain('read namespace "b"');
  });
});

it("a kind that is refused everywhere is named without namespaces", async () => {
  watch("a", "b");
  await become("a", "read");
  await become("b", "read");
  for (const namespace of ["a", "b"]) edges.become(namespace, "forbidden");
  expect([read.visibilityOf("TCPEdge"), read.unreadNamespaces("TCPEdge")]).toEqual(["Unreadable", []]);
  expect(read.wayToReadAll()).toBe("Let the operator list and watch all TCPEdge objects");
  for (const namespace of ["a", "b"]) edges.become(namespace, "notServed");
  expect([read.visibilityOf("TCPEdge"), read.wayToReadAll()]).toEqual(["NotDefined", undefined]);
});

it("in all namespaces, one answer is that of each", async () => {
  watch("");
  await become("", "read");
  expect([visible(), visible("any"), read.isOpen("any")]).toEqual([
    ...[["Visible", "Visible"], ["Visible", "Visible"], true],
  ]);
  edges.become("", "forbidden");
  expect([read.visibilityOf("TCPEdge", "any"), read.problem]).toEqual(["Unreadable", undefined]);
});

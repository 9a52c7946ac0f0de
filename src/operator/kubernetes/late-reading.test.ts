import { expect, it } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { LateReading, type LateReadingOptions } from "./late-reading.ts";

function scene() {
  const log = recordingLogger();
  const open = new Set(["a"]);
  const did: string[] = [];
  const handlers = { listed: [] as ((namespace: string) => void)[], opened: [] as ((namespace: string) => void)[] };
  const watched = (kind: string, ...missing: string[]): LateReadingOptions["watched"][number] => ({
    type: { group: "", version: "v1", plural: "", kind },
    namespaces: ["a", "b"],
    problem: "forbidden",
    hasSyncedIn: (namespace) => !missing.includes(namespace),
    addListHandler: (handler) => void handlers.listed.push(handler),
  });
  const late = new LateReading({
    watched: [watched("IPPolicy", "b"), watched("TCPEdge", "a", "b"), watched("TLSEdge")],
    accounts: { namespaces: ["a", "b"], problemIn: (namespace) => `no list of ${namespace}` },
    readObjects: {
      isOpen: (namespace) => open.has(namespace),
      addOpenHandler: (handler) => void handlers.opened.push(handler),
    },
    log,
    onRead: () => did.push("read"),
    onOpen: (namespace) => did.push(`open ${namespace}`),
  });
  const listed = (namespace: string) => handlers.listed[0]?.(namespace);
  const opened = (namespace: string) => handlers.opened[0]?.(namespace);
  return { late, log, did, listed, opened };
}

it("names each namespace once, and each kind that cannot be read elsewhere", () => {
  const { late, log } = scene();
  late.begin();
  expect(log.lines).toMatchObject([
    { message: "Started without a namespace that cannot be read", fields: { namespace: "b", problem: "no list of b" } },
    { message: "Started without a kind that cannot be read", fields: { kind: "TCPEdge", namespaces: ["a"] } },
  ]);
});

it("triggers nothing for objects that are read before the controllers start", () => {
  const { late, did, listed, opened } = scene();
  listed("b");
  opened("b");
  expect(did).toEqual([]);
  late.begin();
  listed("b");
  opened("b");
  expect(did).toEqual(["read", "open b", "read"]);
});

import { expect, it } from "vitest";
import { createLogger, type LogOptions } from "./log.ts";

function capture(options: LogOptions = {}) {
  const written: string[] = [];
  const log = createLogger({ ...options, destination: { write: (line) => void written.push(line) } });
  return { log, written, lines: () => written.map((line) => JSON.parse(line)) };
}

it("writes the keys of controller-runtime and nothing of the process", () => {
  const { log, lines } = capture();
  log.child({ controller: "thing" }).info({ name: "a" }, "Reconciled");
  expect(lines()).toEqual([
    {
      level: "info",
      ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      controller: "thing",
      name: "a",
      msg: "Reconciled",
    },
  ]);
});

it("writes each key once: the last field under a key replaces those before it", () => {
  const { log, lines, written } = capture();
  const controller = log.child({ logger: "operator", controller: "thing" });
  const informer = controller.child({ logger: "informer", resource: "things" }).child({ namespace: "a" });
  informer.info({}, "Synced");
  informer.error({ error: "gone", namespace: "b", controller: "other" }, "Handler failed");
  controller.info({}, "Started");
  expect(lines()).toMatchObject([
    { controller: "thing", logger: "informer", resource: "things", namespace: "a", msg: "Synced" },
    { controller: "other", logger: "informer", resource: "things", namespace: "b", error: "gone" },
    { controller: "thing", logger: "operator" },
  ]);
  for (const line of written) {
    const keys = [...line.matchAll(/"(\w+)":/g)].map(([, key]) => key);
    expect(keys).toEqual([...new Set(keys)]);
  }
});

it("writes an error as its message and those of its causes, without its other members", () => {
  const { log, lines } = capture();
  const cause = Object.assign(new Error("connect ECONNREFUSED"), { request: { authorization: "Bearer secret" } });
  log.error({ error: new Error("Could not list", { cause }) }, "Watch failed");
  expect(lines()[0].error).toBe("Could not list: connect ECONNREFUSED");
  expect(lines()[0].stacktrace).toContain("log.test.ts");
  expect(JSON.stringify(lines())).not.toContain("Bearer");
});

it("writes the stack of a mistake of the program at every level, also where it is a cause", () => {
  const { log, lines } = capture();
  const cause = new TypeError("connect is not a function");
  log.warn({ error: new Error("Could not list", { cause }) }, "Trying again");
  expect(lines()[0].stacktrace).toMatch(/^TypeError: connect is not a function\n.*log\.test\.ts/s);
});

it("writes no stack below the level error", () => {
  const { log, lines } = capture();
  log.warn({ error: new Error("expected") }, "Trying again");
  expect(Object.keys(lines()[0])).toEqual(["level", "ts", "error", "msg"]);
});

it("writes no lines below its level, and redacts fields", () => {
  const { log, lines } = capture({ level: "warn", redact: ["token"] });
  log.info({}, "Not written");
  log.warn({ token: "secret" }, "Written");
  expect(lines()).toMatchObject([{ level: "warn", token: "[Redacted]" }]);
});

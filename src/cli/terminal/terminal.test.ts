import { afterEach, expect, test, vi } from "vitest";
import { readTerminalConfig } from "../../config.ts";
import { terminalOf } from "./terminal.ts";

afterEach(() => void vi.unstubAllGlobals());

/** A terminal as the program finds it. */
function found(isTTY: boolean, env: NodeJS.ProcessEnv = {}) {
  const stream = { write: vi.fn(), on: vi.fn(), ...(isTTY && { isTTY, columns: 120 }) };
  vi.stubGlobal("process", { stdin: { isTTY: isTTY || undefined }, stdout: stream, stderr: stream });
  return { terminal: terminalOf(readTerminalConfig(env)), stream };
}

test("a terminal has a width and colours, and shows progress in one line", () => {
  const { terminal, stream } = found(true);
  expect(terminal).toMatchObject({ columns: 120, hasColours: true, ask: expect.any(Function) });
  terminal.progress?.("Reading /ip_policies: 100");
  expect(stream.write).toHaveBeenCalledWith("\r\x1b[KReading /ip_policies: 100");
});

test("progress has a bar where the count is known, and what is printed takes its place", () => {
  const { terminal, stream } = found(true);
  terminal.progress?.("Planning", { done: 5, all: 20 });
  expect(stream.write).toHaveBeenLastCalledWith(`\r\x1b[K${"█".repeat(5)}${"░".repeat(15)} 5 of 20  Planning`);
  terminal.say("Done");
  terminal.say("Well");
  expect(stream.write.mock.calls.slice(1)).toEqual([["\r\x1b[K"], ["Done\n"], ["Well\n"]]);
});

test.each([
  ["1", false],
  ["", true],
])("where NO_COLOR is %j, it has colours: %s", (value, hasColours) => {
  expect(found(true, { NO_COLOR: value }).terminal.hasColours).toBe(hasColours);
});

test("in a pipe there are no colours, no width, no progress, and nobody to ask", () => {
  const { columns, hasColours, progress, ask } = found(false).terminal;
  expect({ columns, hasColours, progress, ask }).toEqual({ hasColours: false });
});

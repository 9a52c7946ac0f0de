import { expect, test, vi } from "vitest";
import { useFixedServices } from "../../test/fakes/cli/run.ts";
import { readConfig } from "../config.ts";
import { mayRun } from "./run.ts";
import { terminalOn } from "./terminal/terminal.ts";

useFixedServices();

function terminal(answer?: boolean) {
  const said: string[] = [];
  const note = (text: string) => said.push(text);
  const ask = answer === undefined ? undefined : vi.fn(async () => answer);
  return { ...terminalOn({ out: note, err: note }), ask, text: () => said.join("") };
}

test("before an operator runs outside of a cluster, it is said which cluster and account it would manage", async () => {
  const there = terminal(true);
  expect(await mayRun(readConfig(), there, false)).toBe(true);
  expect(there.ask).toHaveBeenCalledOnce();
  expect(there.text()).toMatch(/cluster {2}fixed at http:.*, all namespaces\n {2}account {2}http:/);
});

test("it does not run where a person does not agree", async () => {
  expect(await mayRun(readConfig(), terminal(false), false)).toBe(false);
});

test("nobody is asked with --yes, or where nobody can be", async () => {
  const there = terminal(false);
  expect(await mayRun(readConfig(), there, true)).toBe(true);
  expect(there.ask).not.toHaveBeenCalled();
  expect(await mayRun(readConfig(), terminal(), false)).toBe(true);
});

test("the namespaces are named that it watches", async () => {
  vi.stubEnv("WATCH_NAMESPACES", "one,two");
  const there = terminal();
  await mayRun(readConfig(), there, false);
  expect(there.text()).toContain("namespace one, two");
});

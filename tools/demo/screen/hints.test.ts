import { expect, test } from "vitest";
import { hints } from "./hints.ts";
import { plain } from "./line.ts";

const shown = hints({
  kubeconfig: "/demo/kubeconfig",
  bin: "/demo/bin",
  namespace: "demo",
  serviceURL: "http://127.0.0.1:1",
  apiKeyFile: "/demo/api-key",
  operatorURL: "http://127.0.0.1:2",
  operatorLog: "/demo/operator.log",
  pageAddress: "http://127.0.0.1:3/?token=a",
  backendID: "bkdtg_oM5l9lX5stF68JL34elkP0bsgC5",
  restart: "/demo/restart.yaml",
  resyncSeconds: 30,
  hasDNS: true,
}).map(plain);

test("each command for objects names the namespace of the demo, or all", () => {
  const commands = shown.filter((text) => /^ +kubectl /.test(text) && !text.includes("kubectl explain"));
  expect(commands.length).toBeGreaterThan(10);
  expect(commands.filter((text) => !/ (-n demo|-A)( |$)/.test(text))).toEqual([]);
});

test("the first commands are those that no other operator has", () => {
  const called = shown.join("\n").matchAll(/kubectl tunnelgateway (\w+)/g);
  expect([...called].slice(0, 5).map(([, name]) => name)).toEqual(["status", "tree", "why", "plan", "import"]);
});

test("no line is wider than a terminal", () => {
  expect(shown.flatMap((text) => text.split("\n")).filter((text) => text.length > 80)).toEqual([]);
});

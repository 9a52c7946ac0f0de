import { describe, expect, test } from "vitest";
import { waitsOf } from "./waits.ts";

const seam =
  "interface Cluster { get(name: string): object; secret(name: string): Promise<object>; find(id: string, how: object): Promise<object> }";

const waits = (text: string): string[] =>
  waitsOf(
    [
      ["cluster.ts", seam],
      ["pass.ts", text],
    ],
    ["Cluster"],
  ).map(({ within, on }) => `${within}: ${on}`);

// guards against an await that this overlooks, which nobody would then think of killing
describe("a wait is", () => {
  test.each<[string, string, string[]]>([
    ["a call on something else", "async function a(c) { await c.cluster.secret('x'); }", ["a: cluster.secret"]],
    ["each of several", "async function a(c) { await c.one(); await c.one(); }", ["a: c.one", "a: c.one"]],
    ["a call that may fail", "async function a(c) { await c.secret('x').catch(() => 1); }", ["a: c.secret"]],
    ["a call of what came from elsewhere", "async function a(sleep) { await sleep(1); }", ["a: sleep"]],
    ["a promise", "async function a(done) { await done; }", ["a: done"]],
    ["several at once", "async function a(c) { await Promise.all([c.one()]); }", ["a: Promise.all"]],
    ["a promise of its own", "const a = () => new Promise(() => {});", ["a: Promise"]],
    ["a loop", "async function a(pages) { for await (const page of pages) page; }", ["a: pages"]],
    ["what a method returns", "class A { #b(c) { return c.cluster.secret('x'); } }", ["#b: cluster.secret"]],
    ["in an argument", "function a(c) { c.then(c.secret('x')); }", ["a: c.secret"]],
    [
      "a request that is sent in its turn",
      "class A { async read() {} b() { return this.#calls.read((options) => this.#client.get(1, options)); } }",
      ["b: client.get"],
    ],
  ])("%s", (_, text, expected) => {
    expect(waits(text)).toEqual(expected);
  });
});

describe("no wait is", () => {
  test.each<[string, string, string[]]>([
    [
      "a function of the same sources, which has its own",
      "async function a() { await b(); } async function b(c) { await c.d(); }",
      ["b: c.d"],
    ],
    ["a method likewise", "class A { async b() { await this.#c(); } async #c(d) { await d.e(); } }", ["#c: d.e"]],
    ["a call that returns no promise", "function a(c) { return c.cluster.get('x'); }", []],
    ["how a request is sent", "class A { with() {} b() { return this.#calls.with(1); } }", []],
    ["a search in an array", "function a(rows) { return rows.find((row) => row); }", []],
    ["what is only named so", "// await c.one()\nconst a = 'await c.one()';", []],
  ])("%s", (_, text, expected) => {
    expect(waits(text)).toEqual(expected);
  });
});

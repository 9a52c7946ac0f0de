import fc from "fast-check";
import { expect, test } from "vitest";
import { run } from "../../../tools/shared/run.ts";
import { fishWord, shellWord } from "./shell.ts";

test("a shell reads each text as one word, and runs nothing in it", async () => {
  const odd = fc.string({ unit: fc.constantFrom(..."'\"\\$`;&|<>(){}[]*?~#!= \n\tab".split("")), minLength: 1 });
  const texts = [...fc.sample(odd, 300), "", "$(touch x)", "a; rm -rf /", "~", "-n", "name"];
  const { stdout } = await run("bash", ["-c", `printf '%s\\0' ${texts.map(shellWord).join(" ")}`]);
  expect(stdout.split("\0").slice(0, -1)).toEqual(texts);
});

test("plain names stay as they are", () => {
  expect(["shop-tls", "tls.crt", "a/b:c"].map(shellWord)).toEqual(["shop-tls", "tls.crt", "a/b:c"]);
  expect(fishWord("it's a \\")).toBe("'it\\'s a \\\\'");
});

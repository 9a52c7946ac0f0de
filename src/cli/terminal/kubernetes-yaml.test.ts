import { expect, test } from "vitest";
import { parse } from "yaml";
import { kubernetesYAML } from "./kubernetes-yaml.ts";

const texts = ["yes", "No", "on", "off", "y", "010", "0b11", "0x1f", "1_000", "1e3", "12:30", "2026-01-01", "~", "<<"];

test.each([...texts, "null", "", " a", "a: b", "# a", "a\n---\nb\n", "\u00e9\u2028\u0007", "---", "*a", "&a"])(
  "%j stays a text, as a value and as a key, also in YAML 1.1",
  (text) => {
    for (const version of ["1.1", "1.2"] as const) {
      expect(parse(kubernetesYAML({ a: text }), { version })).toEqual({ a: text });
      expect(parse(kubernetesYAML({ [text]: "a" }), { version, merge: false })).toEqual({ [text]: "a" });
    }
  },
);

import fc from "fast-check";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { kubernetesYAML } from "./kubernetes-yaml.ts";
import { structured } from "./output.ts";

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

// kubectl reads what is written in test/integration/commands/manifest-text.test.ts.
const anyText = fc.string({ unit: "binary", maxLength: 20 });

test("nothing but plain text is printed for programs, and readers of each version find what was meant", () => {
  fc.assert(
    fc.property(anyText, anyText, (key, text) => {
      const value = { [`a${key}`]: [text, { text }] };
      const [yaml, json] = [kubernetesYAML(value), structured(value, "json").join("\n")] as const;
      for (const printed of [yaml, json]) expect(printed.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
      expect(JSON.parse(json)).toEqual(value);
      for (const version of ["1.1", "1.2"] as const) expect(parse(yaml, { version, merge: false })).toEqual(value);
    }),
  );
});

test("a line separator begins no other object", () => {
  const metadata = "x\u2028---\u2028kind: ClusterRoleBinding\u2028---\u2028y";
  const yaml = kubernetesYAML({ spec: { metadata } }, { above: ["by\u2028---\r\nkind: X"], behind: [] });
  expect(yaml).toBe(
    `# by\\u2028---\\r\\nkind: X\nspec:\n  metadata: "x\\u2028---\\u2028kind: ClusterRoleBinding\\u2028---\\u2028y"\n`,
  );
});

test("a text of several lines, such as a certificate, stays readable", () => {
  expect(kubernetesYAML({ pem: "-----BEGIN-----\nAAAA\n-----END-----\n" })).toBe(
    "pem: |\n  -----BEGIN-----\n  AAAA\n  -----END-----\n",
  );
});

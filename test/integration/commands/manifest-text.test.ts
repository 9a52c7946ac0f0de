import fc from "fast-check";
import { expect, test } from "vitest";
import { kubernetesYAML, streamOf } from "../../../src/cli/terminal/kubernetes-yaml.ts";
import { useCluster } from "../../../tools/cluster/use.ts";
import { run } from "../../../tools/shared/run.ts";

// What is written for kubectl is read back by kubectl, and never by the library that wrote it.

const cluster = useCluster();

interface Written {
  texts: string[];
  keys: Record<string, number>;
}

const objectOf = (name: string, spec: Written) => ({ apiVersion: "x.dev/v1", kind: "X", metadata: { name }, spec });

/** The objects that kubectl finds. It needs no server for that. */
async function readByKubectl(manifests: string): Promise<{ metadata: { name: string }; spec: Written }[]> {
  const args = ["annotate", "--local", "-f", "-", "-o", "jsonpath-as-json={@}", "read=yes"];
  const { code, stdout, stderr } = await run(cluster.kubectl, args, {
    input: manifests,
    env: { KUBECONFIG: "/dev/null" },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  // One list of one object for each.
  return JSON.parse(`[${stdout.replaceAll(/^\]\s*^\[/gm, "],[")}]`).flat();
}

/** Writes the texts as values and as keys, each kind of object for itself, and demands the same back. */
async function expectSame(...lists: readonly (readonly string[])[]): Promise<void> {
  const objects = lists.map((texts, index) =>
    objectOf(`x${index}`, { texts: [...texts], keys: Object.fromEntries(texts.map((text, at) => [text, at])) }),
  );
  const found = await readByKubectl(streamOf(objects.map((object) => kubernetesYAML(object))));
  expect(found.map(({ metadata }) => metadata.name).join()).toBe(objects.map(({ metadata }) => metadata.name).join());
  for (const [index, { spec }] of found.entries()) {
    const wanted = objects[index]?.spec;
    expect(wanted?.texts.filter((text, at) => spec.texts[at] !== text || spec.keys[text] !== at)).toEqual([]);
    expect(Object.keys(spec.keys)).toHaveLength(wanted?.texts.length ?? 0);
  }
}

/** All but surrogates, which no UTF-8 can have. */
const codePoints = (from: number, to: number): number[] =>
  [...Array(to - from).keys()].map((at) => from + at).filter((code) => code < 0xd800 || code > 0xdfff);

/** In parts, since a map of many keys takes long to build. */
const inParts = (texts: readonly string[]): string[][] =>
  [...Array(Math.ceil(texts.length / 300)).keys()].map((at) => texts.slice(at * 300, (at + 1) * 300));

test("kubectl reads each code point as it was written: alone, in a text, at its ends, and as a line", async () => {
  const basic = codePoints(0, 0x1_0000).map((code) => String.fromCodePoint(code));
  await expectSame(...inParts(basic));
  const around = (one: string) => [`a${one}b`, `${one}b`, `a${one}`, `a\n${one}\nb\n`];
  const odd = basic.filter((one) => /[^\p{L}\p{N}\p{Co}]/u.test(one));
  await expectSame(...inParts(odd.slice(0, 2500).flatMap(around)));
  const planes = [...Array(16).keys()].map((plane) => (plane + 1) * 0x1_0000);
  const ends = planes.flatMap((first) => [...codePoints(first, first + 16), first + 0xfffe, first + 0xffff]);
  await expectSame(ends.map((code) => String.fromCodePoint(code)));
});

/** What some version of YAML, or some parser, reads as something other than a text. */
const words = [
  ...[
    "y",
    "Y",
    "yes",
    "No",
    "ON",
    "off",
    "true",
    "False",
    "null",
    "~",
    "Null",
    "",
    "=",
    "<<",
    "-",
    "?",
    ":",
    "---",
    "...",
  ],
  ...[
    "0o777",
    "0O7",
    "0700",
    "0x1F4",
    "0X1F",
    "0b11",
    "0B1",
    "5e2",
    "5_00",
    "1__0",
    "_1",
    "+1",
    "+_7",
    "-_0",
    "-0",
    "12:30",
    "190:20:30.15",
  ],
  ...[
    ".5",
    "1.",
    ".inf",
    "-.INF",
    "+.Inf",
    ".nan",
    ".NaN",
    "1e400",
    "9223372036854775808",
    "1E+2",
    "0x",
    "0b",
    "08",
    "1_2.5",
  ],
  ...[
    "2026-01-01",
    "2001-12-14t21:59:43.10-05:00",
    "2026-01-01 00:00:00",
    "12e03",
    "685.230_15e+03",
    "-.5e-3",
    "+",
    ".",
  ],
  ...[
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    ">",
    "|-",
    "'",
    '"',
    "{}",
    "[]",
    "{",
    "a: b",
    "a #b",
    "# a",
    "- a",
    "? a",
    ": a",
  ],
  ...[
    "\\u2028",
    "\\",
    "\\n",
    "\u2028---\u2028kind: X",
    "a\n---\nb\n",
    "\n",
    "\n\n",
    "a\n\n",
    " a\n",
    "a \n",
    "\ta\n",
    "a\n b\n",
  ],
  ...[
    "a\r\nb\r",
    "a\n\tb\n",
    "k".repeat(1030),
    "é".normalize("NFD"),
    "\u0301",
    "#\n#\n",
    "a\n# b\n",
    "...\n",
    "---\n---\n",
  ],
];

const text = fc.oneof(
  { arbitrary: fc.string({ unit: "binary", maxLength: 12 }), weight: 3 },
  { arbitrary: fc.string({ unit: "grapheme", maxLength: 12 }), weight: 1 },
  {
    arbitrary: fc
      .array(
        fc.constantFrom("\n", " ", "\t", "\r", "a", "#", ":", "-", "\u2028", "\u0085", "\ufeff", "'", '"', "\\", "1"),
        {
          maxLength: 9,
        },
      )
      .map((parts) => parts.join("")),
    weight: 3,
  },
  { arbitrary: fc.string({ unit: fc.constantFrom(..."0123456789abcdefxo_.:+-eETZ "), maxLength: 8 }), weight: 3 },
  { arbitrary: fc.constantFrom(...words), weight: 1 },
);

test("kubectl reads any text as it was written, as a value and as a key", async () => {
  await expectSame(words);
  const many = fc.uniqueArray(text, { minLength: 500, maxLength: 1000, size: "max" });
  await fc.assert(
    fc.asyncProperty(many, many, (one, other) => expectSame(one, other)),
    // A smaller example costs many starts of kubectl, and the texts that differ are said anyway.
    { numRuns: 10, endOnFailure: true },
  );
});

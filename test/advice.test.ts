import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

// Who reads a message does what it says. So no message tells anybody to delete what somebody else may run: it is this
// object, or the message says when it may go. Each advice to delete anything else is here, with what makes it safe.
const safe: Readonly<Record<string, string>> = {
  "Delete or change ": "those that use it, by name, and only for who wants to delete this object",
  "delete what you need no more in it": "the reader decides",
  "Delete ${id} in the account, once nothing uses it": "says when",
  "Delete ${id} in the account by hand, if nobody uses it": "says when",
  "Delete what no other object has and nothing uses": "says when",
  "Delete it with the tools of the service: who uses":
    "an answer to who wants to delete it, and says what is not known",
  'Delete ${way === "leftover" ? "it" : id} by hand': "an answer to who has deleted its object, or its leftover",
  "Delete ${id} by hand, and it is created anew": "the remote of this object, which the edit replaces",
  "Delete the DNS record": "leads to a name that this object has given up",
  "delete the Secret to get a new ": "the Secret that this object has written",
  "delete it so that a new key is made": "the operator's own Secret",
  "Delete the objects of this namespace before the namespace": "who deletes the namespace deletes them",
};

const root = join(import.meta.dirname, "..");
const files = globSync("src/{account,gateway,objects,operator,reconcile,sessions}/**/*.ts", { cwd: root }).filter(
  (file) => !/\.(test|property\.test)\.ts$/.test(file),
);

/** Texts in quotes that ask for a deletion, from the word on. */
const advice = files.flatMap((file) =>
  readFileSync(join(root, file), "utf8")
    .split("\n")
    .filter((line) => !/^\s*(\*|\/\/|\/\*)/.test(line))
    .flatMap((line) => [...line.matchAll(/(?:["'`]|[.:,] (?:or |then )?)([Dd]elete (?!and recreate this |this ).*)/g)])
    .map(([, text = ""]) => `${file}: ${text}`),
);

test("no message tells to delete what somebody else may run", () => {
  const known = Object.keys(safe);
  expect(advice.filter((text) => !known.some((one) => text.includes(`: ${one}`)))).toEqual([]);
  expect(known.filter((one) => !advice.some((text) => text.includes(`: ${one}`)))).toEqual([]);
});

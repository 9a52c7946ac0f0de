import { expect, it } from "vitest";
import { blocked, type DeclaredError, retry } from "../objects/errors/declare.ts";
import { withTexts } from "./troubleshooting.ts";

const taken = blocked("AlreadyExists", ({ id }: { id: string }) => `Adopt ${id}`, { id: "a" }, { id: "b" });
const failing = retry(
  () => "InvalidSpec" as const,
  () => "Wait",
  {},
);
const declared = new Map<string, DeclaredError<object>>([
  ["taken", taken as DeclaredError<object>],
  ["failing", failing],
]);

const block = (names: string, text = "") => `<!-- says: ${names} -->\n\`\`\`text\n${text}\`\`\`\n`;
const page = (...parts: string[]) => parts.join("\n");

it("writes the examples of each error below its names, and leaves the rest as it is", () => {
  const written = page(
    "### AlreadyExists",
    "It is there.",
    block("taken", "old\n"),
    block("failing"),
    "### Other",
    "x",
  );
  expect(withTexts(written, declared)).toBe(
    page(
      "### AlreadyExists",
      "It is there.",
      block("taken", "Adopt a\nAdopt b\n"),
      block("failing", "Wait\n"),
      "### Other",
      "x",
    ),
  );
});

it.each([
  ["told below another reason", page("### Other", block("taken, failing")), "taken is told below Other"],
  [
    "told twice",
    page("### AlreadyExists", block("taken"), block("taken, failing")),
    "taken is no declared error, or is told twice",
  ],
  ["not declared", page("### AlreadyExists", block("none")), "none is no declared error"],
  ["missing", page("### AlreadyExists", block("taken")), "tells nothing of failing"],
])("says that an error is %s", (_, written, message) => {
  expect(() => withTexts(written, declared)).toThrow(message);
});

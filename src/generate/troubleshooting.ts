import { declaredErrors } from "../objects/errors/all.ts";
import type { DeclaredError } from "../objects/errors/declare.ts";

/** A comment with names of declared errors, and the block below it, which has their examples. */
const SAID = /(<!-- says: ([\w, ]+) -->\n```text\n)[\s\S]*?(```)/g;

/**
 * The page of reasons, with an example of each text that the operator may report. Throws when one is missing, is there
 * twice, or stands below another reason than its own.
 */
export function withTexts(page: string, declared: ReadonlyMap<string, DeclaredError<object>> = declaredErrors): string {
  const missing = new Set(declared.keys());
  const sections = page.split(/^(?=### )/m).map((section) => {
    const heading = /^### (\w+)/.exec(section)?.[1];
    return section.replace(SAID, (_, begin: string, names: string, end: string) => {
      const texts = names.split(", ").flatMap((name) => {
        const error = declared.get(name);
        if (!error || !missing.delete(name)) throw new Error(`${name} is no declared error, or is told twice`);
        if ((error.reason ?? heading) !== heading) throw new Error(`${name} is told below ${heading}`);
        return error.examples.map(error.textOf);
      });
      return `${begin}${texts.join("\n")}\n${end}`;
    });
  });
  if (missing.size > 0) throw new Error(`docs/troubleshooting.md tells nothing of ${[...missing].join(", ")}`);
  return sections.join("");
}

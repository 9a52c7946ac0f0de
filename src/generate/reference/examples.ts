import { parse } from "yaml";

/** The file of an example, and its text with the comments above it. */
export interface Example {
  file: string;
  text: string;
}

/** The first YAML document of each kind. `files` has contents by name, and is searched in its order. */
export function firstExamples(files: ReadonlyMap<string, string>): Map<string, Example> {
  const found = new Map<string, Example>();
  for (const [file, content] of files) {
    for (const text of content.split(/^---$/m)) {
      const kind = (parse(text) as { kind?: string } | null)?.kind;
      if (kind && !found.has(kind)) found.set(kind, { file, text: text.trim() });
    }
  }
  return found;
}

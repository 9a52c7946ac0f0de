/**
 * What a demo has printed, as a text that is the same each time: ids, addresses, dates and durations are replaced by
 * others of the same width. What is in the order of creation is sorted, and what only `--dns` shows is left out.
 */
export function recordingOf(lines: readonly string[]): string {
  return sortedAccount(withoutDNS(`${lines.map(same).join("\n")}\n`));
}

const changing: readonly (readonly [RegExp, (...found: string[]) => string])[] = [
  [/\/\S*\/tunnel-gateway-cluster-\w+/g, () => "/tmp/demo"],
  [/(127\.0\.0\.1):\d+/g, (_, host = "") => `${host}:PORT`],
  [/token=\S+/g, () => "token=TOKEN"],
  [/\b([a-z]+_)([A-Za-z0-9]{27})\b/g, (_, kind = "", rest = "") => kind + "x".repeat(rest.length)],
  [/\b([a-z]+_)([A-Za-z0-9]+)…/g, (_, kind = "", rest = "") => `${kind}${"x".repeat(rest.length)}…`],
  [/\d\.tcp\.(\S*):\d+/g, (_, zone = "") => `0.tcp.${zone}:00000`],
  [/\b20\d\d-\d\d-\d\d\b/g, () => "YYYY-MM-DD"],
  [/after \d+\.\d s/g, () => "after N s"],
];

const same = (line: string): string =>
  changing.reduce((now, [pattern, replaced]) => now.replace(pattern, replaced), line);

/** Steps are lines. A part goes from an empty line before its title to the next one. */
const withoutDNS = (text: string): string =>
  text
    .replace(/^ {2}✓ (?:DNS|external-dns) .*\n/gm, "")
    .replace(/^\n {2}(?:The records in BIND|Delete a domain).*\n(?:.+\n)*/gm, "");

/** The rows of each collection, each with the lines on which it goes on. */
function sortedAccount(text: string): string {
  return text.replace(/(?:^ {4}[a-z]+_\w+.*\n(?: {12}.*\n)*)+/gm, (rows) =>
    rows
      .split(/^(?= {4}\S)/m)
      .sort()
      .join(""),
  );
}

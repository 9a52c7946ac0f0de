import { lines, text } from "../bench/table.ts";
import { quantities, type Sample } from "./sample.ts";
import type { Verdict } from "./verdict.ts";

const units: Partial<Record<(typeof quantities)[number], string>> = {
  rss: "RSS MiB",
  heap: "heap MiB",
  reserved: "heap reserved MiB",
  external: "external MiB",
};

/** At most about `rows` samples, evenly over the time. */
export function table(samples: readonly Sample[], rows = 24): string {
  const every = Math.max(1, Math.ceil(samples.length / rows));
  return lines([
    ["minute", ...quantities.map((quantity) => units[quantity] ?? quantity)],
    ...samples
      .filter((_, index) => index % every === 0 || index === samples.length - 1)
      .map((sample) => [
        (sample.at / 60).toFixed(1),
        ...quantities.map((quantity) => (sample[quantity] === undefined ? "" : String(Math.round(sample[quantity])))),
      ]),
  ]);
}

export function verdictTable(verdicts: readonly Verdict[]): string {
  return lines([
    ["", "", "found", "at most"],
    ...verdicts.map(({ text: what, found, atMost, kept }) => [
      kept ? "kept" : "MISSED",
      what,
      text(found),
      text(atMost),
    ]),
  ]);
}

import type { Phase } from "./arguments.ts";
import { type Figures, isSameRun, peerOf } from "./figures.ts";
import type { Verdict } from "./targets.ts";

const columns: readonly [heading: string, of: (figures: Figures) => number | string | undefined][] = [
  ["phase", ({ phase, peer }) => (peer ? `${phase} (peer)` : phase)],
  ["latency ms", ({ latencyMs }) => String(latencyMs)],
  ["objects", ({ objects }) => String(objects)],
  ["wall s", ({ wallSeconds }) => wallSeconds],
  ["operator CPU s", ({ operatorCPU }) => operatorCPU],
  ["API server CPU s", ({ apiServerCPU }) => apiServerCPU],
  ["peak MiB", ({ peakRSS }) => peakRSS],
  ["requests", ({ requests }) => requests],
  ["writes", ({ writes }) => writes],
  ["reads", ({ reads }) => reads],
  ["p50 ms", ({ p50 }) => p50],
  ["p99 ms", ({ p99 }) => p99],
];

/** A table of figures, with those of the baseline in brackets. Requests, writes and reads are per object. */
export function table(measured: readonly Figures[], baseline: readonly Figures[] = []): string {
  const rows = measured.map((figures) => {
    const before = baseline.find((other) => isSameRun(other, figures));
    return columns.map(([, of], index) => cell(of(figures), index > 2 && before ? of(before) : undefined));
  });
  return lines([columns.map(([heading]) => heading), ...rows]);
}

function cell(value: number | string | undefined, before: number | string | undefined): string {
  if (value === undefined) return "";
  return before === undefined ? text(value) : `${text(value)} (${text(before)})`;
}

export function text(value: number | string): string {
  if (typeof value === "string") return value;
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toFixed(2);
}

/** Each figure as a multiple of that of the peer. Empty if it was not measured. */
export function ratioTable(measured: readonly Figures[]): string {
  const rows = measured.flatMap((figures) => {
    const peer = peerOf(measured, figures);
    if (!peer) return [];
    const cells = columns.map(([, of], index) => {
      const [ours, theirs] = [of(figures), of(peer)];
      if (index <= 2) return String(ours);
      return typeof ours === "number" && typeof theirs === "number" && theirs > 0 ? text(ours / theirs) : "";
    });
    return [cells];
  });
  return rows.length > 0 ? lines([columns.map(([heading]) => heading), ...rows]) : "";
}

/** How long these take says nothing. */
const hasFixedTime: ReadonlySet<Phase> = new Set(["resync", "trickle", "drift"]);

/** What the picture shows of each phase, where it was measured. */
const drawn: readonly [name: string, of: (figures: Figures) => number | undefined][] = [
  ["wall time", ({ phase, wallSeconds }) => (hasFixedTime.has(phase) ? undefined : wallSeconds)],
  ["median time", ({ p50 }) => p50],
  ["CPU", ({ operatorCPU }) => operatorCPU],
  ["API server's CPU", ({ apiServerCPU }) => apiServerCPU],
  ["memory", ({ peakRSS }) => peakRSS],
  ["requests", ({ requests }) => requests],
];

/** One step of a bar, as a share of the peer's figure, and how many there are at most. */
const STEP = 0.1;
const MOST_STEPS = 40;

/** The figures as bars, in multiples of those of the peer. Empty if it was not measured. */
export function ratioBars(measured: readonly Figures[]): string {
  const rows = measured.flatMap((figures) => {
    const peer = peerOf(measured, figures);
    const { phase, latencyMs } = figures;
    const ratios = drawn.flatMap(([name, of]): [string, number][] => {
      const [ours, theirs] = [of(figures), peer && of(peer)];
      // what both spend next to nothing on has no ratio that means anything
      return ours !== undefined && theirs !== undefined && theirs >= LEAST ? [[name, ours / theirs]] : [];
    });
    return ratios.map(([name, ratio], index) => [
      index === 0 ? `${phase}, ${latencyMs} ms` : "",
      name,
      text(ratio),
      barOf(ratio),
    ]);
  });
  return rows.length > 0 ? lines([["", "", "×", "the peer is 1.00"], ...rows]) : "";
}

const LEAST = 0.2;

function barOf(ratio: number): string {
  const steps = Math.round(ratio / STEP);
  if (steps === 0) return "▏";
  return steps > MOST_STEPS ? `${"█".repeat(MOST_STEPS)}…` : "█".repeat(steps);
}

/** The figures that only some phases have. */
export function details(measured: readonly Figures[]): string {
  return measured
    .filter(({ more }) => more)
    .map(({ phase, latencyMs, peer, more = {} }) => {
      const parts = Object.entries(more).map(([name, value]) => `${name} ${text(value)}`);
      return `${phase}${peer ? " (peer)" : ""} at ${latencyMs} ms: ${parts.join(", ")}`;
    })
    .join("\n");
}

/** Empty if nothing was judged. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  if (verdicts.length === 0) return "";
  return lines([
    ["", "phase", "latency ms", "", "found", "at most"],
    ...verdicts.map(({ target, latencyMs, value, kept }) => [
      kept ? "kept" : "MISSED",
      target.phase,
      String(latencyMs),
      target.text,
      text(value),
      text(target.atMost),
    ]),
  ]);
}

export function lines(rows: readonly string[][]): string {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((part, index) => part.padEnd(widths[index] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

import type { Series } from "../prometheus/prometheus.ts";

/** A line with its name in the legend. */
export interface Line {
  readonly name: string;
  readonly values: Series["values"];
}

export interface Chart {
  readonly title: string;
  readonly unit: string;
  /** Lines are drawn as areas on top of each other. */
  readonly stacked: boolean;
  readonly lines: readonly Line[];
  /** Seconds since 1970. */
  readonly from: number;
  readonly to: number;
  /** The time between two values of a line. */
  readonly stepSeconds: number;
}

const WIDTH = 400;
const HEIGHT = 250;
const PLOT = { left: 46, top: 30, right: 392, bottom: 172 };
/** A legend with more lines than this would cover the plot. */
const LEGEND_LINES = 6;
const COLOURS = ["#3274d9", "#e0752d", "#56a64b", "#b877d9", "#e02f44", "#c9a400", "#3aa6a6", "#8f6b4a", "#7f7f7f"];

/** The chart as an SVG element. */
export function svgOf(chart: Chart): string {
  const shown = chart.lines.filter(({ values }) => values.some(([, value]) => Number.isFinite(value)));
  const levels = chart.stacked
    ? stack(shown, chart)
    : shown.map(({ values }) => values.map(([at, top]) => ({ at, base: 0, top })));
  const numbers = levels
    .flat()
    .map(({ top }) => top)
    .filter(Number.isFinite);
  const highest = niceCeiling(Math.max(...numbers, 0));
  const lowest = Math.min(...numbers, 0);
  const x = (at: number) => PLOT.left + ((at - chart.from) / (chart.to - chart.from)) * (PLOT.right - PLOT.left);
  const y = (value: number) => PLOT.bottom - ((value - lowest) / (highest - lowest)) * (PLOT.bottom - PLOT.top);
  const colour = (index: number) => COLOURS[index % COLOURS.length] as string;
  const parts = [
    `<text x="8" y="18" class="title">${escaped(chart.title)}</text>`,
    ...[0, 0.25, 0.5, 0.75, 1].map((share) => {
      const value = lowest + share * (highest - lowest);
      const at = y(value).toFixed(1);
      return `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${at}" y2="${at}" class="grid"/><text x="${PLOT.left - 5}" y="${Number(at) + 3}" class="tick" text-anchor="end">${numberIn(value, chart.unit)}</text>`;
    }),
    ...levels.map((points, index) => drawn(points, { x, y, colour: colour(index), filled: chart.stacked })),
    ...shown.slice(0, LEGEND_LINES).map(({ name }, index) => {
      const top = PLOT.bottom + 16 + index * 10.5;
      return `<rect x="${PLOT.left}" y="${top - 7}" width="8" height="8" fill="${colour(index)}"/><text x="${PLOT.left + 12}" y="${top}" class="legend">${escaped(name)}</text>`;
    }),
  ];
  if (shown.length > LEGEND_LINES) {
    parts.push(
      `<text x="${PLOT.right}" y="${PLOT.bottom + 16}" class="legend" text-anchor="end">and ${shown.length - LEGEND_LINES} more</text>`,
    );
  }
  if (shown.length === 0) parts.push(`<text x="${WIDTH / 2}" y="100" class="legend" text-anchor="middle">none</text>`);
  return `<svg width="${WIDTH}" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}">${parts.join("")}</svg>`;
}

interface Point {
  readonly at: number;
  readonly base: number;
  readonly top: number;
}

/** Each line begins where the one before it ends. A line without a value at some time counts as 0 there. */
function stack(lines: readonly Line[], { from, to, stepSeconds }: Chart): Point[][] {
  const steps = Array.from({ length: Math.floor((to - from) / stepSeconds) + 1 }, (_, step) => step);
  const heights = steps.map(() => 0);
  return lines.map(({ values }) => {
    const given = new Map(values.map(([at, value]) => [Math.round((at - from) / stepSeconds), value]));
    return steps.map((step) => {
      const base = heights[step] ?? 0;
      const value = given.get(step) ?? 0;
      const top = base + (Number.isFinite(value) ? value : 0);
      heights[step] = top;
      return { at: from + step * stepSeconds, base, top };
    });
  });
}

interface Drawing {
  readonly x: (at: number) => number;
  readonly y: (value: number) => number;
  readonly colour: string;
  readonly filled: boolean;
}

function drawn(points: readonly Point[], { x, y, colour, filled }: Drawing): string {
  const place = (at: number, value: number) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`;
  const known = points.filter(({ top }) => Number.isFinite(top));
  const tops = known.map(({ at, top }) => place(at, top));
  const line = `<polyline points="${tops.join(" ")}" fill="none" stroke="${colour}" stroke-width="1.4"/>`;
  if (!filled) return line;
  const bases = known.map(({ at, base }) => place(at, base)).reverse();
  return `<polygon points="${[...tops, ...bases].join(" ")}" fill="${colour}" fill-opacity="0.3"/>${line}`;
}

/** The next number of the form 1, 2 or 5 times a power of ten. 1 for 0. */
export function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * ([1, 2, 5, 10].find((step) => step * power >= value) ?? 10);
}

/** As an axis shows it: `2.5 s`, `30 d`, `120 MB`. */
export function numberIn(value: number, unit: string): string {
  const sign = value < 0 ? "-" : "";
  const size = Math.abs(value);
  const steps = SCALES[unit] ?? SCALES["short"] ?? [];
  const [factor, suffix] = steps.find(([least]) => size >= least) ?? [1, steps.at(-1)?.[1] ?? ""];
  return `${sign}${Number((size / factor).toPrecision(3))}${suffix}`;
}

/** From which number on a unit is used. The last one is that of the value itself. */
const SCALES: Readonly<Record<string, readonly (readonly [number, string])[]>> = {
  s: [
    [86_400, " d"],
    [3600, " h"],
    [60, " min"],
    [1, " s"],
    [0.001, " ms"],
    [1, " s"],
  ],
  bytes: [
    [1e9, " GB"],
    [1e6, " MB"],
    [1e3, " kB"],
    [1, ""],
  ],
  reqps: [[1, "/s"]],
  ops: [[1, "/s"]],
  short: [
    [1e6, "M"],
    [1e3, "k"],
    [1, ""],
  ],
};

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

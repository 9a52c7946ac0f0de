import { counted } from "../../../schema/nouns.ts";
import { type Sample, SPAN_MS } from "../reading/samples.ts";
import { type Html, html } from "./html.ts";

const WIDTH = 300;
const HEIGHT = 48;

interface Look {
  now: number;
  /** The budget of a minute. */
  limit: number | undefined;
  /** What happened, at times of ISO 8601. */
  marks?: readonly { at: string; title: string }[];
}

/** How far back a plot goes, in milliseconds: to the first sample, and at least one minute. */
export const spanOf = (samples: readonly Sample[], now: number): number =>
  Math.min(SPAN_MS, Math.max(60_000, now - (samples[0]?.at ?? now)));

/** Requests of the last minutes as a line, and the budget as another. Nothing until there are two samples. */
export function plotOf(samples: readonly Sample[], { now, limit, marks = [] }: Look): Html {
  if (samples.length < 2) return html`<p class="plot none">Requests are drawn here from now on.</p>`;
  const highest = Math.max(1, ...samples.map(({ requests }) => requests)) * 1.15;
  const span = spanOf(samples, now);
  const x = (at: number) => (WIDTH * (1 - (now - at) / span)).toFixed(1);
  const y = (value: number) => (HEIGHT - 2 - (value / highest) * (HEIGHT - 6)).toFixed(1);
  const points = samples.map(({ at, requests }) => `${x(at)},${y(requests)}`).join(" ");
  const label = `Requests within a minute, over the last ${counted(Math.ceil(span / 60_000), "minute")}: now ${samples.at(-1)?.requests}, most ${Math.max(
    ...samples.map(({ requests }) => requests),
  )}`;
  return html`<svg class="plot" preserveAspectRatio="none" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${label}">
<title>${label}</title>
<line class="axis" x1="0" x2="${WIDTH}" y1="${HEIGHT - 1}" y2="${HEIGHT - 1}"/>
${marks.map(({ at, title }) => now - Date.parse(at) < span && html`<line class="mark" x1="${x(Date.parse(at))}" x2="${x(Date.parse(at))}" y1="2" y2="${HEIGHT - 2}"><title>${title}</title></line>`)}
${limit && limit < highest && html`<line class="limit" x1="0" x2="${WIDTH}" y1="${y(limit)}" y2="${y(limit)}"/>`}
<polyline points="${points}"/></svg>`;
}

const DAY_MS = 86_400_000;
const SHOWN_DAYS = 90;
const LANE = 18;
/** Most lines of a picture that people take in. */
const MOST_ENDS = 40;

/** One mark for each end within 90 days, on a line of days, those that end first. Says how many more there are. */
export function endsPlot(ends: readonly { title: string; until: string }[], now: number): Html {
  const within = ends.filter(({ until }) => Date.parse(until) - now < SHOWN_DAYS * DAY_MS);
  const shown = within.slice(0, MOST_ENDS);
  const more = within.length - shown.length;
  if (shown.length === 0) return html`<p class="empty">Nothing ends within 90 days.</p>`;
  const [width, left] = [720, 190];
  const x = (days: number) => left + (Math.max(0, Math.min(days, SHOWN_DAYS)) / SHOWN_DAYS) * (width - left - 10);
  const bottom = shown.length * LANE + 8;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="Ends over the next 90 days, drawn"><svg class="ends" width="${width}" height="${bottom + 22}" viewBox="0 0 ${width} ${bottom + 22}" role="img" aria-label="Ends over the next 90 days: the table says the same">
${[0, 30, 60, 90].map((day) => html`<line class="axis" x1="${x(day)}" x2="${x(day)}" y1="0" y2="${bottom}"/><text x="${x(day)}" y="${bottom + 15}" text-anchor="${day === 90 ? "end" : "middle"}">${day === 0 ? "now" : `${day} days`}</text>`)}
${shown.map(({ title, until }, index) => {
  const days = (Date.parse(until) - now) / DAY_MS;
  const y = index * LANE + 10;
  return html`<g class="${days < 0 ? "past" : days < 30 ? "soon" : "later"}"><text x="${left - 10}" y="${y + 4}" text-anchor="end">${short(title)}</text><line x1="${x(0)}" x2="${x(days)}" y1="${y}" y2="${y}"/><circle cx="${x(days)}" cy="${y}" r="5"/></g>`;
})}</svg></div>${more > 0 && html`<p>And ${more} more within 90 days, which end after these: the table has all.</p>`}`;
}

const LONGEST = 26;

const short = (title: string): string => (title.length > LONGEST ? `${title.slice(0, LONGEST - 1)}…` : title);

import { svgOf } from "./chart.ts";
import type { Row } from "./dashboard.ts";

export const WIDTH_OF_A_PAGE = 1250;
export const HEIGHT_OF_A_LINE = 260;

const style = `
body { margin: 0; padding: 8px 12px; background: #fff; font-family: sans-serif; }
h1 { margin: 0 0 6px; font-size: 17px; }
div { display: flex; flex-wrap: wrap; gap: 8px; }
svg { border: 1px solid #ddd; border-radius: 3px; }
.title { font-size: 12px; font-weight: bold; }
.tick, .legend { font-size: 9px; fill: #444; }
.grid { stroke: #eee; }`;

/** An HTML page with the charts of a row of the dashboard. */
export const pageOf = ({ title, charts }: Row): string =>
  `<!doctype html><meta charset="utf-8"><style>${style}</style><h1>${title}</h1><div>${charts.map(svgOf).join("")}</div>`;

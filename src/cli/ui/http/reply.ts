import type { Html } from "../view/html.ts";

/** An answer, before the headers that all answers have. */
export interface Reply {
  status: number;
  type: string;
  body: string;
}

export const page = (body: Html, status = 200): Reply => ({
  status,
  type: "text/html; charset=utf-8",
  body: `<!doctype html>${body.text}`,
});

export const text = (line: string, status: number): Reply => ({
  status,
  type: "text/plain; charset=utf-8",
  body: `${line}\n`,
});

/** Nothing is loaded from elsewhere, nothing in a page runs that is not a file of this server, and no page frames it. */
export const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  // with no-referrer, a browser would send a form of this page from the Origin "null"
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "cache-control": "no-store",
};

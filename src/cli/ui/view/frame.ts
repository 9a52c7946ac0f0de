import { ageOf } from "../../terminal/age.ts";
import type { View } from "../reading/view.ts";
import { type Html, html, type Part } from "./html.ts";

/** The pages, in the order in which they are looked at. */
const pages = [
  ["/", "Overview"],
  ["/topology", "Topology"],
  ["/drift", "Drift"],
  ["/activity", "Activity"],
  ["/certificates", "Certificates"],
  ["/unmanaged", "Unmanaged"],
  ["/plan", "Plan"],
] as const;

interface Frame {
  title: string;
  /** Where this page is. */
  path: string;
  body: Part;
  /** Unset: nothing could be read. */
  view?: Pick<View, "problems" | "account" | "now"> | undefined;
}

/** A whole page. */
export const frame = ({ title, path, body, view }: Frame): Html => html`<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · tunnel gateway</title>
<link rel="stylesheet" href="/style.css">
<script src="/page.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header>
<span class="brand">tunnel gateway</span>
<nav aria-label="Pages">${pages.map(([to, name]) => html`<a href="${to}"${to === path && CURRENT}>${name}</a>`)}</nav>
</header>
<p id="lost" role="status" hidden><span>The server does not answer. Is <code>kubectl tunnelgateway ui</code> still running?</span><span hidden>The command has been started again: open the address that it has printed.</span> This page shows what it had last, and comes back by itself.</p>
<main id="main" tabindex="-1">
<div class="title"><h1>${title}</h1>${view && readAt(view)}</div>
${view && partial(view.problems)}
${body}
</main>
<footer>Read-only. Text as it stands in the account and the cluster; characters that are not seen are written out.</footer>
</body>
</html>`;

const CURRENT = html` aria-current="page"`;

const readAt = ({ account, now }: Pick<View, "account" | "now">): Html =>
  html`<p class="read" id="read" data-live>${
    account.found ? `Account read ${ageOf(new Date(account.at).toISOString(), now)} ago` : "Account not read"
  } <a href="?read=now" class="again">Read again</a></p>`;

const partial = (problems: readonly string[]): Html =>
  html`<div id="partial" data-live>${
    problems.length > 0 &&
    html`<div class="partial" role="alert"><strong>This is only a part:</strong><ul>${problems.map((one) => html`<li>${one}</li>`)}</ul></div>`
  }</div>`;

import { ageOf } from "../../terminal/age.ts";
import { printed } from "../../terminal/line.ts";
import { shellWord } from "../../terminal/shell.ts";
import { type Html, html, link, type Part } from "./html.ts";

const DOCS = "https://tunnelgateway.github.io/tunnel-gateway-operator";

interface About {
  kind: string;
  namespace: string;
  name: string;
}

/** A part of a page. The page replaces it when it has changed. `command` prints the same as text. */
export const section = (id: string, title: string, body: Part, command?: string): Html =>
  html`<section id="${id}" aria-labelledby="${id}-title" data-live>
<div class="head"><h2 id="${id}-title">${title}</h2>${command && commandOf(command)}</div>
${body}
</section>`;

/** A command to copy. */
export const commandOf = (command: string): Html =>
  html`<code class="command" data-copy>${`kubectl tunnelgateway ${command}`}</code>`;

export const empty = (words: string): Html => html`<p class="empty">${words}</p>`;

/** An account without a name is that of the operator's own credentials. */
export const accountTitle = ({ namespace, name }: { namespace: string; name: string }): string =>
  name ? `${namespace}/${name}` : "The operator's own account";

export const nodeLink = (key: string, words: string): Html => html`<a href="${link("/node", { key })}">${words}</a>`;

export const objectLink = ({ kind, namespace, name }: About): Html =>
  nodeLink(`${kind}/${namespace}/${name}`, `${kind}/${name}`);

/** The arguments with which commands name an object. */
export const wordsFor = ({ kind, namespace, name }: About): string =>
  `${kind.toLowerCase()}/${shellWord(name)} -n ${shellWord(namespace)}`;

/** To what the documentation says of it. */
export const reasonLink = (reason: string, words = reason): Html =>
  html`<a class="reason" rel="noreferrer" target="_blank" href="${`${DOCS}/troubleshooting#${reason.toLowerCase()}`}">${words}</a>`;

export const since = (time: string, now: number): Html =>
  html`<time datetime="${time}" title="${time}">${ageOf(time, now) || "not known"}</time>`;

/** A table that can be scrolled by itself where it is wider than the page. */
export const tableOf = (label: string, headings: readonly string[], rows: readonly (readonly Part[])[]): Html =>
  html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table>
<thead><tr>${headings.map((one) => html`<th scope="col">${one}</th>`)}</tr></thead>
<tbody>${rows.map((cells) => html`<tr>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
</table></div>`;

/** Lines as a command prints them. */
export const linesOf = (label: string, lines: Parameters<typeof printed>[0]): Html => {
  const all = printed(lines, false).split("\n");
  return html`<pre tabindex="0" role="group" aria-label="${label}" data-copy>${all.map((line, index) => [index > 0 && NEWLINE, line])}</pre>`;
};

const NEWLINE = html`
`;

import type { ComparedField } from "../../../plan/comparison.ts";
import type { ComparedObject } from "../../diff/render.ts";
import { valueText } from "../../terminal/field-lines.ts";
import { type Html, html, type Part } from "./html.ts";
import { tableOf } from "./parts.ts";

const words: Record<ComparedField["state"], string> = {
  differs: "differs",
  unmanaged: "the spec does not say",
  hidden: "from a Secret, not shown",
};

/** An object beside its remote. `isAll`: also what the spec does not say. */
export function fieldsTable({ kind, name, fields, inAccount }: ComparedObject, isAll: boolean): Html {
  if (!inAccount) return html`<p>It has no remote in the account.</p>`;
  const shown = isAll ? fields : fields.filter(({ state }) => state === "differs");
  if (shown.length === 0) return html`<p class="empty">The account is as the spec says.</p>`;
  const rows = shown.map((field): Part[] => [
    html`<code>${field.path}</code>`,
    field.secret ? "(secret)" : field.spec === undefined ? "–" : html`<code>${valueText(field.spec)}</code>`,
    field.secret ? "(secret)" : field.account === undefined ? "–" : html`<code>${valueText(field.account)}</code>`,
    html`<span class="field ${field.state}">${words[field.state]}${field.immutable && ", cannot be changed in place"}</span>`,
  ]);
  return tableOf(`Fields of ${kind}/${name}`, ["Field", "Spec", "Account", "State"], rows);
}

import { GROUP } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";

/**
 * Writes the Argo CD actions of all kinds into the text of its ConfigMap: the first kind, which is written by hand, has
 * them under an anchor, and each other kind is an alias of it.
 */
export function withActions(text: string, kinds: readonly Pick<Kind, "kind">[]): string {
  const keys = kinds.map(({ kind }) => `resource.customizations.actions.${GROUP}_${kind}`);
  const aliases = keys.filter((key) => !text.includes(`${key}: &actions`)).map((key) => `  ${key}: *actions\n`);
  const block = /(?: {2}\S+: \*actions\n)+/;
  if (!block.test(text)) throw new Error("the ConfigMap of Argo CD has no place for the actions of kinds");
  return text.replace(block, aliases.join(""));
}

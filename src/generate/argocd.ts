import { GROUP } from "../schema/contract.ts";
import type { Kind } from "../schema/define.ts";

/**
 * Writes the Argo CD actions of all kinds into the text of its ConfigMap. The first kind is written by hand, with its
 * actions under a YAML anchor. Each other kind is an alias of that anchor.
 */
export function withActions(text: string, kinds: readonly Pick<Kind, "kind">[]): string {
  const keys = kinds.map(({ kind }) => `resource.customizations.actions.${GROUP}_${kind}`);
  const aliases = keys.filter((key) => !text.includes(`${key}: &actions`)).map((key) => `  ${key}: *actions\n`);
  const block = /(?: {2}\S+: \*actions\n)+/;
  if (!block.test(text)) throw new Error("the ConfigMap of Argo CD has no place for the actions of kinds");
  return text.replace(block, aliases.join(""));
}

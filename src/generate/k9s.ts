import { type CustomResource, isMadeByOperator } from "../schema/define.ts";

/** Writes the kinds that people write into the plug-ins of k9s: the first has their list, the others an alias of it. */
export function withScopes(text: string, customResources: readonly CustomResource[]): string {
  const list = /(scopes: &kinds\n)(?: +- \w+\n)+/;
  if (!list.test(text)) throw new Error("the plug-ins of k9s have no place for the list of kinds");
  const plurals = customResources.filter((one) => !isMadeByOperator(one)).map(({ plural }) => plural);
  const lines = plurals.sort().map((plural) => `      - ${plural}\n`);
  return text.replace(list, (_, begin) => begin + lines.join(""));
}

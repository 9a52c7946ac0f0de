import { neededRights } from "../cli/doctor/rights.ts";
import { customResources } from "../kinds/index.ts";

/** The settings of an installation with the defaults of the chart. */
const scope = {
  watchNamespaces: [],
  podNamespace: "any",
  installation: "default",
  leaderElection: true,
  watchSecrets: false,
  secretWriteNamespaces: undefined,
};

/** Writes the numbers that `doctor` prints into its output on a page. */
export function withCounts(page: string): string {
  const counts: [RegExp, number][] = [
    [/(?<=^ok +definitions: )\d+(?= kinds of )/gm, customResources.length],
    [/(?<=^ok +rights: all )\d+(?= are granted$)/gm, neededRights(scope).length],
  ];
  return counts.reduce((text, [pattern, count]) => {
    if (text.search(pattern) < 0) throw new Error(`the page lacks ${pattern}`);
    return text.replace(pattern, String(count));
  }, page);
}

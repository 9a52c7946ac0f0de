import type { Way } from "../reconcile/decide/check.ts";
import { mayCreate } from "../reconcile/decide/may-create.ts";
import { mayDelete, waysToDelete } from "../reconcile/decide/may-delete.ts";
import { mayTake, waysToTake } from "../reconcile/decide/may-take.ts";

const PART = /(<!-- checks: written by npm run generate -->\n)[\s\S]*(<!-- end of checks -->)/;

interface Named {
  name: string;
  why: string;
}

/** The page of checks, with the three lists as the program has them. */
export function withChecks(page: string): string {
  if (!PART.test(page)) throw new Error("docs/architecture/checks.md has no place for the lists of checks");
  const lists = [
    `## mayDelete\n\n${tableOf(mayDelete)}\n\n${waysOf(waysToDelete)}`,
    `## mayTake\n\n${tableOf(mayTake)}\n\n${waysOf(waysToTake)}`,
    `## mayCreate\n\n${tableOf(mayCreate)}\n\nNo way to create leaves one out.`,
  ];
  return page.replace(PART, (_, begin, end) => `${begin}\n${lists.join("\n\n")}\n\n${end}`);
}

const tableOf = (checks: readonly Named[]): string =>
  [
    "| | Check | Why |",
    "|---|---|---|",
    ...checks.map(({ name, why }, at) => `| ${at + 1} | \`${name}\` | ${why} |`),
  ].join("\n");

/** One row for each reason to leave something out. */
function waysOf(ways: Readonly<Record<string, Way<string>>>): string {
  const rows = Object.entries(ways).flatMap(([name, { when, leavesOut = {} }]) => {
    const reasons = [...new Set(Object.values(leavesOut))].filter((reason) => reason !== undefined);
    const checks = (reason: string) => Object.keys(leavesOut).filter((check) => leavesOut[check] === reason);
    const parts = reasons.map((reason) => `${checks(reason).map(coded).join(", ")}: ${reason}`);
    return `| ${coded(name)} | ${when} | ${parts.join("<br>") || "nothing"} |`;
  });
  return ["| Way | When | Leaves out |", "|---|---|---|", ...rows].join("\n");
}

const coded = (name: string): string => `\`${name}\``;

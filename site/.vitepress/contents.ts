import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The root of the repository. Paths of pages are relative to it. */
export const root = join(import.meta.dirname, "../..");

export interface Part {
  readonly title: string;
  /** Files, or patterns for all files of a folder, in the order in which somebody reads them. */
  readonly pages: readonly string[];
  /** Folders whose first page stands for all until somebody unfolds it. */
  readonly folded?: readonly string[];
}

/** The site from its first page to its last. Titles of pages are their headings. */
export const parts: readonly Part[] = [
  {
    title: "Start",
    pages: [
      ...["docs/README.md", "docs/tutorial.md", "docs/first-steps.md", "docs/plugin.md", "docs/look.md"],
      "docs/screens.md",
    ],
  },
  {
    title: "How to",
    pages: [
      ...["docs/how-to/recipes.md", "docs/how-to/rotate-a-key.md"],
      ...["docs/how-to/tools.md", "docs/how-to/import.md", "docs/how-to/terraform.md", "docs/how-to/plan.md"],
      ...["docs/how-to/orphans.md", "docs/how-to/move.md", "docs/how-to/external-dns.md"],
      ...["docs/how-to/cert-manager.md", "docs/sessions.md"],
    ],
  },
  {
    title: "Concepts",
    pages: [
      "docs/promises.md",
      ...["docs/concepts/README.md", "docs/concepts/objects-and-remotes.md", "docs/concepts/ownership.md"],
      ...["docs/concepts/references.md", "docs/concepts/conditions.md", "docs/concepts/accounts.md"],
    ],
  },
  {
    title: "Reference",
    pages: ["docs/settings.md", "docs/commands.md", "docs/metrics.md", "docs/gateway-api.md"],
    folded: ["docs/reference"],
  },
  {
    title: "Operations",
    pages: [
      ...["docs/install.md", "docs/upgrade.md", "docs/uninstall.md", "docs/performance.md", "docs/scale.md"],
      ...["docs/alerts.md", "docs/traces.md", "docs/troubleshooting.md", "docs/backup.md", "docs/disaster-recovery.md"],
      "docs/support.md",
    ],
  },
  { title: "Security and tenancy", pages: ["docs/security.md", "docs/tenancy.md", "SECURITY.md"] },
  { title: "Questions and words", pages: ["docs/comparison.md", "docs/faq.md", "docs/glossary.md"] },
  {
    title: "The project",
    pages: ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"],
    folded: ["docs/architecture", "docs/decisions"],
  },
];

const sorted = (pattern: string): string[] => globSync(pattern, { cwd: root }).sort(readmeFirst);

export const pagesIn = (folder: string): string[] => sorted(`${folder}/*.md`);
export const pagesOf = ({ pages }: Part): string[] => pages.flatMap(sorted);

export const allPages = (): string[] =>
  parts.flatMap((part) => [...pagesOf(part), ...(part.folded ?? []).flatMap(pagesIn)]);

const readmeFirst = (one: string, other: string): number =>
  Number(other.endsWith("README.md")) - Number(one.endsWith("README.md")) || one.localeCompare(other);

/** Everything that reads like a page and is none. */
export function otherFiles(): string[] {
  const pages = new Set(allPages());
  const files = globSync("**/*.md", { cwd: root, exclude: (name) => name === "node_modules" });
  return files.filter((file) => !pages.has(file));
}

/** The file of a page on the site. `docs/` is its root, and the README of a folder is the page of the folder. */
export function addressOf(page: string): string {
  if (!page.startsWith("docs/")) return `project/${page.toLowerCase()}`;
  return page.replace("docs/", "").replace(/README\.md$/, "index.md");
}

export function titleOf(page: string): string {
  const [, heading] = /^# (.+)$/m.exec(readFileSync(join(root, page), "utf8")) ?? [];
  if (!heading) throw new Error(`${page} has no heading`);
  return heading;
}

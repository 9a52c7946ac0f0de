import { existsSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { MarkdownOptions } from "vitepress";
import { addressOf, root } from "./contents.ts";

type MarkdownIt = Parameters<NonNullable<MarkdownOptions["config"]>>[0];

/**
 * Turns the links of a file in the repository into those of the site. A link to a page leads to the page, a link to any
 * other file to the repository.
 */
export function rewriteLinks(markdown: MarkdownIt, pages: ReadonlySet<string>, repository: string): void {
  const next = markdown.renderer.rules.link_open;
  if (!next) throw new Error("VitePress renders links in another way than before");
  markdown.renderer.rules.link_open = (tokens, index, options, env, self) => {
    const link = tokens[index];
    const target = String(link?.attrGet("href"));
    if (!/^([a-z]+:|#)/.test(target)) {
      link?.attrSet("href", linkFrom(relative(root, env.realPath ?? env.path), target, pages, repository));
    }
    return next(tokens, index, options, env, self);
  };
}

function linkFrom(page: string, target: string, pages: ReadonlySet<string>, repository: string): string {
  const [path = "", anchor] = target.split("#");
  const file = join(dirname(page), path);
  if (!existsSync(join(root, file))) throw new Error(`${page} links to ${target}, which is not there`);
  const readme = join(file, "README.md");
  const hash = anchor === undefined ? "" : `#${anchor}`;
  for (const candidate of [file, readme]) {
    if (pages.has(candidate)) return `/${addressOf(candidate)}${hash}`;
  }
  return `${repository}/${file}${hash}`;
}

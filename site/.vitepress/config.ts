import { defineConfig, type Plugin } from "vitepress";
import { anchorOf } from "./anchor.ts";
import { markCommands } from "./commands.ts";
import { addressOf, allPages, otherFiles, pagesIn, pagesOf, parts, root, titleOf } from "./contents.ts";
import { rewriteLinks } from "./links.ts";
import { searchOptions } from "./search.ts";

const pages = allPages();
const entryOf = (page: string) => ({ text: titleOf(page), link: `/${addressOf(page)}` });

// the release workflow sets them to its repository and tag
const repository = process.env["SITE_REPOSITORY"] ?? "https://github.com/tunnelgateway/tunnel-gateway-operator";
const revision = process.env["SITE_REVISION"] ?? "main";

/** Without JavaScript nothing opens the menu of a small window, so it stands below the page. Nothing searches, either. */
const withoutScripts = `<style>
.VPNavBarSearch, .VPNavBarHamburger, .VPNavBarAppearance, .VPNavBarExtra, .VPLocalNav, button.copy { display: none !important }
.VPSidebarItem.collapsed > .items { display: block !important }
@media (max-width: 959px) {
  .VPSidebar { position: static !important; order: 1; width: 100% !important; max-width: none !important;
    transform: none !important; opacity: 1 !important; visibility: visible !important; box-shadow: none !important }
  .VPFooter { order: 2 }
}
</style>`;

/**
 * Pages become programs that import Vue. They are outside of this folder, so its packages would not be found. What
 * renders them at build time is run from this folder, and takes Vue as it is.
 */
function packagesOfThisFolder(): Plugin {
  return {
    name: "packages-of-this-folder",
    enforce: "pre",
    resolveId(source, importer, { ssr }) {
      if (!/^vue($|\/)/.test(source)) return null;
      if (ssr) return { id: source, external: true };
      return importer?.endsWith(".md") ? this.resolve(source, import.meta.filename, { skipSelf: true }) : null;
    },
  };
}

export default defineConfig({
  title: "Tunnel Gateway Operator",
  description: "Manages a tunnel gateway account through custom resources of Kubernetes",
  lang: "en",
  base: process.env["SITE_BASE"] ?? "/",
  // the pages are where they are read on GitHub, too
  srcDir: root,
  srcExclude: otherFiles(),
  rewrites: Object.fromEntries(pages.map((page) => [page, addressOf(page)])),
  vite: { plugins: [packagesOfThisFolder()] },
  head: [["noscript", {}, withoutScripts]],
  markdown: {
    anchor: { slugify: anchorOf },
    codeTransformers: [markCommands()],
    config: (markdown) => rewriteLinks(markdown, new Set(pages), `${repository}/blob/${revision}`),
  },
  themeConfig: {
    sidebar: parts.map((part) => ({
      text: part.title,
      items: [
        ...(part.folded ?? []).map(pagesIn).map(([first = "", ...rest]) => ({
          ...entryOf(first),
          collapsed: true,
          items: rest.map(entryOf),
        })),
        ...pagesOf(part).map(entryOf),
      ],
    })),
    // fields of fields are on the fourth level
    outline: [2, 4],
    search: { provider: "local", options: { miniSearch: { searchOptions } } },
    notFound: {
      title: "There is no such page",
      quote: "It may have another name now. The search above finds pages, fields, commands and reasons.",
      linkText: "To the first page",
    },
    socialLinks: [{ icon: "github", link: repository }],
  },
});

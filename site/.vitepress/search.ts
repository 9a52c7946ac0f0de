/**
 * How much a section counts in the search: pages for users come first. It runs in the browser, where it is all that there
 * is of this file.
 */
function boostDocument(id: string): number {
  if (/\/(architecture|decisions|project)\//.test(id)) return 0.2;
  if (/\/(gateway-api|performance|glossary)\b/.test(id)) return 0.3;
  if (/\/(how-to|concepts)\/|\/(plugin|tenancy|tutorial|install|sessions)\b/.test(id)) return 2;
  return 1;
}

/** What VitePress has by default, and the above. */
export const searchOptions = { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 }, boostDocument };

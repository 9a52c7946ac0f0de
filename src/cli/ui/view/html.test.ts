import { expect, test } from "vitest";
import { html, link, type Part } from "./html.ts";

test.each([
  ["<script>alert(1)</script>", "&#60;script&#62;alert(1)&#60;/script&#62;"],
  [`" onload='x' &amp;`, "&#34; onload=&#39;x&#39; &#38;amp;"],
  ["a\u202eb\u2066c", "a\\u202eb\\u2066c"],
  ["\x1b[2J\0\n", "\\x1b[2J\\x00\\n"],
])("%j is text", (given, shown) => {
  expect(html`<p title="${given}">${given}</p>`.text).toBe(`<p title="${shown}">${shown}</p>`);
});

test("pieces stand in pieces, and nothing stands for what is not there", () => {
  const parts: Part[] = ["<a>", 1, undefined, false, html`<i>${0}</i>`];
  expect(html`<p>${parts}</p>`.text).toBe("<p>&#60;a&#62;1<i>0</i></p>");
});

test("an address has what is given as one value each, and nothing for what is empty", () => {
  expect(link("/node", { key: "A/b&c=d", up: "", from: undefined })).toBe("/node?key=A%2Fb%26c%3Dd");
});

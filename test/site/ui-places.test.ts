import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Browser, chromiumProgram, withoutChromium } from "../../tools/pictures/browser.ts";
import { useFixedServices } from "../fakes/cli/run.ts";
import { paths, serving } from "../fakes/cli/serving.ts";

/**
 * Where the parts of each page are, on a phone, a desk and a wall, in both colours. Pixels are not compared: letters are
 * drawn by the fonts of the machine, which differ. What fonts do not change is kept in the folder `places`: which parts
 * there are, from the top, and their left edges and widths. `vitest -u` writes it anew: look at the difference, and at the
 * page. Heights differ with the fonts, so of these only that nothing covers another part and nothing is cut.
 */
const program = await chromiumProgram();

const PARTS =
  "header, main, main > section, .trio > section, .card, .todo > li, .scroll, .lane, .canvas, form, pre, .partial, footer";

/** A part that is in another one covers it, as it should. */
const READING = `(() => {
  const seen = (one) => one.checkVisibility() && one.getClientRects().length > 0;
  const nameOf = (one) => one.localName + (one.id && "#" + one.id) + (one.className && "." + String(one.className).split(" ")[0]);
  const parts = [...document.querySelectorAll(${JSON.stringify(PARTS)})].filter(seen);
  const boxes = parts.map((one) => ({ one, name: nameOf(one), box: one.getBoundingClientRect() }));
  const places = boxes.map(({ name, box }) => [name, Math.round(box.left), Math.round(box.width)].join(" "));
  const apart = (a, b) => a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 1 || b.bottom <= a.top + 1;
  const covered = boxes.flatMap((a, index) => boxes.slice(index + 1)
    .filter((b) => !a.one.contains(b.one) && !b.one.contains(a.one) && !apart(a.box, b.box))
    .map((b) => a.name + " and " + b.name));
  const moved = ".scroll, .canvas, pre, nav, select";
  const cut = [...document.querySelectorAll("body *")].filter(seen)
    .filter((one) => !one.closest(moved) && !one.closest(".skip, svg"))
    .filter((one) => one.getBoundingClientRect().right > innerWidth + 1 || one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible")
    .map((one) => nameOf(one) + ": " + one.textContent.slice(0, 40));
  return { places, covered, cut, background: getComputedStyle(document.body).backgroundColor };
})()`;

interface Read {
  places: string[];
  covered: string[];
  cut: string[];
  background: string;
}

/** A filter changes nothing of where the parts are. */
const unlike = paths.filter((path) => !path.startsWith("/topology?") && !path.includes("office"));

/** The same part again and again is one line. */
const counted = (places: readonly string[]): string[] =>
  [...Map.groupBy(places, (one) => one)].map(([one, all]) => (all.length > 1 ? `${one} (${all.length})` : one));

describe.skipIf(!program)(`parts of the pages${program ? "" : `, ${withoutChromium}`}`, () => {
  useFixedServices();
  let browser: Browser;

  beforeAll(async () => {
    if (program) browser = await Browser.start(program);
  });
  afterAll(() => browser?.[Symbol.asyncDispose]());

  test.each([390, 1280, 2560])("on %d pixels are where they were, apart from each other, and whole", (width) =>
    serving(async ({ address }) => {
      const read = async (path: string, dark: boolean) => {
        await browser.load(new URL(path, address).href, { width, height: 900, dark, scripts: true });
        return (await browser.evaluate(READING)) as Read;
      };
      await browser.load(address, { width, height: 900, dark: false, scripts: true });
      const kept: string[] = [];
      for (const path of unlike) {
        const [light, dark] = [await read(path, false), await read(path, true)];
        for (const { covered, cut } of [light, dark])
          expect({ path, covered, cut }).toEqual({ path, covered: [], cut: [] });
        expect(dark.background).not.toBe(light.background);
        expect({ path, places: dark.places }).toEqual({ path, places: light.places });
        kept.push(path, ...counted(light.places).map((one) => `  ${one}`));
      }
      await expect(`${kept.join("\n")}\n`).toMatchFileSnapshot(`places/${width}.txt`);
    }),
  );

  test("a part that is too wide, and one that covers another, are found", () =>
    serving(async ({ address }) => {
      const look = { width: 1280, height: 900, dark: false, scripts: true };
      await browser.load(address, look);
      await browser.evaluate("document.querySelector('#health').style.width = '1400px'");
      expect(((await browser.evaluate(READING)) as Read).cut.join()).toContain("section#health");
      await browser.load(new URL("/", address).href, look);
      await browser.evaluate("document.querySelector('#attention').style.marginTop = '-60px'");
      expect(((await browser.evaluate(READING)) as Read).covered).not.toEqual([]);
    }));
});

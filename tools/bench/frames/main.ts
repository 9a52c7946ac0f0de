import { addressOf, newToken } from "../../../src/cli/ui/http/guard.ts";
import { listen } from "../../../src/cli/ui/http/server.ts";
import { Browser, chromiumProgram, withoutChromium } from "../../pictures/browser.ts";
import { defineProgram, runProgram, wholeNumber } from "../../shared/program.ts";
import { lines } from "../table.ts";
import { MOVE, type Moved, movedIn, ZOOM } from "./movement.ts";
import { siteWith } from "./site.ts";

const program = defineProgram({
  command: "node_modules/.bin/node tools/bench/frames/main.ts",
  about: `Moves and zooms a topology of many boxes in Chromium, and counts the frames in its own trace. The same is done with
a few boxes, in turn, so that the ratio holds on a machine that others use.`,
  options: {
    boxes: { value: "n", about: "in one picture", initial: 3000, read: wholeNumber(1) },
    rounds: { value: "n", about: "of each", initial: 3, read: wholeNumber(1) },
  },
});

const FEW = 10;
const LOOK = { width: 1280, height: 900, dark: false, scripts: true };

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

await runProgram(program, async ({ boxes, rounds }) => {
  const found = await chromiumProgram();
  if (!found) throw new Error(withoutChromium);
  await using browser = await Browser.start(found);
  const seen: { what: string; count: number; moved: Moved }[] = [];
  for (let round = 0; round < rounds; round++)
    for (const count of [FEW, boxes]) {
      const token = newToken();
      await using server = await listen(await siteWith(count), { port: 0, token });
      await browser.load(addressOf({ port: server.port, token }), LOOK);
      for (const [what, work] of [
        ["move", MOVE],
        ["zoom", ZOOM],
      ] as const) {
        const events = await browser.trace(async () => void (await browser.evaluate(work)));
        seen.push({ what, count, moved: movedIn(events) });
      }
    }
  const rows = ["move", "zoom"].flatMap((what) => {
    const of = (count: number) => seen.filter((one) => one.what === what && one.count === count);
    const rate = (count: number) => median(of(count).map(({ moved }) => moved.framesPerSecond));
    return [FEW, boxes].map((count) => [
      what,
      String(count),
      rate(count).toFixed(1),
      median(of(count).map(({ moved }) => moved.longestMs)).toFixed(0),
      (rate(count) / rate(FEW)).toFixed(2),
    ]);
  });
  console.log(lines([["", "boxes", "frames/s", "longest ms", "ratio"], ...rows]));
  return 0;
});

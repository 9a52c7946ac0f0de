import { expect, test } from "vitest";
import { useFixedServices } from "../testing/run.ts";
import { status } from "./status.ts";

const { failing } = useFixedServices();

class Ended extends Error {}

/** What is printed in so many rounds. Before each pause `between` is called with the number of the round. */
async function watched(rounds: number, between: (round: number) => void): Promise<{ out: string[]; err: string[] }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = { say: (text: string) => void out.push(text), warn: (text: string) => void err.push(text) };
  let round = 0;
  const pause = async () => {
    round += 1;
    if (round === rounds) throw new Ended();
    between(round);
  };
  await expect(status({ watch: true }, { ...terminal, columns: 80 }, pause)).rejects.toThrow(Ended);
  return { out, err };
}

test("a watched screen is drawn again, also when the cluster was away", async () => {
  let isAway = false;
  failing(({ path }) => (isAway && path.startsWith("/apis/") ? { status: 503, body: "away" } : undefined));
  const { out, err } = await watched(3, (round) => {
    isAway = round === 1;
  });
  expect(out).toHaveLength(2);
  expect(out[1]).toBe(out[0]);
  expect(out[0]?.startsWith("\x1b[H\x1b[2JOperators\n")).toBe(true);
  expect(err).toEqual(["The cluster answers with status 503: away"]);
});

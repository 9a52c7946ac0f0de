import { expect, test } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { terminalOn } from "../terminal/terminal.ts";
import { status } from "./status.ts";

const { failing } = useFixedServices();

class Ended extends Error {}

/** What is printed in so many rounds. Before each pause `between` is called with the number of the round. */
async function watched(rounds: number, between: (round: number) => void): Promise<{ out: string[]; err: string[] }> {
  const [out, err]: [string[], string[]] = [[], []];
  const terminal = {
    ...terminalOn({ out: (text) => out.push(text), err: (text) => err.push(text) }),
    clear: () => void out.push("cleared"),
  };
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
  expect(out).toEqual(["cleared", expect.stringMatching(/^Operators\n/), "cleared", out[1]]);
  expect(err).toEqual(["The cluster answers with status 503: away\n"]);
});

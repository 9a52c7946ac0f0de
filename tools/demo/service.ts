import type { Control } from "../simulator/simulator.ts";
import type { Line } from "./screen/line.ts";

type LoggedRequest = Pick<ReturnType<Control["requests"]>[number], "status">;

/** How the service answers the operator. */
export type Health = "well" | "silent" | "failing" | "throttling" | "refusing";

const texts: Readonly<Record<Health, Line>> = {
  well: [{ text: "answers again", style: "green" }],
  silent: [{ text: "does not answer. What is Ready stays Ready", style: "red" }],
  failing: [{ text: "answers with errors. What is Ready stays Ready", style: "red" }],
  throttling: [{ text: "asks for a pause (429). The operator slows down", style: "yellow" }],
  refusing: [{ text: "refuses the API key. Nothing is sent until it is right", style: "red" }],
};

/** By the last of these requests, oldest first. Without one, it is as it was. */
export const healthAfter = (before: Health, requests: readonly LoggedRequest[]): Health => {
  const last = requests.at(-1);
  return last ? healthOf(last) : before;
};

function healthOf({ status }: LoggedRequest): Health {
  if (status === null) return "silent";
  if (status === 429) return "throttling";
  if (status === 401 || status === 403) return "refusing";
  return status >= 500 ? "failing" : "well";
}

/** A line, if something has changed. */
export const healthChange = (before: Health, after: Health): Line[] =>
  before === after ? [] : [[{ text: "service  ", style: "dim" }, ...texts[after]]];

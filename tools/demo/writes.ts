import type { Control } from "../simulator/simulator.ts";
import type { Line } from "./screen/line.ts";

type LoggedRequest = ReturnType<Control["requests"]>[number];

/** A line for each request that was not a GET, with the names of the members that it sent. Values may be secret. */
export function writes(requests: readonly LoggedRequest[]): Line[] {
  return requests.filter(({ method }) => method !== "GET").map(writeOf);
}

function writeOf({ method, path, status, body }: LoggedRequest): Line {
  const members = body !== null && typeof body === "object" ? Object.keys(body).join(", ") : "";
  return [
    { text: "account  ", style: "dim" },
    { text: `${method} ${path}` },
    { text: members && ` {${members}}`, style: "dim" },
    { text: ` → ${status ?? "no answer"}`, style: status !== null && status < 300 ? "green" : "yellow" },
  ];
}

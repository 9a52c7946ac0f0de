import type { Simulator } from "../../tools/simulator/simulator.ts";
import { Gate, type ProxiedRequest, type Substitute } from "./gate.ts";

/** A gate before two accounts with one address: requests with the key of `second` go there, and all others to `first`. */
export async function gateOfTwo(first: Simulator, second: Simulator): Promise<Gate> {
  const gate = await Gate.before(first.url);
  gate.guard = (request, side) =>
    side === "before" && request.headers.authorization === `Bearer ${second.apiKey}`
      ? forward(request, second, gate)
      : undefined;
  return gate;
}

async function forward(
  { method, path, headers, body }: ProxiedRequest,
  to: Simulator,
  gate: Gate,
): Promise<Substitute> {
  const { host: _, connection: _kept, "content-length": _length, ...more } = headers;
  const init = { method, headers: more as Record<string, string> };
  const answer = await fetch(to.url + path, body ? { ...init, body } : init);
  return { status: answer.status, body: (await answer.text()).replaceAll(to.url, gate.url) };
}

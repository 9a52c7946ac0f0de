import type { IncomingMessage, ServerResponse } from "node:http";
import { readBody } from "../http/exchange.ts";
import type { Control } from "./control.ts";
import { methodNamed } from "./methods.ts";
import { decode, encode } from "./wire.ts";

/**
 * `POST /_control/<method>` with a JSON array of arguments, or GET without any, answers `{result}`;
 * a call that fails answers 400 and `{error}`.
 */
export async function serveControl(
  control: Control,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await readBody(request);
  const name = path.slice("/_control/".length);
  const [status, answer] = call(control, name, body === "" ? "[]" : body);
  response.writeHead(status, { "content-type": "application/json" }).end(encode(answer));
}

function call(control: Control, name: string, body: string): [status: number, answer: unknown] {
  const method = methodNamed(control, name);
  if (!method) return [404, { error: `there is no control ${name}` }];
  try {
    const args = (decode(body) as unknown[]).map((argument) => argument ?? undefined);
    return [200, { result: method(...args) ?? null }];
  } catch (error) {
    return [400, { error: error instanceof Error ? error.message : String(error) }];
  }
}

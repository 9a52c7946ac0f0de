import type { IncomingMessage, ServerResponse } from "node:http";
import type { Answer } from "./route.ts";

/** Rejects when the caller disconnects before the body is complete. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

interface Sendable {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly text: string;
}

function sendable({ status, body, headers }: Answer): Sendable {
  if (body === undefined) return { status, headers: { ...headers }, text: "" };
  return { status, headers: { "content-type": "application/json", ...headers }, text: JSON.stringify(body) };
}

export function send(response: ServerResponse, answer: Answer): void {
  const { status, headers, text } = sendable(answer);
  response.writeHead(status, status === 204 ? headers : { ...headers, "content-length": Buffer.byteLength(text) });
  response.end(status === 204 ? undefined : text);
}

export function sendText(
  response: ServerResponse,
  status: number,
  text: string,
  headers: Record<string, string>,
): void {
  response.writeHead(status, { "content-length": Buffer.byteLength(text), ...headers });
  response.end(text);
}

/** Sends the length of the whole body and half of the body, then destroys the connection. */
export function sendHalf(response: ServerResponse, answer: Answer): void {
  const { status, headers, text } = sendable(answer);
  const body = Buffer.from(text);
  response.writeHead(status, { ...headers, "content-length": Math.max(body.length, 2) });
  response.write(body.subarray(0, Math.ceil(body.length / 2)), () => response.destroy());
}

import { readFile } from "node:fs/promises";
import { request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

export interface Endpoint {
  readonly url: string;
  /** A file with the certificate to trust. It may not exist yet. */
  readonly certificate: string;
  readonly token: string;
}

const POLL_MS = 50;
const REQUEST_MS = 2_000;

/** The status of a GET; undefined when there is no answer. */
export async function probe({ url, certificate, token }: Endpoint, path: string): Promise<number | undefined> {
  const ca = await readFile(certificate).catch(() => undefined);
  if (!ca) return undefined;
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    const get = request(`${url}${path}`, { ca, headers, agent: false, timeout: REQUEST_MS }, (answer) => {
      answer.resume();
      resolve(answer.statusCode);
    });
    get.once("timeout", () => get.destroy());
    get.once("error", () => resolve(undefined));
    get.once("close", () => resolve(undefined));
    get.end();
  });
}

/** Polls until `check` resolves with true. */
export async function until(
  what: string,
  check: () => Promise<boolean>,
  { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!(await check())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come in ${timeoutMs / 1000} s`);
    await sleep(POLL_MS, undefined, { signal });
  }
}

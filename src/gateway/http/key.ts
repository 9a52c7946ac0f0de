import { NO_API_KEY } from "../errors.ts";
import { Unsent } from "./unsent.ts";

/** The API key, or where to get it, asked before each call so that a rotated key is used at once. */
export type Key = string | (() => string | Promise<string>);

/**
 * The key as it goes into the header; white space around it, as files have it, does not count. Throws Unsent when there
 * is none. What the source throws is not kept, for it may quote the key: only its code is, as `ENOENT`.
 */
export async function readKey(key: Key, stop: AbortSignal): Promise<string> {
  const given = typeof key === "string" ? key : await ask(key, stop);
  const text = typeof given === "string" ? given.trim() : "";
  if (text === "") throw new Unsent("the API key is empty", NO_API_KEY);
  if (!/^[\x21-\x7e]+$/.test(text)) throw new Unsent("the API key holds characters that no key has", NO_API_KEY);
  return text;
}

async function ask(key: () => string | Promise<string>, stop: AbortSignal): Promise<string> {
  const { promise: stopped, reject } = Promise.withResolvers<never>();
  const onStop = () => reject(new Unsent(`${stop.reason.message} while waiting for the API key`));
  if (stop.aborted) onStop();
  stop.addEventListener("abort", onStop, { once: true });
  try {
    return await Promise.race([stopped, obtain(key)]);
  } finally {
    stop.removeEventListener("abort", onStop);
  }
}

async function obtain(key: () => string | Promise<string>): Promise<string> {
  try {
    return await key();
  } catch (error) {
    throw new Unsent(`the API key could not be obtained${codeOf(error)}`, NO_API_KEY);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return ` (${String(error.code).replace(/\W/g, "").slice(0, 32)})`;
}

import { NO_API_KEY } from "../errors.ts";
import { Unsent } from "./unsent.ts";

/** The API key, or a function that returns it and is called for each request, so that a new key is used at once. */
export type Key = string | (() => string | Promise<string>);

/** Why a text cannot be sent as an API key; undefined: it can. White space around it is left out when it is sent. */
export function problemOfKey(text: string): string | undefined {
  if (text.trim() === "") return "is empty";
  if (/^[\x21-\x7e]+$/.test(text.trim())) return undefined;
  return "has characters that cannot be sent, such as spaces, line ends, or letters that are not ASCII";
}

const unusable = (problem: string): Unsent => new Unsent(`the API key ${problem}`, NO_API_KEY);

/**
 * The key for the header, without the white space around it that files have. Throws Unsent when there is none. Of an
 * error of the function only the code is kept, such as `ENOENT`: its message may quote the key.
 */
export async function readKey(key: Key, stop: AbortSignal): Promise<string> {
  const given = typeof key === "string" ? key : await ask(key, stop);
  const text = typeof given === "string" ? given.trim() : "";
  const problem = problemOfKey(text);
  if (problem !== undefined) throw unusable(problem);
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
    throw unusable(`could not be read${codeOf(error)}`);
  }
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return "";
  return ` (${String(error.code).replace(/\W/g, "").slice(0, 32)})`;
}

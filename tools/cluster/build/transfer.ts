import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Readable, Transform, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Dispatcher, fetch, type Response } from "undici";
import { megabytes } from "./progress.ts";

export interface TransferOptions {
  readonly dispatcher: Dispatcher;
  readonly signal?: AbortSignal | undefined;
  /** How long a server may take to answer, redirects included. */
  readonly answerMs?: number | undefined;
  /** How long an answer may pause. */
  readonly pauseMs?: number | undefined;
}

const ANSWER_MS = 5000;
const PAUSE_MS = 20_000;
const REDIRECTS = 5;
const TEXT_BYTES = 100_000;
// the largest of the files has a third of this
const FILE_BYTES = 300_000_000;

/** A small text from a server. */
export async function textFrom(url: string, options: TransferOptions): Promise<string> {
  const chunks: Buffer[] = [];
  await transfer(url, options, async (response, { received }) => {
    for await (const chunk of Readable.fromWeb(response.body as never)) {
      received(chunk.length, TEXT_BYTES);
      chunks.push(chunk);
    }
  });
  return Buffer.concat(chunks).toString();
}

export interface FileOptions extends TransferOptions {
  readonly sha256: string;
  readonly onBytes?: ((received: number, expected: number | undefined) => void) | undefined;
  readonly limit?: number | undefined;
  /** Where the bytes go. */
  readonly open?: ((path: string) => Writable) | undefined;
}

const openFile = (path: string): Writable => createWriteStream(path, { flags: "wx", mode: 0o755 });

/** Stores a file from a server. Throws unless it is the one with this checksum. */
export async function fileFrom(url: string, path: string, options: FileOptions): Promise<void> {
  const { sha256, onBytes, limit = FILE_BYTES, open = openFile } = options;
  const hash = createHash("sha256");
  await transfer(url, options, async (response, { received }) => {
    const expected = Number(response.headers.get("content-length")) || undefined;
    if (expected !== undefined && expected > limit) throw new Error(`has ${megabytes(expected)}, which is too large`);
    const measured = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        try {
          onBytes?.(received(chunk.length, limit), expected);
          hash.update(chunk);
          done(null, chunk);
        } catch (error) {
          done(error as Error);
        }
      },
    });
    await pipeline(Readable.fromWeb(response.body as never), measured, open(path));
  });
  if (hash.digest("hex") !== sha256) throw new Error(`${url} is not the file that was published: its SHA-256 differs`);
}

interface Received {
  /** Counts bytes, and returns how many there are. Throws when they are more than the limit. */
  readonly received: (bytes: number, limit: number) => number;
}

async function transfer(
  url: string,
  { dispatcher, signal, answerMs = ANSWER_MS, pauseMs = PAUSE_MS }: TransferOptions,
  work: (response: Response, received: Received) => Promise<void>,
): Promise<void> {
  const late = new AbortController();
  const either = signal ? AbortSignal.any([late.signal, signal]) : late.signal;
  const giveUp = (why: string) => late.abort(new Error(why));
  let timer = setTimeout(giveUp, answerMs, `did not answer within ${answerMs / 1000} s`);
  let total = 0;
  const received = (bytes: number, limit: number) => {
    timer.refresh();
    total += bytes;
    if (total > limit) throw new Error(`has more than ${megabytes(limit)}, which is too much`);
    return total;
  };
  try {
    const response = await follow(url, (address) =>
      fetch(address, {
        dispatcher,
        signal: either,
        redirect: "manual",
        headers: { "accept-encoding": "identity" },
      }),
    );
    clearTimeout(timer);
    timer = setTimeout(giveUp, pauseMs, `sent nothing for ${pauseMs / 1000} s`);
    await work(response, { received });
  } catch (error) {
    signal?.throwIfAborted();
    throw new Error(`${url} ${reasonOf(late.signal.aborted ? late.signal.reason : error, total)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function follow(url: string, get: (url: string) => Promise<Response>): Promise<Response> {
  let address = url;
  for (let redirects = 0; redirects <= REDIRECTS; redirects++) {
    const response = await get(address);
    if (response.status === 200) return response;
    await response.body?.cancel();
    const location = response.status >= 300 && response.status < 400 ? response.headers.get("location") : null;
    if (!location) throw new Error(`answers ${response.status}`);
    if (!URL.canParse(location, address)) throw new Error("redirects to what is no address");
    const { protocol, host, href } = new URL(location, address);
    if (protocol !== "https:") throw new Error(`redirects to ${protocol}//${host}, which is not encrypted`);
    address = href;
  }
  throw new Error(`redirects more than ${REDIRECTS} times`);
}

/** `fetch` says `fetch failed` or `terminated`, and the reason in the cause. */
function reasonOf(error: unknown, received: number): string {
  if (!(error instanceof Error)) return String(error);
  if (error.message === "terminated") return `ended early, after ${megabytes(received)}`;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC") return "does not fit: the disk is full";
  if (error.message === "fetch failed" && error.cause instanceof Error) {
    return `cannot be reached: ${error.cause.message || (error.cause as NodeJS.ErrnoException).code}`;
  }
  return error.message;
}

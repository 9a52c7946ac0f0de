import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

export interface Request {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** Called right before the first byte of the request is written. If it throws, the request is not sent. */
  readonly assertMaySend?: (() => void) | undefined;
  /** Called with the length of the body as the answer tells it, and as it arrives. If it throws, no more is read. */
  readonly onAnswer?: ((bytes: number) => void) | undefined;
  /** The longest wait for the head of the answer, and for each part of its body, in milliseconds. 0: only `stop` ends it. */
  readonly silenceMs?: number | undefined;
}

interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** How far an exchange got. A failure is data here. */
export type Reply =
  | (Head & { readonly got: "answer"; readonly body: string })
  /** A status line came, but not the whole body. `refused`: `onAnswer` did not want it. */
  | (Head & { readonly got: "head"; readonly why: Error; readonly refused: boolean })
  /** No status line came. `sent` is false only when no byte of the request was written. */
  | { readonly got: "nothing"; readonly why: Error; readonly sent: boolean };

const utf8 = new TextDecoder();

/**
 * One HTTP exchange, whose answer is text. `stop` ends it at any time; its reason must be an Error.
 *
 * It uses `dispatch` instead of `request`, since only `dispatch` reports when a request is written to a connection.
 * That decides whether a failed call was surely not carried out. It also takes a third less CPU time. Redirects are not
 * followed, and nothing is retried.
 */
export function send(
  dispatcher: Dispatcher,
  { assertMaySend, onAnswer, silenceMs = 0, ...request }: Request,
  stop: AbortSignal | undefined,
): Promise<Reply> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined;
    let head: Head | undefined;
    let settled = false;
    /** As the header says, or what has arrived if that is more. */
    let length = 0;
    let size = 0;
    const chunks: Buffer[] = [];

    const settle = (reply: Reply) => {
      if (settled) return;
      settled = true;
      stop?.removeEventListener("abort", onStop);
      resolve(reply);
    };
    const fail = (why: Error, refused = false) =>
      settle(head ? { got: "head", ...head, why, refused } : { got: "nothing", why, sent: controller !== undefined });
    const abort = (why: Error, refused = false) => {
      fail(why, refused);
      controller?.abort(why);
    };
    const onStop = () => abort(stop?.reason);
    const measure = (bytes: number) => {
      length = Math.max(length, bytes);
      try {
        onAnswer?.(length);
      } catch (error) {
        abort(error as Error, true);
      }
    };

    if (stop?.aborted) return onStop();
    stop?.addEventListener("abort", onStop, { once: true });

    const options = { ...request, body: request.body ?? null, headersTimeout: silenceMs, bodyTimeout: silenceMs };
    try {
      dispatcher.dispatch(options, {
        // called right before the first byte is written; after an abort here no byte is written
        onRequestStart(given) {
          if (settled) return given.abort(stop?.reason);
          try {
            assertMaySend?.();
          } catch (error) {
            fail(error as Error);
            return given.abort(error as Error);
          }
          controller = given;
        },
        onResponseStart(_, status, headers) {
          if (status < 200) return;
          head = { status, headers };
          measure(Number(headers["content-length"]) || 0);
        },
        onResponseData(_, chunk) {
          if (settled) return;
          size += chunk.length;
          measure(size);
          if (!settled) chunks.push(chunk);
        },
        onResponseEnd() {
          const [whole, ...more] = chunks;
          const bytes = more.length > 0 ? Buffer.concat(chunks) : whole;
          if (head) settle({ got: "answer", ...head, body: utf8.decode(bytes) });
        },
        onResponseError: (_, error) => fail(error),
      });
    } catch (error) {
      fail(error as Error);
    }
  });
}

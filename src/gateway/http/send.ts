import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";

export interface Request {
  readonly origin: string;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  readonly assertMaySend?: (() => void) | undefined;
  readonly onAnswer?: ((bytes: number) => void) | undefined;
}

interface Head {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** How far an exchange got. A failure is data here; `interpret` turns it into an error. */
export type Reply =
  | (Head & { readonly got: "answer"; readonly body: string })
  /** A status line came, but not the whole body. */
  | (Head & { readonly got: "head"; readonly why: Error; readonly tooLarge: boolean })
  /** No status line came. `sent` is false only when no byte of the request was written. */
  | { readonly got: "nothing"; readonly why: Error; readonly sent: boolean };

/** Far more than a page of 100 rows. It protects the memory against a broken or hostile service. */
export const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/**
 * One HTTP exchange. `stop` ends it at any time; its reason must be an Error.
 *
 * It uses `dispatch` instead of `request`, since only `dispatch` reports when a request is written to a connection.
 * That decides whether a failed call was surely not carried out. Redirects are not followed, and nothing is retried.
 */
export function send(
  dispatcher: Dispatcher,
  { assertMaySend, onAnswer, ...request }: Request,
  stop: AbortSignal,
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
      stop.removeEventListener("abort", onStop);
      resolve(reply);
    };
    const fail = (why: Error, tooLarge = false) =>
      settle(head ? { got: "head", ...head, why, tooLarge } : { got: "nothing", why, sent: controller !== undefined });
    const abort = (why: Error, tooLarge = false) => {
      fail(why, tooLarge);
      controller?.abort(why);
    };
    const onStop = () => abort(stop.reason);
    const measure = (bytes: number) => {
      length = Math.max(length, bytes);
      try {
        if (length > MAX_ANSWER_BYTES) throw new Error(`the answer is longer than ${MAX_ANSWER_BYTES} bytes`);
        onAnswer?.(length);
      } catch (error) {
        abort(error as Error, true);
      }
    };

    if (stop.aborted) return onStop();
    stop.addEventListener("abort", onStop, { once: true });

    dispatcher.dispatch(
      { ...request, body: request.body ?? null, headersTimeout: 0, bodyTimeout: 0 },
      {
        // called right before the first byte is written; after an abort here no byte is written
        onRequestStart(given) {
          if (settled) return given.abort(stop.reason);
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
          if (head) settle({ got: "answer", ...head, body: new TextDecoder().decode(Buffer.concat(chunks)) });
        },
        onResponseError: (_, error) => fail(error),
      },
    );
  });
}

import { type DestinationStream, type LoggerOptions, type Logger as Pino, pino } from "pino";
import { faultIn } from "../http/fault.ts";
import { sourceStack } from "./stack.ts";

/** `level`, `ts` and `msg` are keys that every line has already. */
type Fields = Readonly<Record<string, unknown>> & { readonly [key in "level" | "ts" | "msg"]?: never };

/**
 * Messages are constant, values go into the fields. An Error goes into the field `error`. A line has each key once: a
 * child's field replaces the one that its parent has under the same key, and a field of the call replaces both.
 */
export interface Logger {
  debug(fields: Fields, message: string): void;
  info(fields: Fields, message: string): void;
  warn(fields: Fields, message: string): void;
  error(fields: Fields, message: string): void;
  child(bindings: Fields): Logger;
}

export interface LogOptions {
  /** default "info" */
  level?: string;
  /** Paths of fields whose values are never written; pino's `redact`. */
  redact?: LoggerOptions["redact"];
  destination?: DestinationStream;
}

/** One JSON object per line, with the keys that controller-runtime uses: level, ts, msg, error. */
export function createLogger({ level = "info", redact, destination }: LogOptions = {}): Logger {
  const options: LoggerOptions = {
    level,
    base: null,
    messageKey: "msg",
    errorKey: "error",
    timestamp: () => `,"ts":"${new Date().toISOString()}"`,
    formatters: { level: (label) => ({ level: label }), log: withErrorText },
    mixin: (fields, level) => stackOf(fields, pino.levels.labels[level]),
    ...(redact && { redact }),
  };
  const root = pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
  return new PinoLogger(root, root, {});
}

/** pino appends the fields of a child or a call to those it has, so that a key could stand twice in a line. */
class PinoLogger implements Logger {
  readonly #root: Pino;
  readonly #pino: Pino;
  readonly #bound: Fields;

  /** `logger` is the child of `root` that writes the fields `bound` into its lines. */
  constructor(root: Pino, logger: Pino, bound: Fields) {
    this.#root = root;
    this.#pino = logger;
    this.#bound = bound;
  }

  debug(fields: Fields, message: string): void {
    this.#write("debug", fields, message);
  }

  info(fields: Fields, message: string): void {
    this.#write("info", fields, message);
  }

  warn(fields: Fields, message: string): void {
    this.#write("warn", fields, message);
  }

  error(fields: Fields, message: string): void {
    this.#write("error", fields, message);
  }

  child(bindings: Fields): Logger {
    const others = this.#without(bindings);
    const bound = { ...others, ...bindings };
    const child = others === this.#bound ? this.#pino.child(bindings) : this.#root.child(bound);
    return new PinoLogger(this.#root, child, bound);
  }

  #write(level: "debug" | "info" | "warn" | "error", fields: Fields, message: string): void {
    if (!this.#pino.isLevelEnabled(level)) return;
    const others = this.#without(fields);
    const logger = others === this.#bound ? this.#pino : this.#root.child(others);
    logger[level](fields, message);
  }

  /** The bound fields except those under a key of `fields`: the same object when there are none. */
  #without(fields: Fields): Fields {
    if (!Object.keys(fields).some((key) => Object.hasOwn(this.#bound, key))) return this.#bound;
    return Object.fromEntries(Object.entries(this.#bound).filter(([key]) => !Object.hasOwn(fields, key)));
  }
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

// only the text of an error is written: libraries add whole requests to errors, with their credentials
const withErrorText = (fields: Fields): Record<string, unknown> =>
  fields["error"] instanceof Error ? { ...fields, error: textOf(fields["error"]) } : fields;

/**
 * As zap in production, it writes the stack of an error at the level error only. That of a mistake of the program is
 * written at every level, so that it can be found.
 */
function stackOf({ error }: { error?: unknown }, level: string | undefined): object {
  const shown = faultIn(error) ?? (level === "error" ? error : undefined);
  return shown instanceof Error && shown.stack ? { stacktrace: sourceStack(shown.stack) } : {};
}

/** The message of an error, followed by those of its causes. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message || error.name;
  return error.cause === undefined || own.includes(String((error.cause as Error).message ?? error.cause))
    ? own
    : `${own}: ${textOf(error.cause)}`;
}

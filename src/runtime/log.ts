import { type DestinationStream, type LoggerOptions, pino } from "pino";

type Fields = Readonly<Record<string, unknown>>;

/** Messages are constant, values go into the fields. An Error goes into the field `error`. */
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
  /** paths whose values never reach the output, as pino's `redact` */
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
    // as zap does in production: where an error was made matters from the level error on
    mixin: (fields, level) => (pino.levels.labels[level] === "error" ? stackOf(fields) : {}),
    ...(redact && { redact }),
  };
  return pino(options, destination ?? pino.destination({ dest: 1, sync: true }));
}

export const silentLogger: Logger = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  child: () => silentLogger,
};

// members of an error are left out: a library may have hung a whole request on it
const withErrorText = (fields: Fields): Record<string, unknown> =>
  fields["error"] instanceof Error ? { ...fields, error: textOf(fields["error"]) } : fields;

const stackOf = ({ error }: { error?: unknown }): object =>
  error instanceof Error && error.stack ? { stacktrace: error.stack } : {};

/** The message, followed by those of its causes. */
export function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.message || error.name;
  return error.cause === undefined || own.includes(String((error.cause as Error).message ?? error.cause))
    ? own
    : `${own}: ${textOf(error.cause)}`;
}

/** Where work that takes long tells how it goes. */
export interface Report {
  readonly onProgress?: ((line: string) => void) | undefined;
  /** For a terminal: takes the same, but often, each time in place of the one before. */
  readonly onBar?: ((line: string) => void) | undefined;
  readonly signal?: AbortSignal | undefined;
}

const LINE_MS = 10_000;
const BAR_MS = 200;
const BAR_WIDTH = 24;

export interface Progress {
  readonly done: number;
  /** Absent where it is not known. */
  readonly total?: number | undefined;
  /** Such as `12 of 90 MB`. */
  readonly text: string;
}

/** Reports the state of some work until it is disposed of: as a bar on a terminal, else as a line now and then. */
export function reporting({ onProgress, onBar }: Report, what: string, state: () => Progress): Disposable {
  const told = () => {
    const progress = state();
    if (onBar) onBar(`${what} ${bar(progress)} ${progress.text}`);
    else onProgress?.(`${what}: ${progress.text}`);
  };
  const timer = setInterval(told, onBar ? BAR_MS : LINE_MS);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

function bar({ done, total }: Progress): string {
  const filled = total ? Math.min(BAR_WIDTH, Math.floor((done / total) * BAR_WIDTH)) : 0;
  return "█".repeat(filled) + "░".repeat(BAR_WIDTH - filled);
}

/** A {@link Report} that writes to a stream, with a bar if that is a terminal. */
export function reportTo(stream: NodeJS.WriteStream, prefix = ""): Report {
  if (!stream.isTTY) return { onProgress: (line) => stream.write(`${prefix}${line}\n`) };
  const fresh = "\r\u001B[K";
  return {
    onProgress: (line) => stream.write(`${fresh}${prefix}${line}\n`),
    onBar: (line) => stream.write(`${fresh}${`${prefix}${line}`.slice(0, stream.columns - 1)}`),
  };
}

const MEGABYTE = 1_000_000;

export const megabytes = (bytes: number): string => `${(bytes / MEGABYTE).toFixed(bytes < 10 * MEGABYTE ? 1 : 0)} MB`;

/** A time that is only guessed, such as `about 5 min`. */
export function about(milliseconds: number): string {
  const seconds = milliseconds / 1000;
  return seconds < 90
    ? `about ${Math.max(1, Math.ceil(seconds / 10)) * 10} s`
    : `about ${Math.round(seconds / 60)} min`;
}

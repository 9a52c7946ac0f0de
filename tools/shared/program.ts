import { parseArgs } from "node:util";

/** Bad input on the command line. The message says what is wrong with it. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** An option of a command line. Its name is in camel case: `bigObjects` is `--big-objects`. */
interface Option {
  /** The placeholder for the value in the usage. An option without it takes no value. */
  readonly value?: string;
  readonly about: string;
  /** The value if the option is not given. */
  readonly initial: unknown;
  /** The text for the initial value in the usage. Default: the value itself. */
  readonly initially?: string;
  /**
   * Parses a value. `before` is the value so far, for options that may be given several times. Throws a UsageError whose
   * message continues a sentence that begins with the name of the option.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each option has values of its own type
  readonly read: (text: string, before: any) => unknown;
}

type Options = Readonly<Record<string, Option>>;

export interface Program<Given extends Options> {
  /** The command line without options. */
  readonly command: string;
  readonly about: string;
  readonly options: Given;
}

export const defineProgram = <const Given extends Options>(program: Program<Given>): Program<Given> => program;

type Widened<Value> = Value extends boolean ? boolean : Value;

export type Values<Given extends Options> = {
  readonly [Name in keyof Given]: Widened<Given[Name]["initial"] | ReturnType<Given[Name]["read"]>>;
};

/** An option that takes no value. */
export const flag = (about: string) => ({ about, initial: false, read: (): boolean => true });

/** A value that is used as it is. */
export const asText = (text: string): string => text;

export const wholeNumber =
  (least = 0) =>
  (text: string): number => {
    if (!/^\d{1,15}$/.test(text)) throw new UsageError("must be a whole number");
    if (Number(text) < least) throw new UsageError(`must be at least ${least}`);
    return Number(text);
  };

/** The option `seed`. Without it, the program takes any. */
export const seed = (about: string) => ({
  value: "n",
  about,
  initial: undefined,
  initially: "any",
  read: wholeNumber(),
});

export function positiveNumber(text: string): number {
  if (!/^\d{1,15}(\.\d+)?$/.test(text) || Number(text) === 0) throw new UsageError("must be more than 0");
  return Number(text);
}

/** Values that are separated by commas. */
export const listOf =
  <Item>(read: (text: string) => Item) =>
  (text: string): Item[] =>
    text.split(",").map(read);

/** Runs a program with the arguments of this process. `work` resolves with the exit code, which is 2 for bad input. */
export async function runProgram<const Given extends Options>(
  program: Program<Given>,
  work: (values: Values<Given>) => Promise<number | undefined>,
): Promise<void> {
  try {
    const values = readArguments(program, process.argv.slice(2));
    if (!values) console.log(usageOf(program));
    else process.exitCode = (await work(values)) ?? 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${usageOf(program)}`);
    process.exitCode = 2;
  }
}

/** Undefined if the arguments ask for help. */
export function readArguments<const Given extends Options>(
  { options }: Program<Given>,
  args: readonly string[],
): Values<Given> | undefined {
  const { help, ...given } = parsed(options, args);
  if (help) return undefined;
  const values = Object.entries(options).map(([name, option]) => [name, readValue(name, option, given[flagOf(name)])]);
  return Object.fromEntries(values);
}

type Parsed = Readonly<Record<string, readonly (string | boolean)[] | undefined>> & { readonly help?: boolean };

function parsed(options: Options, args: readonly string[]): Parsed {
  const known = Object.entries(options).map(([name, { value }]) => {
    return [flagOf(name), { type: value === undefined ? "boolean" : "string", multiple: true }] as const;
  });
  try {
    const help = { type: "boolean", short: "h" } as const;
    return parseArgs({ args: [...args], options: { ...Object.fromEntries(known), help } }).values as Parsed;
  } catch (error) {
    // the other sentences are advice about arguments that begin with a dash
    const [message = ""] = (error as Error).message.split(/\.\s/);
    throw new UsageError(message, { cause: error });
  }
}

function readValue(name: string, { initial, read }: Option, given: readonly (string | boolean)[] = []): unknown {
  try {
    return given.reduce((before: unknown, text) => read(String(text), before), initial);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`--${flagOf(name)} ${error.message}`, { cause: error });
  }
}

const flagOf = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export function usageOf({ command, about, options }: Program<Options>): string {
  const rows = Object.entries(options).map(([name, { value, ...option }]) => {
    const initially = option.initially ?? shown(option.initial);
    return [
      `  --${flagOf(name)}${value === undefined ? "" : ` <${value}>`}`,
      `${option.about}${initially === "" ? "" : ` (default ${initially})`}`,
    ] as const;
  });
  const width = Math.max(...rows.map(([left]) => left.length));
  const lines = rows.map(([left, right]) => `${left.padEnd(width)}  ${right}`);
  return [`${command}${rows.length > 0 ? " [options]" : ""}`, about, lines.join("\n")].filter(Boolean).join("\n\n");
}

const shown = (initial: unknown): string => (initial === undefined || initial === false ? "" : String(initial));

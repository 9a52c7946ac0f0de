import { getHeapStatistics } from "node:v8";
import { Retry } from "../../objects/reconcile-error.ts";

/** A list of this size costs little, so it always fits. */
const SMALL_BYTES = 1024 * 1024;

/** While a list is read, the one before is kept as well, and so are the text of a page and what is made of it. */
const SHARE_OF_HEAP = 1 / 4;

export interface ListRoomOptions {
  /** Default: a quarter of the heap that this process may have. */
  bytes?: number;
  /** How a person makes room; the beginning of a message. */
  way: string;
}

interface Taken {
  /** What the latest complete list takes. */
  kept: number;
  /** The most that the latest complete list took while it was read, with what is not kept of a page. */
  most: number;
  /** What those under way take by now. Several may read the same list at the same time, and each has all of it. */
  readonly readings: Map<Reading, number>;
}

/**
 * How much memory the lists of all accounts take, with the pages of those under way. Whoever may write in an account may
 * fill it with large texts, and the process works for others too. So a list takes half of what the others leave, at most:
 * no list takes the room of all. A list that has no room fails as a whole, since a part of it would prove nothing.
 *
 * The others may have grown since a list was read, and it has to be readable again. So it may keep as much again, and its
 * pages may be as large again. What all lists together take in this way beyond what they keep is half of the room at most.
 * Where many of them arrive at the same time, some fail, and are read again later.
 */
export class ListRoom {
  readonly #bytes: number;
  readonly #way: string;
  readonly #taken = new Map<object | string, Taken>();

  constructor({ bytes = getHeapStatistics().heap_size_limit * SHARE_OF_HEAP, way }: ListRoomOptions) {
    this.#bytes = bytes;
    this.#way = way;
  }

  /**
   * Reads a list. `list`: what keeps it, and replaces it by the next one. `what`: its name in a message, such as "the list
   * of each IP policy".
   */
  async read<T>(list: object | string, what: string, read: (reading: Reading) => Promise<T>): Promise<T> {
    const reading = this.begin(list, what);
    try {
      const result = await read(reading);
      reading.keep();
      return result;
    } catch (error) {
      throw reading.fail(error);
    }
  }

  /** Like `read`, for what is read one by one: `keep` or `fail` has to be called after each answer. */
  begin(list: object | string, what: string): Reading {
    const taken = this.#taken.get(list) ?? { kept: 0, most: 0, readings: new Map() };
    this.#taken.set(list, taken);
    const reading = new Reading(taken, (bytes, isArriving) => {
      const beside = underWay(taken) - (taken.readings.get(reading) ?? 0);
      if (this.#fits(taken, { bytes, beside, isArriving })) return;
      throw new Retry("UnexpectedResponse", `${this.#way}: there is no room for ${what}`);
    });
    return reading;
  }

  release(list: object | string): void {
    this.#taken.delete(list);
  }

  #fits(taken: Taken, { bytes, beside, isArriving }: Wanted): boolean {
    const all = bytes + beside;
    if (bytes <= SMALL_BYTES || all <= taken.kept) return true;
    const others = [...this.#taken.values()].filter((one) => one !== taken);
    if (all <= (this.#bytes - sum(others, (one) => one.kept + beyond(one))) / 2) return true;
    // A page is soon gone, but what is kept stays: it would take the room of the others.
    return isArriving && bytes <= taken.most && all - taken.kept <= this.#bytes / 2 - sum(others, beyond);
  }
}

/** What a list under way would take. */
interface Wanted {
  bytes: number;
  /** What others that read the same list take by now. */
  beside: number;
  isArriving: boolean;
}

const underWay = ({ readings }: Taken): number => sum([...readings.values()], (bytes) => bytes);

/** What those that read a list take beyond what it keeps. */
const beyond = (taken: Taken): number => Math.max(underWay(taken) - taken.kept, 0);

const sum = <T>(all: readonly T[], of: (one: T) => number): number => all.reduce((so, one) => so + of(one), 0);

/** A list under way, in its room. */
export class Reading {
  readonly #taken: Taken;
  readonly #check: (bytes: number, isArriving: boolean) => void;
  #rows = 0;
  #most = 0;
  #problem: Retry | undefined;

  constructor(taken: Taken, check: (bytes: number, isArriving: boolean) => void) {
    this.#taken = taken;
    this.#check = check;
  }

  /** Call it with the length of the page that is arriving. Throws if the list becomes too large. */
  readonly onAnswer = (bytes: number): void => this.#take(this.#rows + bytes, true);

  /** Call it with what was read in a page. Throws if the list becomes too large. */
  add(rows: unknown): void {
    const all = this.#rows + sizeOf(rows);
    this.#take(all, false);
    this.#rows = all;
  }

  /** Call it when all that was added is kept. */
  keep(): void {
    Object.assign(this.#taken, { kept: this.#rows, most: this.#most });
    this.#taken.readings.delete(this);
  }

  /** Call it when the reading has failed with this error. Returns why: the error, or that there is no room. */
  fail(error: unknown): unknown {
    const problem = this.#problem ?? error;
    this.#problem = undefined;
    this.#taken.readings.delete(this);
    return problem;
  }

  #take(bytes: number, isArriving: boolean): void {
    try {
      this.#check(bytes, isArriving);
    } catch (error) {
      this.#problem = error as Retry;
      throw error;
    }
    this.#taken.readings.set(this, bytes);
    this.#most = Math.max(this.#most, bytes);
  }
}

/** About how many bytes a value takes: at least those of its texts. Values of others are nested to a bounded depth. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  return Object.entries(value).reduce((sum, [name, one]) => sum + name.length + sizeOf(one), 16);
}

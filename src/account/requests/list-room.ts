import { getHeapStatistics } from "node:v8";
import { listTooLarge } from "../../objects/errors/service.ts";
import type { Retry } from "../../objects/reconcile-error.ts";

/** A list of this size costs little, so it always fits. */
const SMALL_BYTES = 1024 * 1024;

/** While a list is read, the one before is kept as well, and so are the text of a page and what is made of it. */
const SHARE_OF_HEAP = 1 / 4;

interface ListRoomOptions {
  /** Default: a quarter of the heap that this process may have. */
  bytes?: number;
  /** How a person makes room; the beginning of a message. */
  way: string;
}

/** What is read at once, and kept until it is read again. A list is one piece. */
interface Piece {
  /** What the latest answer takes. */
  readonly kept: number;
  /** The most that it took while it was read, with what is not kept of it. */
  readonly most: number;
}

const NOTHING: Piece = { kept: 0, most: 0 };

/**
 * How much memory the lists of all accounts take, with the pages of those under way, and what is read one by one. Whoever
 * may write in an account may fill it with large texts, and the process works for others too. So a list takes half of what
 * the others leave, at most: no list takes the room of all. A list that has no room fails as a whole, since a part of it
 * would prove nothing.
 *
 * The others may have grown since a list was read, and it has to be readable again. So it may keep as much again, and its
 * pages may be as large again. What all lists together take in this way beyond what they keep is half of the room at most.
 * Where many of them arrive at the same time, some fail, and are read again later.
 *
 * What is read one by one has one place together, like a list, and is kept in pieces. Where there is no room for another
 * piece, those that are kept can be read again.
 */
export class ListRoom {
  readonly #bytes: number;
  readonly #way: string;
  readonly #places = new Map<object | string, Place>();

  constructor({ bytes = getHeapStatistics().heap_size_limit * SHARE_OF_HEAP, way }: ListRoomOptions) {
    this.#bytes = bytes;
    this.#way = way;
  }

  /**
   * Reads a list. `list`: what keeps it, and replaces it by the next one. `what`: its name in a message, such as "the list
   * of each IP policy". `piece`: the name of a part that is read by itself.
   */
  async read<T>(
    list: object | string,
    what: string,
    read: (reading: Reading) => Promise<T>,
    piece?: string,
  ): Promise<T> {
    const reading = this.begin(list, what, piece);
    try {
      const result = await read(reading);
      reading.keep();
      return result;
    } catch (error) {
      throw reading.fail(error);
    } finally {
      // What ends an account releases its lists, and somebody may still ask for one.
      if (this.#places.get(list)?.isEmpty) this.release(list);
    }
  }

  /** Reads what is not kept here. */
  async readOnce<T>(what: string, read: (reading: Reading) => Promise<T>): Promise<T> {
    const list = {};
    try {
      return await this.read(list, what, read);
    } finally {
      this.release(list);
    }
  }

  /** Like `read`, for what is read one by one: `keep` or `fail` has to be called after each answer. */
  begin(list: object | string, what: string, piece = ""): Reading {
    const place = this.#placeOf(list);
    return new Reading(place, piece, (reading, bytes, isArriving) => {
      if (this.#fits(place, reading, bytes, isArriving)) return;
      throw listTooLarge({ way: this.#way, what });
    });
  }

  /** Records what is kept of a piece, whether there is room or not. */
  keep(list: object | string, piece: string, bytes: number): void {
    const place = this.#placeOf(list);
    place.keep(piece, { kept: bytes, most: Math.max(place.pieceOf(piece).most, bytes) });
  }

  drop(list: object | string, piece: string): void {
    const place = this.#places.get(list);
    place?.keep(piece, undefined);
    if (place?.isEmpty) this.release(list);
  }

  release(list: object | string): void {
    this.#places.delete(list);
  }

  #placeOf(list: object | string): Place {
    const place = this.#places.get(list) ?? new Place();
    this.#places.set(list, place);
    return place;
  }

  #fits(place: Place, { piece }: Reading, bytes: number, isArriving: boolean): boolean {
    const { kept, most } = place.pieceOf(piece);
    const underWay = place.underWay(piece);
    if (underWay <= kept) return true;
    const all = place.kept + place.beyond;
    const beside = all - underWay;
    if (beside + bytes <= SMALL_BYTES) return true;
    const others = [...this.#places.values()].filter((one) => one !== place);
    if (all <= (this.#bytes - sum(others, (one) => one.kept + one.beyond)) / 2) return true;
    // A page is soon gone, but what is kept stays: it would take the room of the others.
    return isArriving && bytes <= most && place.beyond <= this.#bytes / 2 - sum(others, (one) => one.beyond);
  }
}

/** A room without a bound. */
export const roomForAll = (): ListRoom => new ListRoom({ bytes: Number.POSITIVE_INFINITY, way: "" });

const sum = <T>(all: Iterable<T>, of: (one: T) => number): number => {
  let so = 0;
  for (const one of all) so += of(one);
  return so;
};

/** A list, or all that is read one by one in one place. */
class Place {
  /** What all pieces take. */
  kept = 0;
  readonly #pieces = new Map<string, Piece>();
  /** What the readings under way take by now. Several may read the same piece at the same time, and each has all of it. */
  readonly #readings = new Map<Reading, number>();

  pieceOf(name: string): Piece {
    return this.#pieces.get(name) ?? NOTHING;
  }

  /** Undefined: nothing is kept of it. */
  keep(name: string, piece: Piece | undefined): void {
    this.kept += (piece?.kept ?? 0) - this.pieceOf(name).kept;
    if (piece) this.#pieces.set(name, piece);
    else this.#pieces.delete(name);
  }

  /** What those take that read this piece. */
  underWay(name: string): number {
    return sum(this.#readings, ([{ piece }, bytes]) => (piece === name ? bytes : 0));
  }

  /** What all that read here take beyond what is kept of the same pieces. */
  get beyond(): number {
    const underWay = new Map<string, number>();
    for (const [{ piece }, bytes] of this.#readings) underWay.set(piece, (underWay.get(piece) ?? 0) + bytes);
    return sum(underWay, ([name, bytes]) => Math.max(bytes - this.pieceOf(name).kept, 0));
  }

  get isEmpty(): boolean {
    return this.#pieces.size + this.#readings.size === 0;
  }

  bytesOf(reading: Reading): number | undefined {
    return this.#readings.get(reading);
  }

  /** Undefined: it has ended. */
  set(reading: Reading, bytes: number | undefined): void {
    if (bytes === undefined) this.#readings.delete(reading);
    else this.#readings.set(reading, bytes);
  }
}

/** A list under way, in its room. */
export class Reading {
  readonly piece: string;
  readonly #place: Place;
  readonly #check: (reading: Reading, bytes: number, isArriving: boolean) => void;
  #rows = 0;
  #most = 0;
  #problem: Retry | undefined;

  constructor(place: Place, piece: string, check: (reading: Reading, bytes: number, isArriving: boolean) => void) {
    this.#place = place;
    this.piece = piece;
    this.#check = check;
    place.set(this, 0);
  }

  /** Call it with the length of the page that is arriving. Throws if the list becomes too large. */
  readonly onAnswer = (bytes: number): void => this.#take(this.#rows + bytes, true);

  /** Call it with what was read in a page. Throws if the list becomes too large. `counted`: what counts elsewhere of it. */
  add(rows: unknown, counted = 0): void {
    const all = this.#rows + Math.max(sizeOf(rows) - counted, 0);
    this.#take(all, false);
    this.#rows = all;
  }

  /** Call it when all that was added is kept. */
  keep(): void {
    this.#place.set(this, undefined);
    this.#place.keep(this.piece, { kept: this.#rows, most: this.#most });
  }

  /** Call it when the reading has failed with this error. Returns why: the error, or that there is no room. */
  fail(error: unknown): unknown {
    const problem = this.#problem ?? error;
    this.#problem = undefined;
    this.#place.set(this, undefined);
    return problem;
  }

  #take(bytes: number, isArriving: boolean): void {
    const before = this.#place.bytesOf(this);
    this.#place.set(this, bytes);
    try {
      this.#check(this, bytes, isArriving);
    } catch (error) {
      this.#place.set(this, before);
      this.#problem = error as Retry;
      throw error;
    }
    this.#most = Math.max(this.#most, bytes);
  }
}

/** About how many bytes a value takes: at least those of its texts. Values of others are nested to a bounded depth. */
export function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  return Object.entries(value).reduce((sum, [name, one]) => sum + name.length + sizeOf(one), 16);
}

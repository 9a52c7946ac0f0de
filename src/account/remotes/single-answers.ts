import type { Remote } from "../../gateway/resource.ts";
import { type ListRoom, type Reading, sizeOf } from "../requests/list-room.ts";

interface SingleAnswersOptions {
  room: ListRoom;
  /** The title of the remotes. */
  title: string;
  /** Aborted when the account is no longer used. */
  signal: AbortSignal;
  cached: (id: string) => Remote | undefined;
}

/**
 * The room that the remotes of one resource take beyond what their list counts, since answers about one of them show them
 * as well. Whoever may write in an account may make them larger after the list. The next list counts them.
 */
export class SingleAnswers {
  readonly #options: SingleAnswersOptions;
  /** By id: what the list counts for it, in bytes. */
  readonly #listed = new Map<string, number>();

  constructor(options: SingleAnswersOptions) {
    this.#options = options;
    options.signal.addEventListener("abort", () => options.room.release(this), { once: true });
  }

  get ids(): Iterable<string> {
    return this.#listed.keys();
  }

  /** Reads a remote. Call `keep` with what records the answer. */
  read(id: string, get: (onAnswer: Reading["onAnswer"]) => Promise<Remote>): Promise<Remote> {
    const read = async (reading: Reading) => {
      // What the list has of it may be read again, as the list itself.
      const remote = await get((bytes) => reading.onAnswer(Math.max(bytes - this.#sizeInList(id), 0)));
      // Another list may have come meanwhile.
      reading.add(remote, this.#sizeInList(id));
      return remote;
    };
    return this.#options.room.read(this, this.#what, read, id);
  }

  /** Reads a remote of which nothing is kept. */
  readOnce(get: (onAnswer: Reading["onAnswer"]) => Promise<Remote>): Promise<Remote> {
    return this.#options.room.readOnce(this.#what, ({ onAnswer }) => get(onAnswer));
  }

  /** Records an answer about this remote. That to a change counts whether there is room or not. */
  keep(id: string, record: () => void): void {
    const { room, signal, cached } = this.#options;
    const listed = this.#sizeInList(id);
    record();
    const known = cached(id);
    if (known && !signal.aborted) {
      this.#listed.set(id, listed);
      room.keep(this, id, Math.max(sizeOf(known) - listed, 0));
    } else this.drop(id);
  }

  /** Call it when the list counts the remote as it is known, or when it is gone. */
  drop(id: string): void {
    this.#listed.delete(id);
    this.#options.room.drop(this, id);
  }

  get #what(): string {
    return `each ${this.#options.title} that is read by itself`;
  }

  #sizeInList(id: string): number {
    const known = this.#options.cached(id);
    return this.#listed.get(id) ?? (known ? sizeOf(known) : 0);
  }
}

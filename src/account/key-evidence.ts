import { isForbidden } from "../gateway/errors.ts";
import type { Resource } from "../gateway/resource.ts";
import { hasList, type Source } from "../objects/evidence.ts";

/** How many remotes that no list shows are read at an attempt. Each takes a request, while a list shows many remotes. */
const MOST_READ_AT_ONCE = 3;

/** How the service is asked for recorded remotes. */
export interface EvidenceOptions {
  /** Reads the list of a resource, and calls `KeyProof.recordSeenIDs` with the ids of its rows, until the key is proved. */
  readList: (resource: Resource) => Promise<void>;
  /** Reads one remote or one of its modules, and calls `KeyProof.recordSeenIDs` if it exists. */
  readOne: (source: Source, id: string) => Promise<void>;
}

/** What shows remotes, and the ids of those that objects have recorded. */
export type Recorded = readonly [Source, ReadonlySet<string>];

/** Asks the service for remotes that objects have recorded, until one of them proves the key. */
export class KeyEvidence {
  readonly #options: EvidenceOptions;
  readonly #isProved: () => boolean;
  /** Where the next attempt goes on among the remotes that are read one by one. */
  #asked = 0;

  constructor(options: EvidenceOptions, isProved: () => boolean) {
    this.#options = options;
    this.#isProved = isProved;
  }

  /**
   * Reads the lists, then some remotes that no list has shown. `afterLists`: called in between. `read`: a resource whose
   * list was just read. Throws an error of a list or a remote if the key is not proved and one could not be read.
   */
  async askForAll(recorded: readonly Recorded[], afterLists: () => Promise<void>, read?: Resource): Promise<void> {
    // An error of one list says nothing about the others.
    const problems: unknown[] = [];
    const unshown = await this.#readLists(recorded, problems, read);
    if (this.#isProved()) return;
    await afterLists();
    for (const one of this.#nextOf([...unlistedOf(recorded), ...singly(unshown)])) {
      if (this.#isProved()) return;
      await succeeds(this.#options.readOne(...one), problems);
    }
    if (problems.length > 0 && !this.#isProved()) throw problems[0];
  }

  /** Reads another one of the recorded remotes at each attempt. `attempt`: its number. */
  async askForOne(recorded: readonly Recorded[], attempt: number): Promise<void> {
    const all = singly(recorded);
    const one = all[attempt % all.length];
    if (one) await isPermitted(this.#options.readOne(...one));
  }

  /** Until the key is proved. Resolves with what is recorded of those whose list has failed. */
  async #readLists(recorded: readonly Recorded[], problems: unknown[], read?: Resource): Promise<Recorded[]> {
    const failed: Recorded[] = [];
    for (const one of recorded) {
      const [resource] = one;
      if (!hasList(resource)) continue;
      if (resource !== read && !(await succeeds(this.#options.readList(resource), problems))) failed.push(one);
      if (this.#isProved()) break;
    }
    return failed;
  }

  /** Some of these remotes, and others at the next attempt: a list that always fails may have recorded ids that are gone. */
  #nextOf<T>(all: readonly T[]): T[] {
    const from = all.length > 0 ? this.#asked % all.length : 0;
    this.#asked += MOST_READ_AT_ONCE;
    return [...all.slice(from), ...all.slice(0, from)].slice(0, MOST_READ_AT_ONCE);
  }
}

const singly = (recorded: readonly Recorded[]): (readonly [Source, string])[] =>
  recorded.flatMap(([source, ids]) => [...ids].map((id) => [source, id] as const));

/** The modules that show remotes which no list shows: one of each remote comes first. */
function unlistedOf(recorded: readonly Recorded[]): (readonly [Source, string])[] {
  const all = singly(recorded.filter(([source]) => !hasList(source)));
  const byID = [...Map.groupBy(all, ([, id]) => id).values()];
  return [...byID.flatMap((some) => some.slice(0, 1)), ...byID.flatMap((some) => some.slice(1))];
}

/** False when it is forbidden: a key without permission to read one resource can still be proved by another. */
async function isPermitted(reading: Promise<void>): Promise<boolean> {
  try {
    await reading;
    return true;
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return false;
  }
}

/** False when it is forbidden, or has failed: then `problems` gets the error. */
const succeeds = (reading: Promise<void>, problems: unknown[]): Promise<boolean> =>
  isPermitted(reading).catch((error: unknown) => {
    problems.push(error);
    return false;
  });

import { setTimeout as sleep } from "node:timers/promises";
import type { KubeClient } from "../../../runtime/connection/client.ts";
import {
  type AccountFlags,
  type Credentials,
  findCredentials,
  type Sharers,
  sharersOf,
} from "../../account/credentials.ts";
import { AccountReader } from "../../account/reader.ts";
import { messageForUser } from "../../cluster/failure.ts";
import { type AccountRead, managedIn, type ReadObjects, readAccount } from "../../graph/load.ts";

/** What was read of the account, and when. */
export interface KeptRead {
  /** Milliseconds since 1970. */
  at: number;
  /** Unset: it could not be read, and `problems` says why. */
  found?: { account: AccountRead; sharers: Sharers; credentials: Credentials };
  problems: readonly string[];
}

/** The account is read once in this time at most. */
const EVERY_MS = 60_000;
/** And once in this time where a person asks for it. */
const ASKED_MS = 5_000;

/** A page does not wait longer, from when the reading began: it is told when that ends. */
const PATIENCE_MS = 3_000;

const UNREAD: KeptRead = {
  at: 0,
  problems: ["The account is being read, which takes as long as the request budget says"],
};

/** Keeps what was read of the account, so that a page costs no requests. */
export class KeptAccount {
  readonly #flags: AccountFlags;
  readonly #client: KubeClient;
  readonly #onRead: () => void;
  #last: KeptRead | undefined;
  #reading: Promise<KeptRead> | undefined;
  #since = 0;

  constructor(flags: AccountFlags, client: KubeClient, onRead: () => void) {
    this.#flags = flags;
    this.#client = client;
    this.#onRead = onRead;
  }

  /**
   * What is known. What is too old is read again meanwhile, and so is what takes long the first time. `isAsked`: a person
   * wants to see it as it is now.
   */
  async read(objects: ReadObjects, isAsked = false): Promise<KeptRead> {
    const last = this.#last;
    const age = Date.now() - (last?.at ?? 0);
    if (last && age < (isAsked ? ASKED_MS : EVERY_MS)) return last;
    if (!this.#reading) this.#since = Date.now();
    this.#reading ??= this.#readNow(objects).finally(() => {
      this.#reading = undefined;
      this.#onRead();
    });
    this.#reading.catch(() => {});
    if (last && !isAsked) return last;
    return Promise.race([
      this.#reading,
      sleep(Math.max(0, this.#since + PATIENCE_MS - Date.now()), last ?? UNREAD, { ref: false }),
    ]);
  }

  async #readNow(read: ReadObjects): Promise<KeptRead> {
    const problems: string[] = [];
    const at = Date.now();
    try {
      const credentials = await findCredentials(this.#flags);
      const sharers = await sharersOf(credentials, read.accounts, { client: this.#client, flags: this.#flags });
      await using reader = new AccountReader(credentials);
      const managed = managedIn(read);
      const reading = {
        reader,
        terminal: silent,
        problems,
        isMarkNeeded: ({ id }: { id: string }) => !managed.has(id),
      };
      const account = await readAccount(reading, { sessions: true });
      this.#last = { at, found: { account, sharers, credentials }, problems };
    } catch (error) {
      const problem = messageForUser(error);
      if (problem === undefined) throw error;
      // what was read before is still the best that is known
      const { found } = this.#last ?? {};
      this.#last = { at, ...(found && { found }), problems: [problem] };
    }
    return this.#last;
  }
}

const silent = { say: () => {}, warn: () => {} };

import type { Clock } from "../clock.ts";
import type { Connection, Credentials } from "./connection.ts";

export interface Loaded extends Credentials {
  /** Clock time at which loading began. */
  at: number;
}

const maxAge = 60_000;
const retryAfterFailure = 5_000;

/** Caches credentials for at most a minute. Requests at the same time share one load. */
export class CredentialCache {
  readonly #connection: Connection;
  readonly #clock: Clock;
  #loaded: Loaded | undefined;
  #loading: Promise<Loaded> | undefined;
  #failedAt = Number.NEGATIVE_INFINITY;

  constructor(connection: Connection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /** The credentials that a request takes without loading any. Undefined: they are a minute old, or there are none. */
  get current(): Loaded | undefined {
    const now = this.#clock.now();
    const isRecent = this.#loaded !== undefined && now - this.#loaded.at < maxAge;
    return isRecent || now - this.#failedAt < retryAfterFailure ? this.#loaded : undefined;
  }

  /** When new credentials cannot be read, the old ones are used: a token file may be absent while it is replaced. */
  async get(): Promise<Loaded> {
    const { current } = this;
    if (current) return current;
    try {
      return await this.#load(false);
    } catch (error) {
      if (!this.#loaded) throw error;
      return this.#loaded;
    }
  }

  /** Loads newer credentials than those that the server refused. */
  async renew(refused: Loaded): Promise<Loaded> {
    if (this.#loaded && this.#loaded.at > refused.at) return this.#loaded;
    return this.#load(true);
  }

  #load(fresh: boolean): Promise<Loaded> {
    this.#loading ??= this.#read(fresh).finally(() => {
      this.#loading = undefined;
    });
    return this.#loading;
  }

  async #read(fresh: boolean): Promise<Loaded> {
    const at = this.#clock.now();
    try {
      this.#loaded = { ...(await this.#connection.credentials({ fresh })), at };
      return this.#loaded;
    } catch (error) {
      this.#failedAt = at;
      throw error;
    }
  }
}

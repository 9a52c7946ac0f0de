/**
 * What the records of earlier processes say about a key. `recorded`: it belongs to this account. `first`: no key was ever
 * recorded, so no process has changed anything in the account, whatever objects cannot be read. `unknown`: other keys
 * were recorded, and not this one.
 */
export type EarlierRecord = "recorded" | "first" | "unknown";

/** Where keys are recorded. */
export interface KeyRecordOptions {
  /** What processes before have recorded about the key with this digest. Default: `unknown`. */
  wasRecorded?: (digest: string) => Promise<EarlierRecord>;
  /**
   * Resolves when it is recorded for the next process that the key with this digest belongs to this account. `alone`:
   * earlier records belong to another account and are dropped. Default: nothing is recorded.
   */
  record?: (digest: string, which: { alone: boolean }) => Promise<void>;
}

/** The record, for the next process, that the key of an account belongs to this account. */
export class KeyRecord {
  readonly #options: KeyRecordOptions;
  /** The present record. Another one: it has to be written again. */
  #present = {};
  #written: object | undefined;
  #writing: Promise<void> | undefined;
  /** Whether the earlier records belong to another account. */
  #isAnother = false;

  constructor(options: KeyRecordOptions) {
    this.#options = options;
  }

  get isWritten(): boolean {
    return this.#options.record === undefined || this.#written === this.#present;
  }

  /** Writes the record. Callers share a write. `isProved`: whether remotes prove the key, as they do for other keys. */
  write(digest: string, isProved: boolean): Promise<void> {
    this.#writing ??= this.#write(digest, isProved).finally(() => {
      this.#writing = undefined;
    });
    return this.#writing;
  }

  async #write(digest: string, isProved: boolean): Promise<void> {
    const present = this.#present;
    await this.#options.record?.(digest, { alone: this.#isAnother || !isProved });
    // Meanwhile, more credentials may have joined, or a person may have confirmed the account.
    if (this.#present !== present) return;
    this.#written = present;
    this.#isAnother = false;
  }

  /**
   * Whether the records of earlier processes let the key be used without a proof: one of them says that it belongs to this
   * account, or no key was ever recorded. False if the record has to be written again meanwhile.
   */
  async earlierAllow(digest: string): Promise<boolean> {
    const present = this.#present;
    const earlier = await this.#options.wasRecorded?.(digest);
    if (!earlier || earlier === "unknown" || this.#present !== present) return false;
    if (earlier === "recorded") this.#written = present;
    return true;
  }

  /** Call it when the record has to be written again. */
  renew(): void {
    this.#present = {};
  }

  /** Call it when the earlier records belong to another account. */
  replaceEarlier(): void {
    this.renew();
    this.#isAnother = true;
  }
}

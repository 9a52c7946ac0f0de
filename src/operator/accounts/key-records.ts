import { createHmac, type KeyObject } from "node:crypto";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import { STATE_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { toReconcileError } from "../kubernetes/api-error.ts";
import { secrets } from "../kubernetes/resource-types.ts";
import type { AccountObject, AccountObjects } from "./account-objects.ts";
import type { Credentials } from "./credentials.ts";
import { WriteTurns } from "./write-turns.ts";

/** 128 bits, as 22 characters of base64url. */
const RECORD_BYTES = 16;

/** 48 bits, as 8 characters. */
const SECRET_RECORD_BYTES = 6;

/** How many rotated keys are remembered. An older key has to be proved again. */
export const MOST_RECORDS = 10;

interface KeyRecordsOptions {
  client: Pick<KubeClient, "get" | "patchMerge">;
  store: () => Pick<Store<AccountObject>, "get">;
  /** Keys of a GatewayAccount that it leaves to another installation are proved at each start. */
  objects: Pick<AccountObjects, "writeStatus">;
  /** The namespace of the Secret with the key for digests. */
  namespace: string;
  /** The name of the installation. Several installations may share that Secret. */
  installation: string;
  /** The key for digests. Known before the first request. */
  secret: () => KeyObject;
  /**
   * Keeps a GatewayAccount and its Secret from being deleted while objects need them. Called before a key is recorded,
   * so before the first change under it.
   */
  protect: (object: AccountObject) => Promise<void>;
}

/** Whose key is recorded: the operator's or that of a GatewayAccount. */
type Owner = Pick<Credentials, "key" | "uid">;

type Added = (known: readonly string[]) => string[] | undefined;

/** `record`: that of the key that the credentials have now. */
type OwnerNow = Owner & Pick<Credentials, "record">;

/**
 * Stores which keys are proved: of a GatewayAccount in its status, of the operator's own credentials at the Secret with
 * the key for digests. A record is a digest made with that key, over base URL and GatewayAccount as well. So
 * nobody else can test a guess with it, or see that two namespaces have the same key.
 */
export class KeyRecords {
  readonly #options: KeyRecordsOptions;
  /** The records of the operator's own credentials, as last read or written. */
  #own: readonly string[] | undefined;
  /** For the writes of these records. */
  readonly #turns = new WriteTurns();

  constructor(options: KeyRecordsOptions) {
    this.#options = options;
  }

  /** A digest of the key. Without a secret of the operator it reveals nothing. */
  recordOf({ key, baseURL }: Pick<Credentials, "key" | "baseURL">, apiKey: string): string {
    const whose = key === "" ? { installation: this.#options.installation } : { account: key };
    return this.#recordFor({ ...whose, baseURL, apiKey: apiKey.trim() });
  }

  /** The record of a token that the service has shown once, by its digest. It begins with a digest of the secret. */
  tokenRecordOf(digest: string): string {
    return `${this.#secretRecord()}${this.#recordFor({ token: digest })}`;
  }

  /** Whether a record of a token was made with the secret that the operator has now. */
  isTokenRecord(record: string): boolean {
    return record.startsWith(this.#secretRecord());
  }

  #secretRecord(): string {
    return `${this.#recordFor({ secret: "" }, SECRET_RECORD_BYTES)}.`;
  }

  #recordFor(known: object, bytes = RECORD_BYTES): string {
    const digest = createHmac("sha256", this.#options.secret()).update(JSON.stringify(known)).digest();
    return digest.subarray(0, bytes).toString("base64url");
  }

  async has(owner: Owner, record: string): Promise<boolean> {
    return (await this.#read(owner)).includes(record);
  }

  /** Whether no key was ever recorded. */
  async isEmpty(owner: Owner): Promise<boolean> {
    return (await this.#read(owner)).length === 0;
  }

  /**
   * Resolves when the record is written. `alone`: earlier records belong to another account and are removed. Throws a
   * ReconcileError or Outdated. Writes one record after the other. A key that is no longer in use is not recorded: a person
   * may have confirmed the account of the next one since, and then the former one proves nothing any more.
   */
  async add(owner: OwnerNow, record: string, which: { alone: boolean }): Promise<void> {
    if (owner.record !== record) return;
    /** The records with this one. Undefined: nothing has to be written. */
    const added = (known: readonly string[]): string[] | undefined => {
      const others = which.alone ? [] : known.filter((one) => one !== record).slice(1 - MOST_RECORDS);
      const isThere = known.includes(record) && others.length === known.length - 1;
      return isThere || owner.record !== record ? undefined : [...others, record];
    };
    await (owner.key === "" ? this.#addOwn(added) : this.#addToStatus(owner, record, added));
  }

  async #addToStatus(owner: Owner, record: string, added: Added): Promise<void> {
    const object = this.#accountObject(owner.key, owner.uid);
    if (!object) throw new Outdated("the GatewayAccount is gone");
    if (!(await this.has(owner, record))) await this.#options.protect(object);
    const isThere = await this.#options.objects.writeStatus(object, (before) => {
      const keyDigests = added(before?.keyDigests ?? []);
      return keyDigests && { ...before, keyDigests };
    });
    if (!isThere) throw new Outdated("the GatewayAccount is gone");
  }

  #addOwn(added: Added): Promise<void> {
    return this.#turns.run("", async () => {
      const records = added(await this.#read({ key: "", uid: "" }));
      if (!records) return;
      await this.#writeOwn(records).catch((error: unknown) => {
        throw toReconcileError(error);
      });
    });
  }

  async #read({ key, uid }: Owner): Promise<readonly string[]> {
    if (key !== "") return this.#accountObject(key, uid)?.status?.keyDigests ?? [];
    this.#own ??= (await this.#readOwn()).records;
    return this.#own;
  }

  #accountObject(key: string, uid: string): AccountObject | undefined {
    const object = this.#options.store().get(key);
    return object?.metadata.uid === uid ? object : undefined;
  }

  /** Writes nothing if the Secret is gone: its key is lost, so the records are worth nothing. */
  async #writeOwn(records: readonly string[]): Promise<void> {
    const { client, namespace, installation } = this.#options;
    const { all, secret } = await this.#readOwn();
    this.#own = records;
    if (!secret) return;
    const { uid, resourceVersion } = secret;
    const annotations = { [secretAnnotations.keyDigests]: JSON.stringify({ ...all, [installation]: records }) };
    const ref = { namespace, name: STATE_SECRET };
    try {
      await client.patchMerge(secrets, ref, { metadata: { uid, resourceVersion, annotations } });
    } catch (error) {
      this.#own = undefined;
      throw error;
    }
  }

  async #readOwn() {
    const { client, namespace, installation } = this.#options;
    const ref = { namespace, name: STATE_SECRET };
    const read = client.get(secrets, ref, { metadataOnly: true });
    const secret = await read.catch((error: unknown) => {
      if (!isNotFound(error)) throw toReconcileError(error);
      return undefined;
    });
    const all = parsed(secret?.metadata.annotations?.[secretAnnotations.keyDigests]);
    return { all, records: all[installation] ?? [], secret: secret?.metadata };
  }
}

/** A record that cannot be parsed proves nothing. */
function parsed(text: string | undefined): Record<string, string[]> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    const entries = Object.entries(value ?? {}).filter(([, records]) => Array.isArray(records));
    return Object.fromEntries(entries) as Record<string, string[]>;
  } catch {
    return {};
  }
}

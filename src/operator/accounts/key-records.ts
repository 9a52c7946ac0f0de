import { createHmac, type KeyObject } from "node:crypto";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { typeOf } from "../../objects/object.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import { STATE_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { toReconcileError } from "../kubernetes/api-error.ts";
import { secrets } from "../kubernetes/resource-types.ts";
import type { AccountObject } from "./all-credentials.ts";
import type { Credentials, KeyRecording } from "./credentials.ts";
import type { WriteTurns } from "./write-turns.ts";

/** 128 bits, as 22 characters of base64url. */
const RECORD_BYTES = 16;

/** How many rotated keys are remembered. An older key has to be proved again. */
export const MOST_RECORDS = 10;

export interface KeyRecordsOptions {
  client: Pick<KubeClient, "get" | "patchMerge" | "replaceStatus">;
  store: () => Pick<Store<AccountObject>, "get" | "put">;
  /** The namespace of the Secret with the key for digests. */
  namespace: string;
  /** The name of the installation. Several installations may share that Secret. */
  installation: string;
  /** The key for digests. Known before the first request. */
  secret: () => KeyObject;
  /** Whether this installation writes to the GatewayAccount. Keys of other GatewayAccounts are proved at each start. */
  isOurs: (object: AccountObject) => boolean;
  /** Shared by everything that writes to GatewayAccounts. */
  turns: WriteTurns;
  /**
   * Keeps a GatewayAccount and its Secret from being deleted while objects need them. Called before a key is recorded,
   * so before the first change under it.
   */
  protect: (object: AccountObject) => Promise<void>;
}

type Holder = Pick<Credentials, "key" | "uid">;

/** `record`: that of the key that the credentials have now. */
type Recorded = Pick<Credentials, "key" | "uid" | "record">;

/**
 * Stores which keys are proved: of a GatewayAccount in its status, of the operator's own credentials at the Secret with
 * the key for digests. A record is a digest made with that key, over base URL and GatewayAccount as well. So
 * nobody else can test a guess with it, or see that two namespaces have the same key.
 */
export class KeyRecords implements KeyRecording {
  readonly #options: KeyRecordsOptions;
  /** The records of the operator's own credentials, as last read or written. */
  #own: readonly string[] | undefined;

  constructor(options: KeyRecordsOptions) {
    this.#options = options;
  }

  recordOf({ key, baseURL }: Pick<Credentials, "key" | "baseURL">, apiKey: string): string {
    const whose = key === "" ? { installation: this.#options.installation } : { account: key };
    return this.#recordFor({ ...whose, baseURL, apiKey: apiKey.trim() });
  }

  tokenRecordOf(digest: string): string {
    return this.#recordFor({ token: digest });
  }

  #recordFor(known: object): string {
    const digest = createHmac("sha256", this.#options.secret()).update(JSON.stringify(known)).digest();
    return digest.subarray(0, RECORD_BYTES).toString("base64url");
  }

  async has(holder: Holder, record: string): Promise<boolean> {
    return (await this.#read(holder)).includes(record);
  }

  async isEmpty(holder: Holder): Promise<boolean> {
    return (await this.#read(holder)).length === 0;
  }

  /**
   * Writes one record after the other. A key that is no longer in use is not recorded: a person may have confirmed the
   * account of the next one since, and then the former one proves nothing any more.
   */
  async add(holder: Recorded, record: string, which: { alone: boolean }): Promise<void> {
    const object = this.#accountObject(holder.key, holder.uid);
    if (object && !(await this.has(holder, record))) await this.#options.protect(object);
    await this.#options.turns.run(holder.key, () => this.#add(holder, record, which));
  }

  async #add(holder: Recorded, record: string, { alone }: { alone: boolean }): Promise<void> {
    if (holder.record !== record) return;
    const known = await this.#read(holder);
    const others = alone ? [] : known.filter((one) => one !== record).slice(1 - MOST_RECORDS);
    if (known.includes(record) && others.length === known.length - 1) return;
    await this.#write(holder, [...others, record]).catch((error: unknown) => {
      throw toReconcileError(error);
    });
  }

  async #read({ key, uid }: Holder): Promise<readonly string[]> {
    if (key !== "") return this.#accountObject(key, uid)?.status?.keyDigests ?? [];
    this.#own ??= (await this.#readOwn()).records;
    return this.#own;
  }

  #write(holder: Holder, records: readonly string[]): Promise<void> {
    return holder.key === "" ? this.#writeOwn(records) : this.#writeStatus(holder, records);
  }

  #accountObject(key: string, uid: string): AccountObject | undefined {
    const object = this.#options.store().get(key);
    return object?.metadata.uid === uid ? object : undefined;
  }

  async #writeStatus({ key, uid }: Holder, keyDigests: readonly string[]): Promise<void> {
    const { client, store, isOurs } = this.#options;
    const object = this.#accountObject(key, uid);
    if (!object) throw new Outdated("the GatewayAccount is gone");
    if (!isOurs(object)) return;
    store().put(await client.replaceStatus(typeOf(GatewayAccount), object, { ...object.status, keyDigests }));
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

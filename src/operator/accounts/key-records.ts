import { createHmac, type KeyObject } from "node:crypto";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isNotFound } from "../../runtime/connection/errors.ts";
import { INTENT_KEY_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { toReconcileError } from "../kubernetes/api-error.ts";
import { secrets, typeOf } from "../kubernetes/resource-types.ts";
import type { AccountObject } from "./all-credentials.ts";
import type { Credentials, KeyRecording } from "./credentials.ts";
import { WriteTurns } from "./write-turns.ts";

/** 128 bits, as 22 characters of base64url. */
const RECORD_BYTES = 16;

/** Rotated keys that are remembered. An older one has to be proved again. */
export const MOST_RECORDS = 10;

export interface KeyRecordsOptions {
  client: Pick<KubeClient, "get" | "patchMerge" | "replaceStatus">;
  store: () => Pick<Store<AccountObject>, "get" | "put">;
  /** Where the Secret with the key of intents is. */
  namespace: string;
  /** Several installations may have that Secret in common. */
  installation: string;
  /** The key of intents: known before the first request. */
  secret: () => KeyObject;
  /** Whether this installation writes to the GatewayAccount. For others, keys are proved at each start. Default: to all. */
  isOurs?: (object: AccountObject) => boolean;
  /** Shared with all that write to GatewayAccounts. */
  turns?: WriteTurns;
}

type Holder = Pick<Credentials, "key" | "uid">;

/**
 * The records of a GatewayAccount are in its status, those of the operator's own credentials at the Secret with the key of
 * intents. A record is a digest with that secret, over base URL and GatewayAccount too: nobody else can test a guess with
 * it, or see that two namespaces have the same key.
 */
export class KeyRecords implements KeyRecording {
  readonly #options: KeyRecordsOptions;
  /** Those of the operator's own credentials, as they were read or written last. */
  #own: readonly string[] | undefined;
  readonly #turns: WriteTurns;

  constructor(options: KeyRecordsOptions) {
    this.#options = options;
    this.#turns = options.turns ?? new WriteTurns();
  }

  recordOf({ key, baseURL }: Pick<Credentials, "key" | "baseURL">, apiKey: string): string {
    const { secret, installation } = this.#options;
    const whose = key === "" ? { installation } : { account: key };
    // An object, while an intent is signed as an array: so no signature is a record of something.
    const signed = JSON.stringify({ ...whose, baseURL, apiKey: apiKey.trim() });
    return createHmac("sha256", secret()).update(signed).digest().subarray(0, RECORD_BYTES).toString("base64url");
  }

  async has(holder: Holder, record: string): Promise<boolean> {
    return (await this.#read(holder)).includes(record);
  }

  /** One after the other, since two accounts may have credentials in common for a moment. */
  add(holder: Holder, record: string, which: { alone: boolean }): Promise<void> {
    return this.#turns.run(holder.key, () => this.#add(holder, record, which));
  }

  async #add(holder: Holder, record: string, { alone }: { alone: boolean }): Promise<void> {
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
    const { client, store, isOurs = () => true } = this.#options;
    const object = this.#accountObject(key, uid);
    if (!object) throw new Outdated("the GatewayAccount is gone");
    if (!isOurs(object)) return;
    store().put(await client.replaceStatus(typeOf(GatewayAccount), object, { ...object.status, keyDigests }));
  }

  /** Without the Secret nothing is written: its key is lost, and with it what all records are worth. */
  async #writeOwn(records: readonly string[]): Promise<void> {
    const { client, namespace, installation } = this.#options;
    const { all, secret } = await this.#readOwn();
    this.#own = records;
    if (!secret) return;
    const { uid, resourceVersion } = secret;
    const annotations = { [secretAnnotations.keyDigests]: JSON.stringify({ ...all, [installation]: records }) };
    const ref = { namespace, name: INTENT_KEY_SECRET };
    try {
      await client.patchMerge(secrets, ref, { metadata: { uid, resourceVersion, annotations } });
    } catch (error) {
      this.#own = undefined;
      throw error;
    }
  }

  async #readOwn() {
    const { client, namespace, installation } = this.#options;
    const ref = { namespace, name: INTENT_KEY_SECRET };
    const read = client.get(secrets, ref, { metadataOnly: true });
    const secret = await read.catch((error: unknown) => {
      if (!isNotFound(error)) throw toReconcileError(error);
      return undefined;
    });
    const all = parsed(secret?.metadata.annotations?.[secretAnnotations.keyDigests]);
    return { all, records: all[installation] ?? [], secret: secret?.metadata };
  }
}

/** What cannot be understood proves nothing. */
function parsed(text: string | undefined): Record<string, string[]> {
  try {
    const value: unknown = JSON.parse(text ?? "{}");
    const entries = Object.entries(value ?? {}).filter(([, records]) => Array.isArray(records));
    return Object.fromEntries(entries) as Record<string, string[]>;
  } catch {
    return {};
  }
}

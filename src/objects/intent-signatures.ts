import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { KubeObject } from "../runtime/object.ts";
import { annotations } from "../schema/contract.ts";
import { formatIntent, type Intent, parseIntent } from "./intent.ts";

/** 128 bits, as 22 characters of base64url. */
const SIGNATURE_BYTES = 16;

/** An object comes back several times while it is created: as answers to writes, and as events of the watch. */
const RECENT = { max: 500, maxSize: 2 ** 18, sizeCalculation: (_: Buffer, signed: string) => signed.length };

/**
 * Signs create intents, and recognises those that this operator has written. Everybody who may edit the object can
 * write the annotation. So the signature covers cluster, kind, namespace and name of the object, and the whole intent:
 * on another object, in another cluster or after an edit it is invalid. It does not cover the uid, since an object that
 * is restored from a backup has another one.
 */
export class IntentSignatures {
  readonly #key: KeyObject;
  readonly #cluster: string;
  readonly #formerClusters: readonly string[];
  /** Signatures by what they sign. */
  readonly #recent = new LRUCache<string, Buffer>({
    ...RECENT,
    memoMethod: (signed) => createHmac("sha256", this.#key).update(signed).digest().subarray(0, SIGNATURE_BYTES),
  });

  /** `cluster`: the id in owner marks. Signatures for former clusters are valid as well. */
  constructor(key: KeyObject, cluster: string, formerClusters: readonly string[] = []) {
    this.#key = key;
    this.#cluster = cluster;
    this.#formerClusters = formerClusters;
  }

  /** The annotations with which the operator writes an intent. Null removes an annotation. */
  annotationsOf(object: KubeObject, intent: Intent): Record<string, string | null> {
    const text = formatIntent(intent);
    return {
      [annotations.createIntent]: text,
      [annotations.createIntentSignature]: intent.signed ? this.sign(object, text) : null,
    };
  }

  sign = (object: KubeObject, text: string): string =>
    this.#signature(this.#cluster, object, text).toString("base64url");

  /** Returns the object with `intent` set to the part of its annotation that can be trusted. */
  admit<T extends KubeObject>(object: T): T & { intent: Intent | undefined } {
    const intent = parseIntent(object);
    if (!intent || this.#isSigned(object)) return { ...object, intent };
    return { ...object, intent: { signed: false, last: intent.last } };
  }

  #isSigned(object: KubeObject): boolean {
    const { [annotations.createIntent]: text = "", [annotations.createIntentSignature]: given = "" } =
      object.metadata.annotations ?? {};
    const signature = Buffer.from(given, "base64url");
    if (signature.length !== SIGNATURE_BYTES) return false;
    return [this.#cluster, ...this.#formerClusters].some((cluster) =>
      timingSafeEqual(signature, this.#signature(cluster, object, text)),
    );
  }

  #signature(cluster: string, { kind, metadata: { namespace, name } }: KubeObject, text: string): Buffer {
    const signed = JSON.stringify([cluster, kind, namespace, name, text]);
    return this.#recent.memo(signed);
  }
}

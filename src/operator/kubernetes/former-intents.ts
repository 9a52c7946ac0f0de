import { wasRecordedInLifetimeOf } from "../../objects/intent.ts";
import type { IntentSignatures } from "../../objects/intent-signatures.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isConflict, isForbidden, isInvalid, isNotFound } from "../../runtime/connection/errors.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { annotations, INTENT_KEY_SECRET, secretAnnotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";
import type { Informers } from "./indexes.ts";
import { secrets, typeOf } from "./resource-types.ts";
import { StartStep } from "./start-step.ts";

/** How many objects are patched at the same time. */
const AT_A_TIME = 16;

export interface FormerIntentsOptions {
  client: Pick<KubeClient, "get" | "listAll" | "patchMerge">;
  kinds: readonly Kind[];
  informers: Informers;
  /** Empty: all. */
  watchNamespaces: readonly string[];
  /** Whether an object belongs to this installation, by its labels. */
  isOurs: (object: KubeObject) => boolean;
  /** The namespace of the Secret with the key. */
  namespace: string;
  signatures: () => IntentSignatures;
  /** This step writes only after it has resolved. */
  after?: Promise<unknown> | undefined;
  clock: Clock;
  log: Logger;
}

/**
 * Signs the intents of an earlier version that signed none. The first leader does so before its controllers start, and
 * records on the Secret of the key when all are signed. A later intent without a signature was then not written by an
 * operator. Signing an intent twice gives the same result, so the next leader can repeat the step after a crash. An
 * intent that somebody edits meanwhile does not match its signature.
 */
export class FormerIntents extends StartStep<void> {
  constructor(options: FormerIntentsOptions) {
    super({
      ...{ what: "signing the create intents of an earlier version", clock: options.clock, log: options.log },
      where: "create intents of an earlier version",
      run: async (signal) => {
        await options.after;
        await signAll(options, signal);
      },
    });
  }
}

async function signAll(options: FormerIntentsOptions, signal: AbortSignal): Promise<void> {
  const { client, clock, namespace, log, signatures } = options;
  const ref = { namespace, name: INTENT_KEY_SECRET };
  const { metadata } = await client.get(secrets, ref, { metadataOnly: true, signal });
  if (metadata.annotations?.[secretAnnotations.intentsSignedAt] !== undefined) return;
  const found = await objectsWithIntent(options, signal);
  const stranger = found.find((object) => isSigned(object) && !signatures().admit(object).intent?.signed);
  if (stranger) {
    const { kind, metadata } = stranger;
    const about = { kind, namespace: metadata.namespace, name: metadata.name };
    log.warn(about, "Signed no create intents: this one carries a signature by another key, so the key was lost");
  } else {
    const former = found.filter((object) => !isSigned(object) && wasRecordedInLifetimeOf(object));
    for (let begin = 0; begin < former.length; begin += AT_A_TIME) {
      await Promise.all(former.slice(begin, begin + AT_A_TIME).map((object) => sign(options, object, signal)));
    }
    log.info({ count: former.length }, "Signed the create intents of an earlier version");
  }
  const signedAt = { [secretAnnotations.intentsSignedAt]: clock.date().toISOString() };
  await client.patchMerge(secrets, ref, { metadata: { uid: metadata.uid, annotations: signedAt } }, { signal });
}

/** Reads from the API server: the store may not have the last writes of the previous leader yet. */
async function objectsWithIntent(
  { client, kinds, watchNamespaces, isOurs }: FormerIntentsOptions,
  signal: AbortSignal,
): Promise<KubeObject[]> {
  const found: KubeObject[] = [];
  for (const kind of kinds) {
    for (const namespace of watchNamespaces.length > 0 ? watchNamespaces : [undefined]) {
      const items = await listed(client.listAll(typeOf(kind), { namespace, metadataOnly: true, signal }));
      found.push(...items.filter((object) => isOurs(object) && hasIntent(object)));
    }
  }
  return found;
}

/**
 * A kind that is not installed has no intents. If the operator may not read a kind, its intents stay unsigned, which
 * only delays creates.
 */
async function listed(list: Promise<{ items: KubeObject[] }>): Promise<KubeObject[]> {
  try {
    return (await list).items;
  } catch (error) {
    if (isNotFound(error) || isForbidden(error)) return [];
    throw error;
  }
}

const hasIntent = ({ metadata }: KubeObject): boolean => metadata.annotations?.[annotations.createIntent] !== undefined;

const isSigned = ({ metadata }: KubeObject): boolean =>
  metadata.annotations?.[annotations.createIntentSignature] !== undefined;

async function sign(options: FormerIntentsOptions, object: KubeObject, signal: AbortSignal): Promise<void> {
  const { client, kinds, informers, signatures, log } = options;
  const { uid, annotations: given = {} } = object.metadata;
  const kind = kinds.find((one) => one.kind === object.kind) as Kind;
  const signature = signatures().sign(object, given[annotations.createIntent] ?? "");
  const patch = { metadata: { uid, annotations: { [annotations.createIntentSignature]: signature } } };
  try {
    const written = await client.patchMerge<ManagedObject>(typeOf(kind), object.metadata, patch, { signal });
    informers.get(kind.kind)?.store.put(signatures().admit(written));
  } catch (error) {
    if (isNotFound(error)) return;
    if (!isConflict(error) && !isInvalid(error)) throw error;
    const { namespace, name } = object.metadata;
    log.warn({ kind: object.kind, namespace, name, error }, "Could not sign a create intent");
  }
}

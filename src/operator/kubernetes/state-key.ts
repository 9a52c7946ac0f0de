import { createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isAlreadyExists, isForbidden, isNotFound } from "../../runtime/connection/errors.ts";
import type { Logger } from "../../runtime/log.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { STATE_SECRET } from "../../schema/contract.ts";
import { secrets } from "./resource-types.ts";
import { StartStep } from "./start-step.ts";

const KEY_BYTES = 32;

/** The member of the Secret that has the key. */
const MEMBER = "key";

type SecretObject = KubeObject & { data?: Record<string, string>; immutable?: true };

export interface StateKeyOptions {
  client: Pick<KubeClient, "get" | "create">;
  /** The operator's own namespace. */
  namespace: string;
  clock: Clock;
  log: Logger;
  random?: () => number;
}

/**
 * The key for the digests of API keys and tokens. The first process creates it in a Secret. If several processes start at once, all
 * use the key that was stored first. A Secret with an incomplete key is never replaced, because its original key is
 * unknown.
 */
export class StateKey extends StartStep<KeyObject> {
  constructor({ client, namespace, clock, log, random }: StateKeyOptions) {
    super({
      what: "the key for digests of API keys",
      clock,
      log,
      random,
      where: `Secret ${namespace}/${STATE_SECRET}`,
      async run(signal) {
        const key = await readOrMake(client, namespace, signal);
        log.info({ namespace, secret: STATE_SECRET }, "Digests of API keys are made with the key of this Secret");
        return key;
      },
    });
  }
}

type Client = StateKeyOptions["client"];

async function readOrMake(client: Client, namespace: string, signal: AbortSignal): Promise<KeyObject> {
  try {
    return keyOf((await read(client, namespace, signal)) ?? (await make(client, namespace, signal)));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    const rights = `get and patch on this Secret, and create on Secrets in namespace ${namespace}`;
    throw new Error(`grant the operator's service account ${rights}: it keeps there the key for digests of API keys`, {
      cause: error,
    });
  }
}

async function read(client: Client, namespace: string, signal: AbortSignal): Promise<SecretObject | undefined> {
  try {
    return await client.get<SecretObject>(secrets, { namespace, name: STATE_SECRET }, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

async function make(client: Client, namespace: string, signal: AbortSignal): Promise<SecretObject> {
  const secret: SecretObject = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace, name: STATE_SECRET },
    data: { [MEMBER]: randomBytes(KEY_BYTES).toString("base64") },
    immutable: true,
  };
  try {
    return await client.create(secrets, secret, { signal });
  } catch (error) {
    const others = isAlreadyExists(error) ? await read(client, namespace, signal) : undefined;
    if (!others) throw error;
    return others;
  }
}

function keyOf({ data }: SecretObject): KeyObject {
  const bytes = Buffer.from(data?.[MEMBER] ?? "", "base64");
  if (bytes.length === KEY_BYTES) return createSecretKey(bytes);
  throw new Error(
    `restore it from a backup, or delete it so that a new key is made: its member "${MEMBER}" is not a key of ${KEY_BYTES} bytes`,
  );
}

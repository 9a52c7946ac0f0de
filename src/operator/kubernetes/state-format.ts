import type { Clock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { Logger } from "../../runtime/log.ts";
import { STATE_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { secrets } from "./resource-types.ts";
import { StartStep } from "./start-step.ts";

/**
 * The format of the data that this version keeps in statuses, annotations and owner marks. Raise it with a change that
 * the previous version would misread. Once this version has led, the previous one refuses to start.
 */
export const STATE_FORMAT = 1;

/** The format of versions that did not record one. */
const FIRST_FORMAT = 1;

export interface StateFormatOptions {
  client: Pick<KubeClient, "get" | "patchMerge">;
  /** The namespace of the Secret with the key of intents. This Secret stays when a release is removed. */
  namespace: string;
  /** This step reads and writes only after it has resolved. */
  after?: Promise<unknown> | undefined;
  clock: Clock;
  log: Logger;
  /** Default: the format of this version. */
  format?: number;
}

/**
 * Prevents a return to a version that would misread data of a newer one. The leader records its format on the Secret
 * with the key for digests before its controllers start, and waits while a higher format is recorded there.
 */
export class StateFormat extends StartStep<void> {
  constructor({ client, namespace, after, clock, log, format = STATE_FORMAT }: StateFormatOptions) {
    super({
      what: "the format of what the operator keeps in objects",
      clock,
      log,
      where: `Secret ${namespace}/${STATE_SECRET}`,
      async run(signal) {
        await after;
        await agree(client, namespace, format, signal);
      },
    });
  }
}

async function agree(
  client: StateFormatOptions["client"],
  namespace: string,
  ours: number,
  signal: AbortSignal,
): Promise<void> {
  const ref = { namespace, name: STATE_SECRET };
  const { metadata } = await client.get(secrets, ref, { metadataOnly: true, signal });
  const text = metadata.annotations?.[secretAnnotations.format];
  const found = text === undefined ? FIRST_FORMAT : Number(text);
  if (!Number.isInteger(found))
    throw new Error(`correct the annotation ${secretAnnotations.format}: ${JSON.stringify(text)} is no whole number`);
  if (found > ours)
    throw new Error(
      `install the newer version of the operator again: it keeps its state in format ${found}, and this version knows only format ${ours}`,
    );
  if (found === ours) return;
  const annotations = { [secretAnnotations.format]: String(ours) };
  // Guarded by the resourceVersion that was read: if two leaders overlap, the later one has to read again.
  const { uid, resourceVersion } = metadata;
  await client.patchMerge(secrets, ref, { metadata: { uid, resourceVersion, annotations } }, { signal });
}

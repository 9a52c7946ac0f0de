import { kinds } from "../../kinds/index.ts";
import { answerOf, switchProblem } from "../../objects/annotations.ts";
import { conditionOf, isDeleting, isPaused, type ManagedObject, releasedTo, typeOf } from "../../objects/object.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { isConflict, isForbidden, isKindAbsent, isNotFound } from "../../runtime/connection/errors.ts";
import type { KubeObject, ResourceType } from "../../runtime/object.ts";
import { customResourceOf } from "../../schema/common.ts";
import { annotations } from "../../schema/contract.ts";
import { withArticle } from "../../schema/nouns.ts";
import { needsOf, targetKindsOf } from "../../schema/wire/needs.ts";
import { MISSING_CRDS } from "../cluster/objects.ts";
import { type Wait, WaitTimeout } from "../cluster/wait.ts";
import { CommandError } from "../terminal/terminal.ts";
import {
  isNear,
  kindOfReference,
  type Move,
  movedManifest,
  namedReferences,
  type Place,
  refersToMoved,
  releaseTarget,
  takesID,
  textOf,
  withLastApplied,
} from "./manifest.ts";

/** The calls to the API server that a move uses. */
export type MoveClient = Pick<KubeClient, "get" | "create" | "patchMerge" | "delete" | "listAll">;

/** The clusters of the old object and of the new one, which may be the same. */
export interface Clusters {
  client: MoveClient;
  there: MoveClient;
  move: Move;
}

export interface MoveParts extends Clusters {
  wait: Wait;
  /** Called after each step. */
  tell: (text: string) => void;
}

/** An object that refers by name to the one that moves. */
export interface Referrer {
  kind: string;
  name: string;
  /** Path of the field. */
  path: string;
}

/** The new object and its references. */
export interface Prepared {
  old: ManagedObject;
  /** The new object, if an earlier run has created it. */
  next: ManagedObject | undefined;
  manifest: KubeObject;
  /** Ids that take the place of names, since names lead to objects of the same namespace only. */
  byID: ReadonlyMap<string, string>;
}

// The next run recognises each finished step: the creation by the name and `adopt.from` of the new object, the release
// by the annotation, the take-over by `status.id` of the new object, and the deletion by the absence of the old object.

/**
 * Prepares a move. Undefined: the old object is gone because an earlier run has moved it. Throws CommandError if the
 * object cannot be moved; nothing has been changed then.
 */
export async function prepareMove({ client, there, move }: Clusters): Promise<Prepared | undefined> {
  const [old, next] = [await read(client, move, move.from), await read(there, move, move.to)];
  if (!old) {
    if (next && next.spec.adopt?.from === textOf(move.from)) return undefined;
    throw new CommandError(`There is no ${titleOf(move, move.from)}`);
  }
  refuseImmovable(move, old);
  if (next && !isNextObject(next, move, old))
    throw new CommandError(`Choose another name: ${titleOf(move, move.to)} exists already`);
  const byID = next ? new Map<string, string>() : await idsForNames({ client, there, move }, old);
  if (!next) await refuseMissingSecrets(there, move, old);
  return { old, next, manifest: movedManifest(move, old, byID), byID };
}

/** Whether the new object of an earlier run is there. */
const isNextObject = (next: ManagedObject, { from }: Move, old: ManagedObject): boolean =>
  next.spec.adopt?.from === textOf(from) || (next.status?.id !== undefined && next.status.id === old.status?.id);

function refuseImmovable(move: Move, old: ManagedObject): void {
  const problem = problemOfKind(move, old) ?? problemOfState(move, old);
  if (problem !== undefined) throw new CommandError(`${titleOf(move, move.from)}: ${problem}`);
}

function problemOfKind({ kind, to }: Move, { spec }: ManagedObject): string | undefined {
  if (!("adopt" in customResourceOf(kind).spec.shape))
    return `Create ${kind.kind} ${textOf(to)} beside it, then delete it: ${withArticle(kind.kind)} does not adopt`;
  const { field = "" } = kind.output ?? {};
  if (spec[field] === undefined) return undefined;
  return `Move it by hand: the Secret that spec.${field} names belongs to this object`;
}

function problemOfState(move: Move, old: ManagedObject): string | undefined {
  const released = releasedTo(old);
  if (old.status?.id === undefined) return "Create the new object and delete this one: it has nothing in the account";
  if (isPaused(old)) return `Remove the annotation ${annotations.paused} first`;
  // The new object does not get this annotation, so its deletion would delete the remote.
  if (answerOf(old, "orphan") === "yes") return `Remove the annotation ${annotations.orphan} first`;
  const unclear = switchProblem(old, "orphan");
  if (unclear !== undefined) return unclear;
  if (released === releaseTarget(move)) return undefined;
  if (isDeleting(old)) return "It is being deleted";
  return released && `Remove the annotation ${annotations.releaseTo} first: it names ${released}`;
}

/** The ids of what the old object refers to by name, where the new namespace has no object of that name for it. */
async function idsForNames({ client, there, move }: Clusters, old: ManagedObject) {
  const byID = new Map<string, string>();
  if (isNear(move)) return byID;
  for (const reference of namedReferences(move.kind, old.spec)) {
    const kind = kinds.find((one) => one.kind === kindOfReference(reference));
    if (!kind) continue;
    const { statusField } = reference.trait;
    const { name = "" } = reference.to;
    const same = await read(there, { kind }, { namespace: move.to.namespace, name });
    const meant = await read(client, { kind }, { namespace: move.from.namespace, name });
    const value = meant?.status?.[statusField];
    if (same && value !== undefined && same.status?.[statusField] === value) continue;
    if (value === undefined || !takesID(reference))
      throw new CommandError(
        `Move ${kind.kind}/${name} to ${whereOf(move)} first: spec.${reference.path} refers to it`,
      );
    byID.set(reference.path, String(value));
  }
  return byID;
}

const data: readonly ResourceType[] = [
  { group: "", version: "v1", plural: "secrets", kind: "Secret" },
  { group: "", version: "v1", plural: "configmaps", kind: "ConfigMap" },
];

/**
 * Refuses the move if the new namespace lacks a Secret that the spec names. If the user may not read Secrets, the new
 * object reports it later.
 */
async function refuseMissingSecrets(there: MoveClient, move: Move, { spec }: ManagedObject) {
  const { kind, to } = move;
  if (isNear(move)) return;
  const missing = new Set<string>();
  for (const need of needsOf(kind.spec, spec)) {
    const type = data.find((one) => one.kind.toLowerCase() === need.type.toLowerCase());
    if (!type || need.type === "reference") continue;
    if (await isMissing(there, type, { namespace: to.namespace, name: need.name }))
      missing.add(`${type.kind} "${need.name}"`);
  }
  if (missing.size > 0) throw new CommandError(`Create in ${whereOf(move)} first: ${[...missing].join(", ")}`);
}

async function isMissing(client: MoveClient, type: ResourceType, place: Place): Promise<boolean> {
  try {
    await client.get(type, place, { metadataOnly: true });
    return false;
  } catch (error) {
    if (isForbidden(error)) return false;
    if (isNotFound(error)) return true;
    throw error;
  }
}

/** Gives the remote to the new object, which is Ready then. The old object is still there. */
export async function handOver(parts: MoveParts, prepared: Prepared | undefined): Promise<void> {
  if (prepared) {
    if (!prepared.next) await refuseUnwanted(parts, prepared);
    // before the new object asks for the remote, which would be told that another one has it
    await release(parts, prepared);
    await createNext(parts, prepared);
  }
  await waitForTakeover(parts, prepared);
}

/** The API server says what it would refuse, before anything is changed: a missing right or a spec of another release. */
export async function refuseUnwanted({ there, move }: MoveParts, { manifest }: Prepared): Promise<void> {
  await there.create(typeOf(customResourceOf(move.kind)), manifest, { dryRun: true });
}

/** Does nothing when the new object is there. */
export async function createNext({ there, move, tell }: MoveParts, { old, manifest }: Prepared): Promise<void> {
  if (await read(there, move, move.to)) return;
  await there.create(typeOf(customResourceOf(move.kind)), withLastApplied(manifest, move, old));
  tell(`Created ${titleOf(move, move.to)}, with adopt.from: ${textOf(move.from)}`);
}

/** Does nothing when the old object is released. Nothing is written for it from then on. */
export async function release({ client, move, tell }: MoveParts, { old }: Prepared): Promise<void> {
  if (releasedTo(old) !== undefined) return;
  const { resourceVersion } = old.metadata;
  const metadata = { resourceVersion, annotations: { [annotations.releaseTo]: releaseTarget(move) } };
  await client.patchMerge(typeOf(customResourceOf(move.kind)), move.from, { metadata }).catch(changed(move));
  tell(`Released ${titleOf(move, move.from)} to ${releaseTarget(move)}`);
}

/** What a person has to put right before the new object can be Ready. To wait would not help. */
const NOT_BY_WAITING = ["AdoptionNotAllowed", "RemoteMissing", "InvalidSpec"];

/** Resolves when the new object is Ready, with the remote of the old one. */
export async function waitForTakeover({ there, move, wait, tell }: MoveParts, prepared: Prepared | undefined) {
  const old = prepared?.old;
  let seen: ManagedObject | undefined;
  const title = titleOf(move, move.to);
  const said = () => {
    const { reason, message } = conditionOf(seen?.status, "Ready") ?? {};
    return reason === undefined ? "" : `. It says ${reason}: ${message}`;
  };
  await wait(`${title} to be Ready`, async () => {
    seen = await read(there, move, move.to);
    if (!seen) throw new CommandError(`Run this again: ${title} was deleted meanwhile`);
    if (hasTaken(seen, old)) return true;
    const { reason = "", observedGeneration } = conditionOf(seen.status, "Ready") ?? {};
    // What an object of an earlier run says may be out of date.
    const isNew = prepared !== undefined && prepared.next === undefined;
    if (isNew && NOT_BY_WAITING.includes(reason) && observedGeneration === seen.metadata.generation)
      throw new CommandError(`${title} does not take ${old?.status?.id} over`);
    return false;
  }).catch((error: unknown) => {
    if (said() === "" || !(error instanceof WaitTimeout || error instanceof CommandError)) throw error;
    throw new CommandError(`${error.message}${said()}. Run this again to go on`);
  });
  tell(`${title} is Ready, and has ${seen?.status?.id}`);
}

function hasTaken({ status, metadata }: ManagedObject, old: ManagedObject | undefined): boolean {
  const ready = conditionOf(status, "Ready");
  const isRight = status?.id !== undefined && (old === undefined || status.id === old.status?.id);
  return isRight && ready?.status === "True" && ready.observedGeneration === metadata.generation;
}

/** Objects that refer by name to the one that moves. They are in its namespace. */
export async function referrersOf({ client, move }: Pick<Clusters, "client" | "move">): Promise<Referrer[]> {
  const found: Referrer[] = [];
  const { namespace } = move.from;
  for (const kind of kinds.filter(({ spec }) => targetKindsOf(spec).includes(move.kind.kind))) {
    const { items } = await client.listAll<ManagedObject>(typeOf(customResourceOf(kind)), { namespace });
    for (const object of items.filter((one) => !isDeleting(one)))
      for (const need of namedReferences(kind, object.spec).filter((one) => refersToMoved(one, move)))
        found.push({ kind: kind.kind, name: object.metadata.name, path: need.path });
  }
  return found;
}

/** Deletes the old object, whose remote stays, and waits until it is gone. To be called when nothing refers to it. */
export async function deleteOldObject({ client, move, wait, tell }: MoveParts): Promise<void> {
  const title = titleOf(move, move.from);
  const old = await read(client, move, move.from);
  if (!old) return;
  if (releasedTo(old) !== releaseTarget(move))
    throw new CommandError(`Run this again: ${title} is not released to ${releaseTarget(move)} any more`);
  const { uid, resourceVersion } = old.metadata;
  if (!isDeleting(old))
    await client.delete(typeOf(customResourceOf(move.kind)), move.from, { uid, resourceVersion }).catch(changed(move));
  await wait(`${title} to be gone`, async () => (await read(client, move, move.from))?.metadata.uid !== uid);
  tell(`Deleted ${title}; ${old.status?.id} stays in the account`);
}

const changed =
  (move: Move) =>
  (error: unknown): never => {
    if (isConflict(error) || isNotFound(error))
      throw new CommandError(`Run this again: somebody has changed ${titleOf(move, move.from)} meanwhile`);
    throw error;
  };

export const titleOf = ({ kind }: Pick<Move, "kind">, place: Place): string => `${kind.kind} ${textOf(place)}`;

/** Where the new object is to be, for people. */
const whereOf = ({ to, toContext }: Move): string =>
  `namespace ${to.namespace}${toContext === undefined ? "" : ` of context ${toContext}`}`;

/** Undefined when there is none. Throws CommandError when the cluster does not know the kind. */
export async function read(
  client: Pick<MoveClient, "get">,
  { kind }: Pick<Move, "kind">,
  place: Place,
): Promise<ManagedObject | undefined> {
  try {
    return await client.get<ManagedObject>(typeOf(customResourceOf(kind)), place);
  } catch (error) {
    if (isKindAbsent(error)) throw new CommandError(MISSING_CRDS);
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

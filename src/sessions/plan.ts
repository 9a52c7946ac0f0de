import { isDeepStrictEqual } from "node:util";
import { sessionName } from "./naming.ts";
import { isMirrored, labelsOf, type Session, type SessionLabels, type SessionObject, statusOf } from "./session.ts";

/** What to write so that the objects show the sessions that are online. Empty when they do. */
export interface MirrorPlan {
  create: { name: string; id: string; labels: Record<string, string>; status: Record<string, unknown> }[];
  /** Labels that are wrong; undefined ones are to be removed. */
  relabel: { object: SessionObject; labels: SessionLabels }[];
  restate: { object: SessionObject; status: Record<string, unknown> }[];
  remove: SessionObject[];
  /** Names that an object of somebody else's has. */
  taken: string[];
}

export interface MirrorState {
  sessions: readonly Session[];
  /** All objects of the kind in the namespace. */
  objects: readonly SessionObject[];
  /** Whether `sessions` are all that are online; otherwise nothing is removed. */
  complete: boolean;
}

/** Objects without the label of the mirror are somebody else's, and left alone. */
export function planMirror({ sessions, objects, complete }: MirrorState): MirrorPlan {
  const plan: MirrorPlan = { create: [], relabel: [], restate: [], remove: [], taken: [] };
  const present = new Map(objects.map((object) => [object.metadata.name, object]));
  const online = new Map(sessions.map((session) => [sessionName(session.id), session]));
  for (const [name, session] of online) add(plan, name, session, present.get(name));
  for (const [name, object] of present) {
    const gone = complete && !online.has(name) && isMirrored(object);
    if (gone && !object.metadata.deletionTimestamp) plan.remove.push(object);
  }
  return plan;
}

function add(plan: MirrorPlan, name: string, session: Session, object: SessionObject | undefined): void {
  const [labels, status] = [labelsOf(session), statusOf(session)];
  if (!object) {
    plan.create.push({ name, id: session.id, labels: withoutUnset(labels), status });
    return;
  }
  if (!isMirrored(object) || object.spec.id !== session.id) {
    plan.taken.push(name);
    return;
  }
  const wrong = Object.entries(labels).filter(([label, value]) => object.metadata.labels?.[label] !== value);
  if (wrong.length > 0) plan.relabel.push({ object, labels: Object.fromEntries(wrong) });
  if (!isDeepStrictEqual(object.status ?? {}, status)) plan.restate.push({ object, status });
}

const withoutUnset = (labels: SessionLabels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter((label): label is [string, string] => label[1] !== undefined));

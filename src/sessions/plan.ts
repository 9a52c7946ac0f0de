import { isDeepStrictEqual } from "node:util";
import { sessionName } from "./naming.ts";
import {
  isOf,
  labelsOf,
  type MirrorScope,
  type Session,
  type SessionLabels,
  type SessionObject,
  statusOf,
} from "./session.ts";

/** What to write so that the objects show the sessions that are online. Empty if they do. */
export interface MirrorPlan {
  create: { name: string; id: string; labels: Record<string, string>; status: Record<string, unknown> }[];
  /** Only labels that differ. An undefined one is to be removed. */
  updateLabels: { object: SessionObject; labels: SessionLabels }[];
  updateStatus: { object: SessionObject; status: Record<string, unknown> }[];
  delete: SessionObject[];
  /** Names of sessions that objects of somebody else have. */
  conflicts: string[];
}

export interface MirrorState {
  scope: MirrorScope;
  sessions: readonly Session[];
  /** All objects of the kind in the namespace. */
  objects: readonly SessionObject[];
  /** Whether `sessions` are all that are online. If not, no object is deleted. */
  complete: boolean;
}

/** Never changes an object without the mirror's labels: it belongs to somebody else, or shows another account. */
export function planMirror({ scope, sessions, objects, complete }: MirrorState): MirrorPlan {
  const plan: MirrorPlan = { create: [], updateLabels: [], updateStatus: [], delete: [], conflicts: [] };
  const present = new Map(objects.map((object) => [object.metadata.name, object]));
  const online = new Map(sessions.map((session) => [sessionName(session.id, scope.account), session]));
  for (const [name, session] of online) add(plan, { name, session, scope }, present.get(name));
  for (const [name, object] of present) {
    const gone = complete && !online.has(name) && isOf(object, scope);
    if (gone && !object.metadata.deletionTimestamp) plan.delete.push(object);
  }
  return plan;
}

interface Online {
  name: string;
  session: Session;
  scope: MirrorScope;
}

function add(plan: MirrorPlan, { name, session, scope }: Online, object: SessionObject | undefined): void {
  const [labels, status] = [labelsOf(session, scope.account), statusOf(session)];
  if (!object) {
    plan.create.push({ name, id: session.id, labels: withoutUnset(labels), status });
    return;
  }
  if (!isOf(object, scope) || object.spec.id !== session.id) {
    plan.conflicts.push(name);
    return;
  }
  const wrong = Object.entries(labels).filter(([label, value]) => object.metadata.labels?.[label] !== value);
  if (wrong.length > 0) plan.updateLabels.push({ object, labels: Object.fromEntries(wrong) });
  if (!isDeepStrictEqual(object.status ?? {}, status)) plan.updateStatus.push({ object, status });
}

const withoutUnset = (labels: SessionLabels): Record<string, string> =>
  Object.fromEntries(Object.entries(labels).filter((label): label is [string, string] => label[1] !== undefined));

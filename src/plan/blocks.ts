import { withoutSecrets } from "../account/requests/calls.ts";
import { conditionOf, type ManagedObject } from "../objects/object.ts";
import { withoutOwnerMark } from "../objects/ownership.ts";
import type { Change } from "../reconcile/context.ts";
import type { Kind } from "../schema/define.ts";
import { fromAnswer } from "../schema/wire/answer.ts";
import { isUnset } from "../schema/wire/compare.ts";
import { membersFedBy } from "../schema/wire/needs.ts";
import { type PlannedRequest, replacePlannedIDs } from "./account-copy.ts";
import { differing, type FieldChange, secretsOf } from "./field-changes.ts";
import type { PlannedObject } from "./planner.ts";

export const actions = ["create", "update", "replace", "delete", "adopt", "blocked", "waiting", "left"] as const;
export type Action = (typeof actions)[number];

/** The planned changes for one object. It contains no value of a Secret. */
export interface Block {
  action: Action;
  kind: string;
  namespace: string;
  name: string;
  /** The id of the present remote. Unset: there is none yet. */
  id?: string;
  /** Set when the remote is deleted before it is created again. */
  interrupts?: true;
  fields: FieldChange[];
  /** Method and path of each request, in the order in which they would be sent. */
  requests: string[];
  /** Why the object is not Ready in the end. */
  reason?: string;
  message?: string;
}

/** The blocks of all objects that change or cannot make progress. */
export function blocksOf(planned: readonly PlannedObject[]): Map<PlannedObject, Block> {
  const names = new Map(
    planned.flatMap(({ kind, before, changes }) =>
      changes.flatMap((change): [string, string][] =>
        change.type === "Created" ? [[change.id, `(${kind.kind}/${before.metadata.name})`]] : [],
      ),
    ),
  );
  const named = (text: string) => replacePlannedIDs(text, (id) => names.get(id) ?? id);
  const blocks = new Map<PlannedObject, Block>();
  for (const given of planned) {
    const one = { ...given, requests: given.requests.filter(({ refused }) => refused === undefined) };
    const action = actionOf(one);
    if (action) blocks.set(given, blockOf(one, action, named));
  }
  return blocks;
}

function blockOf(one: PlannedObject, action: Action, named: (text: string) => string): Block {
  const { before, after, kind, requests } = one;
  const { namespace, name } = before.metadata;
  const problem = after && problemOf(after);
  const id = before.status?.id ?? one.changes.find((change) => change.type === "Adopted")?.id;
  return {
    action,
    kind: kind.kind,
    namespace,
    name,
    ...(id !== undefined && { id }),
    ...(action === "replace" && isInterrupted(one) && { interrupts: true }),
    fields: requests.flatMap((request) => fieldsOf(one, request, named)),
    requests: requests.map(({ method, path }) => `${method} ${named(path)}`),
    ...(problem && { reason: problem.reason, message: named(problem.message) }),
  };
}

function actionOf({ requests, changes, after }: PlannedObject): Action | undefined {
  const done = new Set(changes.map(({ type }) => type));
  if (done.has("Created")) return isReplacement(changes) ? "replace" : "create";
  if (done.has("Deleted") || (requests.length > 0 && !after)) return "delete";
  if (done.has("Adopted")) return "adopt";
  if (requests.length > 0) return "update";
  return after && unfinished(after);
}

const isReplacement = (changes: readonly Change[]): boolean =>
  changes.some((change) => change.type === "Deleted" || (change.type === "Created" && change.replaces !== undefined));

/** The action of an object for which nothing can be sent: at all (blocked), or yet (waiting). Undefined: no problem. */
function unfinished(object: ManagedObject): Action | undefined {
  if (!problemOf(object)) return undefined;
  return conditionOf(object.status, "Stalled")?.status === "True" ? "blocked" : "waiting";
}

/** Whether a remote is deleted before the one that takes its place is created. */
function isInterrupted({ requests }: PlannedObject): boolean {
  const deleted = requests.findIndex(({ method }) => method === "DELETE");
  return deleted >= 0 && deleted < requests.findIndex(({ method }) => method === "POST");
}

/**
 * Why the operator has not finished with an object. Work of the service, such as issuing a certificate, does not count.
 */
function problemOf({ status }: ManagedObject): { reason: string; message: string } | undefined {
  const unmet = ["Synced", "Ready"]
    .map((type) => conditionOf(status, type))
    .find((one) => one && one.status !== "True");
  return unmet?.reason.startsWith("Certificate") ? undefined : unmet;
}

function fieldsOf(one: PlannedObject, request: PlannedRequest, named: (text: string) => string): FieldChange[] {
  const { kind, before: object, after } = one;
  const { body = {}, member } = request;
  if (request.method === "DELETE" && member === undefined) return [];
  const old = member === undefined ? fromAnswer(kind.spec, request.before ?? {}) : { [member]: request.before };
  const sent: Readonly<Record<string, unknown>> =
    member === undefined ? body : request.method === "DELETE" ? {} : { [member]: body };
  const spec = after?.spec ?? object.spec;
  const fed = new Set(membersFedBy(kind.spec, spec, ({ type }) => type === "secret"));
  const members = new Set([...Object.keys(sent), ...(member === undefined ? [] : [member])]);
  return [...members].flatMap((name): FieldChange[] => {
    if (fed.has(name)) return isUnset(sent[name]) ? [] : [{ path: name, secret: true }];
    const [from, to] = [withoutMark(name, old[name]), withoutMark(name, sent[name])];
    const changes = differing(name, from, to);
    if (changes.length === 0 && name === "metadata" && old[name] !== sent[name])
      return [{ path: name, new: "(owner mark)" }];
    return changes.map((change) => shown(change, kind, named));
  });
}

const withoutMark = (name: string, value: unknown): unknown =>
  name === "metadata" && typeof value === "string" ? withoutOwnerMark(value) : value;

function shown(change: FieldChange, kind: Kind, named: (text: string) => string): FieldChange {
  const { path } = change;
  const secrets = secretsOf(kind);
  if (path.split(/[.[\]]+/).some((part) => secrets.includes(part))) return { path, secret: true };
  return JSON.parse(named(JSON.stringify(withoutSecrets(change, secrets)))) as FieldChange;
}

import {
  configMapInvalid,
  configMapMissing,
  keyEmpty,
  keyInvalid,
  keyMissing,
  ownerKeySet,
  referenceAwaited,
  referenceDeleted,
  referenceMissing,
  referencesInCycle,
  referenceUnnamed,
  secretInvalid,
  secretMissing,
  valueInvalid,
} from "../../objects/errors/spec.ts";
import type { ManagedObject, SecretVersion } from "../../objects/object.ts";
import { hasOwnerKey } from "../../objects/ownership.ts";
import { referenceCycle, textOfCycle } from "../../objects/reference-cycle.ts";
import type { Answer, Kind } from "../../schema/define.ts";
import { membersIn, traitsOf } from "../../schema/traits.ts";
import { appliedPaths } from "../../schema/wire/applied.ts";
import { fieldOfPath, membersFedBy, type Need, needsOf, secretMemberPath } from "../../schema/wire/needs.ts";
import { type Body, type Resolved, toRequest } from "../../schema/wire/request.ts";
import type { Cluster } from "../cluster.ts";
import { refuseUnseen } from "../unseen.ts";
import { digestOf } from "./digest.ts";
import { refuseTwice } from "./once.ts";

/** What an object asks for. References and Secrets of its spec are resolved. */
export interface Desired {
  /** The whole request, with values of Secrets. Never keep it longer than one reconcile. */
  body: Body;
  /** The request without values of Secrets. Whatever is recorded of a request comes from this. */
  open: Body;
  /** Members of the request that hold values of Secrets. */
  secretMembers: ReadonlySet<string>;
  /** The Secrets whose values are in the request. */
  secrets: SecretVersion[];
  /** Digest of the request without the values of Secrets. */
  digest: string;
}

/**
 * Resolves the references, Secrets and ConfigMaps of a spec, and shapes the request. Throws Waiting while one of them is
 * missing or unfit, so that nothing is sent before. Throws Blocked for what only an edit corrects: the owner mark, an
 * invalid value, a value twice, a cycle. Errors of the Kubernetes API pass through.
 */
export async function resolveDesired(kind: Kind, object: ManagedObject, cluster: Cluster): Promise<Desired> {
  refuseOwnerKey(object);
  refuseInvalidValues(kind, object);
  const needs = needsOf(kind.spec, object.spec);
  const references = await resolveReferences(needs, object, cluster);
  refuseTwice(kind.spec, object.spec, references);
  const { secrets, values } = await readSecrets(needs, object, cluster);
  refuseInvalidSecrets(kind, object, values);
  refuseInvalidKeys(needs, new Map<string, unknown>([...references, ...values]));
  const open = toRequest(kind.spec, object.spec, references);
  return {
    body: values.size === 0 ? open : toRequest(kind.spec, object.spec, new Map([...references, ...values])),
    open,
    secretMembers: new Set(membersFedBy(kind.spec, object.spec, ({ type }) => type === "secret")),
    secrets,
    digest: digestOf(open),
  };
}

/**
 * Throws Blocked when the spec sets the owner mark: only the operator may. Text that is too long for another mark would
 * be sent with the one that it has.
 */
function refuseOwnerKey({ spec }: ManagedObject): void {
  if (!hasOwnerKey(spec["metadata"])) return;
  throw ownerKeySet({});
}

/** Throws Blocked for a text of which no rule of the schema can tell that it is none of those that it should be. */
function refuseInvalidValues({ spec: schema }: Kind, { spec }: ManagedObject): void {
  for (const [field, member] of membersIn(schema)) {
    const value = spec[field];
    const problem = typeof value === "string" ? traitsOf(member).problemOfValue?.(value) : undefined;
    if (problem !== undefined) throw valueInvalid({ path: field, problem });
  }
}

/** The request without the values of Secrets, for an object that only compares and must not read Secrets. */
export async function resolveWithoutSecrets(kind: Kind, object: ManagedObject, cluster: Cluster): Promise<Body> {
  const needs = needsOf(kind.spec, object.spec);
  return toRequest(kind.spec, object.spec, await resolveReferences(needs, object, cluster));
}

async function resolveReferences(needs: readonly Need[], object: ManagedObject, cluster: Cluster): Promise<Resolved> {
  const values = new Map<string, unknown>();
  for (const need of needs) {
    if (need.type === "reference") values.set(need.path, resolveReference(need, object, cluster));
    if (need.type === "configMap") values.set(need.path, await readConfigMap(need, object, cluster));
  }
  return values;
}

function resolveReference(
  need: Extract<Need, { type: "reference" }>,
  object: ManagedObject,
  cluster: Cluster,
): unknown {
  const { to, trait, path } = need;
  if (to.id !== undefined) return to.id;
  const kind = to.kind ?? trait.kinds[0] ?? "";
  const { name } = to;
  // A later version of the definition may have dropped the only member that a stored object has set.
  if (name === undefined) throw referenceUnnamed({ path, kind });
  const target = cluster.get(kind, object.metadata.namespace, name);
  if (!target) refuseMissing(cluster, { kind, name, namespace: object.metadata.namespace }, path);
  if (target.metadata.deletionTimestamp) throw referenceDeleted({ path, kind, name });
  const value = target.status?.[trait.statusField];
  if (value === undefined || value === "") {
    refuseCycle(object, cluster);
    throw referenceAwaited({ path, kind, name });
  }
  return value;
}

/**
 * Throws Blocked if the object waits for itself. Whether the service takes such references is not known: the API page
 * does not forbid them, and two objects that exist can be made to refer to each other.
 */
function refuseCycle(object: ManagedObject, cluster: Cluster): void {
  const cycle = referenceCycle(object, cluster);
  if (cycle) throw referencesInCycle({ cycle: textOfCycle(cycle) });
}

/** Throws Waiting: nobody can read whether the object exists, or it does not exist. */
function refuseMissing(
  cluster: Cluster,
  { kind, namespace, name }: { kind: string; namespace: string; name: string },
  path: string,
): never {
  refuseUnseen(cluster, kind, "ReferenceNotReady", `spec.${path} refers to "${name}"`, namespace);
  throw referenceMissing({
    path,
    kind,
    name,
    isDefined: cluster.reading.visibilityOf(kind, namespace) !== "NotDefined",
  });
}

type SecretNeed = Extract<Need, { type: "secret" | "configMap" }>;

async function readConfigMap(
  { name, key, path }: SecretNeed,
  { metadata }: ManagedObject,
  cluster: Cluster,
): Promise<string> {
  const data = await cluster.secrets.configMap(metadata.namespace, name);
  const value = data?.[key];
  if (value) return value;
  throw configMapMissing({ path, name, key: data && key }, { afterSeconds: 10 });
}

async function readSecrets(
  needs: readonly Need[],
  object: ManagedObject,
  cluster: Cluster,
): Promise<{ secrets: SecretVersion[]; values: ReadonlyMap<string, string> }> {
  const values = new Map<string, string>();
  const wanted = needs.filter((need): need is SecretNeed => need.type === "secret");
  const names = [...new Set(wanted.map(({ name }) => name))].sort();
  const secrets: SecretVersion[] = [];
  for (const name of names) {
    const secret = await cluster.secrets.read(object.metadata.namespace, name);
    const needed = wanted.filter((need) => need.name === name);
    if (!secret) throw secretMissing({ name, field: fieldOfPath(needed[0]?.path ?? "") });
    for (const { key, path } of needed) values.set(path, keyValue(secret.data, name, key, path));
    const keys = Object.fromEntries(needed.map(({ key, path }) => [path, key]));
    secrets.push({ name, resourceVersion: secret.resourceVersion, keys });
  }
  return { secrets, values };
}

/** Throws Waiting when the content of a Secret is invalid. The remote keeps its value until the Secret is corrected. */
function refuseInvalidSecrets(
  { spec: schema }: Kind,
  { spec }: ManagedObject,
  values: ReadonlyMap<string, string>,
): void {
  if (values.size === 0) return;
  for (const [field, member] of membersIn(schema)) {
    const { secretName } = traitsOf(member);
    if (!secretName?.problemOf || spec[field] === undefined) continue;
    const data = Object.entries(secretName.members).map(([name, { key }]) => [
      key,
      values.get(secretMemberPath(field, name)) ?? "",
    ]);
    const problem = secretName.problemOf(Object.fromEntries(data));
    if (problem !== undefined) throw secretInvalid({ name: String(spec[field]), problem });
  }
}

/** Like `refuseInvalidSecrets`, for the value of one key. */
function refuseInvalidKeys(needs: readonly Need[], values: ReadonlyMap<string, unknown>): void {
  for (const need of needs) {
    if (need.type === "reference") continue;
    const problem = need.problemOf?.(values.get(need.path) as string);
    if (problem === undefined) continue;
    const { type, name, key } = need;
    throw (type === "secret" ? keyInvalid : configMapInvalid)({ name, key, problem });
  }
}

function keyValue(data: Readonly<Record<string, string>>, name: string, key: string, path: string): string {
  const value = data[key];
  if (value === undefined) throw keyMissing({ name, key, field: fieldOfPath(path) });
  if (value === "") throw keyEmpty({ name, key });
  return value;
}

/** Spec fields that this object sets on the remote once this spec is sent. */
export const appliedFields = (kind: Kind, spec: Answer): string[] => appliedPaths(kind.spec, spec);

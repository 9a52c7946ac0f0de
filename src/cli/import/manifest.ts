import type { Remote } from "../../gateway/resource.ts";
import { withoutOwnerMark } from "../../objects/ownership.ts";
import { refusalsOf } from "../../schema/admission.ts";
import { customResourceOf } from "../../schema/common.ts";
import { API_VERSION } from "../../schema/contract.ts";
import type { Answer, Kind } from "../../schema/define.ts";
import { hostport } from "../../schema/hosts.ts";
import { type ReferenceTrait, traitsOf } from "../../schema/traits.ts";
import { fromAnswer } from "../../schema/wire/answer.ts";
import { snakeCase } from "../../schema/wire/names.ts";
import { type SpecSources, toSpec } from "../../schema/wire/spec.ts";
import { kubernetesYAML, streamOf } from "../terminal/kubernetes-yaml.ts";
import { wrapped } from "../terminal/wrapped.ts";

/** One remote that is imported, with the name of its object. */
export interface Imported {
  kind: Kind;
  name: string;
  remote: Remote;
}

export interface ManifestOptions {
  namespace?: string | undefined;
  accountRef?: string | undefined;
  /** Write owner marks into the account. Otherwise objects only observe. */
  mark: boolean;
}

/** A Secret that an object reads. The account does not show what has to be in it. */
export interface NeededSecret {
  name: string;
  /** Values by key. Undefined: not known, so a person has to fill it in. */
  data: Record<string, string | undefined>;
  usedBy: string;
}

export interface Manifest {
  kind: string;
  name: string;
  yaml: string;
  secrets: NeededSecret[];
  /** Fields that were left out because no object can have the value in the account. */
  leftOut: string[];
  /** Why the API server would refuse the object. Undefined: it would not. */
  refusal: string | undefined;
}

/** Finds the imported object that a reference can name. */
export type Lookup = (value: string, trait: ReferenceTrait) => object | undefined;

/** Finds objects by their ids, and by the other members that references send, such as addresses. */
export function lookupOf(imported: readonly Imported[]): Lookup {
  const byValue = new Map<string, Imported>();
  for (const one of imported) {
    for (const field of ["id", ...Object.keys(one.kind.status.shape)]) {
      const value = one.remote[snakeCase(field)];
      if (typeof value === "string" && value !== "") byValue.set(keyOf(one.kind.kind, field, value), one);
    }
  }
  return (value, { kinds, statusField }) => {
    const kind = kinds.find((candidate) => byValue.has(keyOf(candidate, statusField, value)));
    const found = kind && byValue.get(keyOf(kind, statusField, value));
    if (!found) return undefined;
    return kinds.length > 1 ? { kind, name: found.name } : { name: found.name };
  };
}

/** Ids differ by case, and addresses do not. */
const keyOf = (kind: string, field: string, value: string): string =>
  `${kind} ${field} ${field === "id" ? value : hostport(value)}`;

/** The manifest of an object that adopts the remote as it is, so that applying it changes nothing but the owner mark. */
export function manifestOf({ kind, name, remote }: Imported, reference: Lookup, options: ManifestOptions): Manifest {
  const needs = new Map<string, NeededSecret>();
  const usedBy = `${kind.kind}/${name}`;
  const need = (key: string, value?: string): string => {
    const secret = `${kind.kind.toLowerCase()}-${name}`;
    const known = needs.get(secret) ?? { name: secret, data: {}, usedBy };
    needs.set(secret, { ...known, data: { ...known.data, [key]: value } });
    return secret;
  };
  const answer = { ...remote, metadata: withoutOwnerMark(textOf(remote["metadata"])) };
  const body = fromAnswer(kind.spec, answer);
  const sources: SpecSources = {
    reference,
    secretKey: (path) => {
      const key = path.replace(/Ref$/, "").replaceAll(/[^-._a-zA-Z0-9]/g, "-");
      return { name: need(key), key };
    },
    secretName: (_, members) => {
      const names = Object.entries(members).map(([member, { key }]) => need(key, textOf(body[member])));
      return names[0] ?? name;
    },
  };
  const { spec, leftOut } = toSpec(kind.spec, body, sources);
  const secrets = [...needs.values()];
  const observes = secrets.length > 0 || !options.mark;
  const object = {
    apiVersion: API_VERSION,
    kind: kind.kind,
    metadata: { name, ...(options.namespace && { namespace: options.namespace }) },
    spec: {
      ...(options.accountRef && { accountRef: { name: options.accountRef } }),
      ...identityOf(kind, remote),
      ...(observes && { managementPolicy: "ObserveOnly" }),
      deletionPolicy: "Retain",
      ...spec,
      ...(kind.output && requiredOutput(kind, name)),
    },
  };
  return {
    kind: kind.kind,
    name,
    secrets,
    leftOut,
    refusal: refusalOf(kind, object),
    yaml: kubernetesYAML(object, { above: notesOf(secrets, leftOut) }),
  };
}

/** A name has the form of one by `namesOf`, unless nothing of an id can be in a name. */
function refusalOf(kind: Kind, { metadata: { name }, spec }: { metadata: { name: string }; spec: object }) {
  if (name === "") return "no name can be made of its id";
  const { spec: schema, rules } = customResourceOf(kind);
  const [first] = refusalsOf(schema, spec, rules);
  return first && `${["spec", first.path].filter(Boolean).join(".")} ${first.message}`;
}

/** Manifests of those that can be objects, and what cannot. An object refers by name to none that is left out. */
export function manifestsOf(imported: readonly Imported[], options: ManifestOptions) {
  const refused: Manifest[] = [];
  for (let kept = imported; ; ) {
    const reference = lookupOf(kept);
    const all = kept.map((one) => ({ one, manifest: manifestOf(one, reference, options) }));
    const good = all.filter(({ manifest }) => manifest.refusal === undefined);
    if (good.length === all.length) return { manifests: all.map(({ manifest }) => manifest), refused };
    refused.push(...all.flatMap(({ manifest }) => (manifest.refusal === undefined ? [] : manifest)));
    kept = good.map(({ one }) => one);
  }
}

/** Names the remote: by `adopt`, or in the fields that are its id. */
function identityOf({ location }: Kind, { id }: Answer): object {
  if (location.type === "collection") return { adopt: { id } };
  const parts = String(id).split("/");
  return Object.fromEntries(location.idFields.map((field, index) => [field, parts[index]]));
}

/**
 * Fills a required output field. The operator writes no Secret for an adopted remote: its value was shown only once, to
 * whoever created it.
 */
function requiredOutput({ kind, output, spec }: Kind, name: string): object {
  const field = output?.field ?? "";
  const schema = spec.shape[field];
  const isRequired = schema && traitsOf(schema).notInBody === true && !schema.safeParse(undefined).success;
  return isRequired ? { [field]: `${kind.toLowerCase()}-${name}` } : {};
}

/** The width of a comment, so that a line with it has 80 characters at most. */
const COMMENT = 78;

function notesOf(secrets: readonly NeededSecret[], leftOut: readonly string[]): string[] {
  const notes = [
    ...secrets.map(
      ({ name }) => `Only observed, until you fill in Secret ${name}: then remove the line with managementPolicy.`,
    ),
    ...leftOut.map((path) => `Left out, since the account has a value that no spec can have: spec.${path}`),
  ];
  return notes.flatMap((note) => wrapped(note, COMMENT));
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Secrets to be filled in, as manifests. */
export const secretsYAML = (secrets: readonly NeededSecret[], namespace: string | undefined): string =>
  streamOf(secrets.map((secret) => secretYAML(secret, namespace)));

function secretYAML({ name, data, usedBy }: NeededSecret, namespace: string | undefined): string {
  const entries = Object.entries(data);
  const object = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name, ...(namespace && { namespace }) },
    ...("tls.key" in data && { type: "kubernetes.io/tls" }),
    stringData: Object.fromEntries(entries.map(([key, value = ""]) => [key, value])),
  };
  const empty = entries.filter(([, value]) => value === undefined).map(([key]) => ["stringData", key]);
  return kubernetesYAML(object, {
    above: [`${usedBy} reads it.`],
    behind: empty.map((keys) => [keys, "fill in"] as const),
  });
}

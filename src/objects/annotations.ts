import { isDeepStrictEqual } from "node:util";
import type { KubeObject } from "../runtime/object.ts";
import { ACCOUNT_KIND, annotations, GROUP } from "../schema/contract.ts";

// The one reader of what people write into the annotations of an object. What it cannot understand is told by
// `annotationProblems`, and never taken for a no.

type Annotated = { metadata: Pick<KubeObject["metadata"], "annotations" | "labels"> };

/** `unclear`: somebody may mean yes. */
export type Answer = "yes" | "no" | "unclear";

/** Annotations that say yes or no. */
const switches = ["paused", "orphan"] as const;
export type Switch = (typeof switches)[number];

/** What each switch does until a person has written what is meant. */
const UNTIL_THEN: Record<Switch, string> = {
  paused: "the object is left alone until then",
  orphan: "the remote is not deleted until then",
};

const PREFIX = `${GROUP}/`;

/** What nobody can mean as a yes, in the words of YAML, Go and people. */
const NO: ReadonlySet<string> = new Set(["false", "f", "no", "n", "off", "0"]);

const isNo = (value: string): boolean => NO.has(value.trim().toLowerCase());

/** The value of an annotation that is no switch. */
export const annotationOf = ({ metadata }: Annotated, name: Exclude<keyof typeof annotations, Switch>) =>
  metadata.annotations?.[annotations[name]];

/**
 * What a switch says. "true" is a yes. A value that is no plain no, or the switch under another spelling or as a label,
 * is unclear.
 */
export function answerOf(object: Annotated, name: Switch): Answer {
  const value = object.metadata.annotations?.[annotations[name]];
  if (value === "true") return "yes";
  return value !== undefined && !isNo(value) ? "unclear" : misplaced(object, name) ? "unclear" : "no";
}

/** A label or another spelling that may be meant as this switch. */
function misplaced({ metadata }: Annotated, name: Switch): string | undefined {
  const [wanted, written] = [annotations[name], metadata.annotations?.[annotations[name]]];
  // A plain "false" in the right place says what is meant.
  if (written !== undefined) return undefined;
  const isMeant = ([key, value]: [string, string]): boolean => key.toLowerCase() === wanted && !isNo(value);
  const other = Object.entries(metadata.annotations ?? {}).find(isMeant);
  if (other) return `the annotation ${other[0]}`;
  const label = Object.entries(metadata.labels ?? {}).find(isMeant);
  return label && `the label ${label[0]}`;
}

/** What a person should write for a switch that is unclear. Undefined if it is clear. */
export function switchProblem(object: Annotated, name: Switch): string | undefined {
  if (answerOf(object, name) !== "unclear") return undefined;
  const place = misplaced(object, name);
  if (place !== undefined)
    return `Write it as the annotation ${annotations[name]} instead: ${place} has no effect, and ${UNTIL_THEN[name]}`;
  const value = JSON.stringify(object.metadata.annotations?.[annotations[name]]?.slice(0, 40));
  return `Write "true" or "false" in the annotation ${annotations[name]}: ${value} is neither, and ${UNTIL_THEN[name]}`;
}

/** `<namespace>/<name>`, or `<cluster>/<namespace>/<name>`. */
const OBJECT_NAME = /^[^/\s]+(\/[^/\s]+){1,2}$/;

const known: ReadonlySet<string> = new Set(Object.values(annotations));

/** Annotations that mean something on a GatewayAccount. */
const ofAccount: ReadonlySet<string> = new Set([
  annotations.orphan,
  annotations.reconcileRequestedAt,
  annotations.uninstalling,
]);

/** What is wrong with the annotations that a person has set on an object, a sentence for each, with what to do. */
export function annotationProblems(object: Annotated & Pick<KubeObject, "kind">): string[] {
  const names = Object.keys(object.metadata.annotations ?? {}).filter((name) => name.startsWith(PREFIX));
  const isAccount = object.kind === ACCOUNT_KIND;
  const target = annotationOf(object, "releaseTo");
  return [
    ...switches.flatMap((name) => (isAccount && name === "paused" ? [] : (switchProblem(object, name) ?? []))),
    ...(target !== undefined && !isAccount && !OBJECT_NAME.test(target)
      ? [`Write <namespace>/<name> in the annotation ${annotations.releaseTo}: it names no object`]
      : []),
    ...names.flatMap((name) => meaningless(name, object.kind)),
  ];
}

function meaningless(name: string, kind: string): string[] {
  if (kind === ACCOUNT_KIND && known.has(name))
    return ofAccount.has(name) ? [] : [`Remove the annotation ${name}: it has no effect on a ${kind}`];
  const isSpelling = switches.some((one) => annotations[one] === name.toLowerCase());
  if (known.has(name) || isSpelling) return [];
  return [`Correct or remove the annotation ${name}: the operator knows no such name, and it has no effect`];
}

/** Whether a person has changed something that the operator looks at: not the status, and not other metadata. */
export function isEdited(old: KubeObject, object: KubeObject): boolean {
  const relevant = ({ metadata }: KubeObject) => [
    metadata.generation,
    metadata.deletionTimestamp,
    writtenForOperator({ metadata }),
  ];
  return !isDeepStrictEqual(relevant(old), relevant(object));
}

/** What of an object's metadata people write for the operator: a change of it is looked at. */
export const writtenForOperator = ({ metadata }: Annotated): Record<string, string> =>
  Object.fromEntries(
    [...Object.entries(metadata.labels ?? {}), ...Object.entries(metadata.annotations ?? {})].filter(
      ([name]) => name.toLowerCase().startsWith(PREFIX) && !written.has(name),
    ),
  );

/** Annotations that the operator writes itself. */
const written: ReadonlySet<string> = new Set([annotations.createIntent]);

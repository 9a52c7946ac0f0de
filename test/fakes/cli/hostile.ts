// Texts of strangers, for what shows them.

export const FORGED = "Plan: nothing to do";

/** Escape sequences of terminals in both forms, line ends of each kind, and a turn of the direction of text. */
export const HOSTILE = `\x1b[2J\x1b]0;t\x07\r\n${FORGED}\n\u2028${FORGED}\u2029\u0085${FORGED}\u009b31m\u202e\u2066\ufeff\x7f"`;

/** What the API server keeps to a form of its own, and what leads from one answer to the next. */
const FIXED = new Set([
  ...["apiVersion", "kind", "name", "namespace", "uid", "resourceVersion", "type", "status", "reason"],
  ...["lastTransitionTime", "lastTimestamp", "firstTimestamp", "creationTimestamp", "renewTime", "acquireTime"],
  ...["uri", "next_page_uri", "gitVersion", "involvedObject", "annotations", "finalizers", "components"],
]);

/** The value with the hostile text behind each text in it, the same everywhere, so that ids still lead to each other. */
export function hostile(value: unknown, text = HOSTILE): unknown {
  // an owner mark stays one
  if (typeof value === "string") return value.startsWith("{") ? value : `${value}${text}`;
  if (Array.isArray(value)) return value.map((one) => hostile(one, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, isKept(name, one) ? one : hostile(one, text)]),
  );
}

const LONG = " long".repeat(20_000);

/** An answer of the service, not of Kubernetes, with a hundred kilobytes behind each text that is no id. */
export function withLongTexts(body: object): object {
  const isOfKubernetes = ["apiVersion", "kind", "items", "gitVersion", "groups", "components"].some(
    (name) => name in body,
  );
  return isOfKubernetes ? body : (lengthened(body) as object);
}

function lengthened(value: unknown, name = ""): unknown {
  const isFixed = /(^|_)(ids?|uri|region|type|format|backends?)$/.test(name);
  if (typeof value === "string") return isFixed || value.startsWith("{") ? value : `${value}${LONG}`;
  if (Array.isArray(value)) return value.map((one) => lengthened(one, name));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, lengthened(one, name)]));
}

const isKept = (name: string, value: unknown): boolean =>
  FIXED.has(name) && !(name === "status" && typeof value === "object");

import { apiAwaited, rightMissing, writeRefused, writeTooLarge } from "../../objects/errors/kubernetes.ts";
import { isReconcileError, Outdated } from "../../objects/reconcile-error.ts";
import { isConflict, isFailedTest, isUnreachable, KubeError } from "../../runtime/connection/errors.ts";

/** How an answer of the API server may be told. */
interface Telling {
  /** What was to be written. Default: the object. */
  what?: string;
  /** Set for writes of values that nobody may read: the answer could quote them, so that only field names are told. */
  quotesSecrets?: boolean;
}

/** Seconds until a write that the API server refused is tried again. What makes room may be done to others' metadata. */
const REFUSED_SECONDS = 300;

/** The ReconcileError or Outdated for a failure of the API server. Any other error is returned as it is. */
export function toReconcileError(error: unknown, telling: Telling = {}): unknown {
  if (isReconcileError(error)) return error;
  if (isConflict(error) || isFailedTest(error)) return new Outdated("the object has changed", { cause: error });
  if (isUnreachable(error)) return apiAwaited({ answer: error.message }, { cause: error });
  if (!(error instanceof KubeError)) return error;
  const { what = "the object" } = telling;
  const answer = wordsOf(error, telling);
  const [soon, later] = [{ cause: error }, { cause: error, afterSeconds: REFUSED_SECONDS }];
  if (isOutOfRoom(error)) return writeTooLarge({ what, answer }, later);
  if (isMissingRight(error)) return rightMissing({ answer }, soon);
  return isTemporary(error) ? apiAwaited({ answer }, soon) : writeRefused({ what, answer }, later);
}

/**
 * The limits of the API server: on all annotations together, on a request, and on what etcd stores. The last ones come
 * with status 500.
 */
const isOutOfRoom = ({ status, message, causes }: KubeError): boolean =>
  status === 413 ||
  /request is too large|larger than max/.test(message) ||
  causes.some(({ field, message: text }) => field === "metadata.annotations" && text?.startsWith("Too long") === true);

/** A 403 of an authorizer, in its words. Admission refuses with 403 too. */
const isMissingRight = ({ status, message }: KubeError): boolean =>
  status === 403 && (/ cannot [a-z]+ resource /.test(message) || !/admission|denied|quota|polic/i.test(message));

/** 404: what the write needs, such as its namespace, may come; the object itself is asked for elsewhere. */
const isTemporary = ({ status }: KubeError): boolean =>
  status >= 500 || status < 400 || [401, 404, 408, 409, 429].includes(status);

/** The words of the API server about an answer, each once. Values that it quotes are left out. */
export function wordsOf(
  { status, message, reason, causes }: KubeError,
  { quotesSecrets = false }: Telling = {},
): string {
  if (quotesSecrets) {
    const fields = new Set(causes.flatMap(({ field }) => (isField(field) ? field : [])));
    return fields.size > 0 ? [...fields].join(", ") : `${reason ?? "no reason"} (status ${status})`;
  }
  const told = causes.filter(({ field }) => field !== NO_FIELD);
  const words = (told.length > 0 ? told : causes).map(({ field, message: text }) =>
    [isField(field) ? field : undefined, text && withoutValue(text)].filter((part) => part !== undefined).join(": "),
  );
  const distinct = [...new Set(words)].filter((one) => one !== "");
  return distinct.length > 0 ? distinct.join("; ") : message;
}

/** The field of a cause that is about no field, such as a rule that could not be evaluated. */
const NO_FIELD = "<nil>";

const isField = (field: string | undefined): field is string =>
  field !== undefined && field !== "" && field !== NO_FIELD;

/** `Invalid value: "a": must be short` without the value, which people may want to keep to themselves. */
const withoutValue = (text: string): string =>
  text.replace(/^(Invalid value|Unsupported value|Duplicate value): (?:"(?:[^"\\]|\\.)*"|[^:"]*)(?:: |$)/, (_, kind) =>
    kind === "Invalid value" ? "" : `${kind}: `,
  ) || "Invalid value";

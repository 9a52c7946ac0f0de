import type * as z from "zod";
import { isDeleting } from "../../objects/object.ts";
import { membersFedBy, needsOf } from "../../schema/wire/needs.ts";
import { type Body, toRequest } from "../../schema/wire/request.ts";
import type { ReconcileContext } from "../context.ts";
import { resolveDesired } from "./desired.ts";

/** The values that identify the remote of an object, and the spec fields from which they come. */
export interface Expected {
  body: Body;
  fields: string[];
}

export async function expectedOf(context: ReconcileContext): Promise<Expected> {
  const { kind, object, cluster } = context;
  if (!isDeleting(object)) {
    return { body: (await resolveDesired(kind, object, cluster)).body, fields: Object.keys(kind.spec.shape) };
  }
  const fields = plainFields(context);
  return { body: plainBody(context, fields), fields };
}

/**
 * The values that an interrupted create sent: `sent` from its intent, plus the present values of the Secrets of the
 * spec, which no intent contains. Without those, the remote of somebody else could match. The Secrets of an object that
 * is being deleted may be gone.
 */
export async function expectedOfIntent(context: ReconcileContext, sent: Body): Promise<Expected> {
  const { kind, object, cluster } = context;
  const fields = Object.keys(kind.spec.shape);
  const isFed = membersFedBy(kind.spec, object.spec, ({ type }) => type === "secret").length > 0;
  if (isDeleting(object) || !isFed) return { body: sent, fields };
  const { body, secretMembers } = await resolveDesired(kind, object, cluster);
  const now = Object.fromEntries([...secretMembers].map((member) => [member, body[member]]));
  return { body: { ...now, ...sent }, fields };
}

/** Fields without references and Secrets, which may be gone already when the object is being deleted. */
const plainFields = ({ kind, object }: ReconcileContext): string[] =>
  Object.entries(kind.spec.shape)
    .filter(([field, schema]) => needsOf(schema as z.ZodType, object.spec[field]).length === 0)
    .map(([field]) => field);

const plainBody = ({ kind, object }: ReconcileContext, fields: readonly string[]): Body =>
  toRequest(kind.spec, Object.fromEntries(fields.map((field) => [field, object.spec[field]])), new Map());

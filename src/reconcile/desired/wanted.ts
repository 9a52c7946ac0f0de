import type * as z from "zod";
import { isDeleting } from "../../objects/object.ts";
import { needsOf } from "../../schema/wire/needs.ts";
import { type Body, toRequest } from "../../schema/wire/request.ts";
import type { Pass } from "../context.ts";
import { desire } from "./desired.ts";

/** What an object's remote is to be like, in these fields of the spec. */
export interface Wanted {
  body: Body;
  fields: string[];
}

export async function wantedOf(pass: Pass): Promise<Wanted> {
  const { kind, object, cluster } = pass;
  if (!isDeleting(object)) {
    return { body: (await desire(kind, object, cluster)).body, fields: Object.keys(kind.spec.shape) };
  }
  const fields = plainFields(pass);
  return { body: plainBody(pass, fields), fields };
}

/** What an object that is being deleted is known by: its references and Secrets may be gone already. */
const plainFields = ({ kind, object }: Pass): string[] =>
  Object.entries(kind.spec.shape)
    .filter(([field, schema]) => needsOf(schema as z.ZodType, object.spec[field]).length === 0)
    .map(([field]) => field);

const plainBody = ({ kind, object }: Pass, fields: readonly string[]): Body =>
  toRequest(kind.spec, Object.fromEntries(fields.map((field) => [field, object.spec[field]])), new Map());

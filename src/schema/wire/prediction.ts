import * as z from "zod";
import { type Resource, updateMembers } from "../../gateway/resource.ts";

type Members = Record<string, unknown>;

/**
 * Members whose name ends in `_id` and that answers repeat as they are. For any other `x_id` the answer has `x`, an
 * object with the id, and for `x_ids` it has `xs`, a list of them.
 */
const unmanagedIDs = ["client_id", "cloud_access_key_id"];

/** Members with keys that the user chooses. */
const freeForm = ["labels", "headers", "config", "backends"];

/** The predicted answer to a create with this body. Unset members are null. */
export function answerTo(resource: Resource, body: Members): Members {
  const unset = Object.fromEntries(Object.keys(resource.wire.shape).map((member) => [member, null]));
  return { ...unset, ...shown(resource, body) };
}

/**
 * The predicted remote after an update, by the strictest reading of the API page: an omitted list or map becomes empty,
 * an omitted module stays.
 */
export function updated(resource: Resource, row: Members, body: Members): Members {
  const emptied = updateMembers(resource).filter(
    (member) => !(member in body) && isCollection(resource, nameInAnswer(resource, member)),
  );
  return {
    ...row,
    ...Object.fromEntries(emptied.map((member) => [nameInAnswer(resource, member), null])),
    ...shown(resource, body),
  };
}

function shown(resource: Resource, body: Members): Members {
  const members = Object.entries(body).filter(([member]) => !resource.secrets.includes(member));
  return Object.fromEntries(
    members.map(([member, value]) => [nameInAnswer(resource, member), answer(resource, member, value)]),
  );
}

function answer(resource: Resource, member: string, value: unknown): unknown {
  if (freeForm.includes(member)) return value;
  if (nameInAnswer(resource, member) !== member && value !== null)
    return Array.isArray(value) ? value.map(ref) : ref(value);
  if (Array.isArray(value)) return value.map((item) => answer(resource, "", item));
  if (typeof value !== "object" || value === null) return value;
  return shown(resource, value as Members);
}

const ref = (id: unknown): Members => ({ id, uri: `https://service.test/${id}` });

function nameInAnswer({ wire }: Resource, member: string): string {
  if (unmanagedIDs.includes(member) || member in wire.shape) return member;
  if (member.endsWith("_ids")) return `${member.slice(0, -"_ids".length)}s`.replace(/ys$/, "ies");
  return member.endsWith("_id") ? member.slice(0, -"_id".length) : member;
}

function isCollection({ wire }: Resource, member: string): boolean {
  let schema = wire.shape[member] as z.ZodType;
  while (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) schema = schema.unwrap() as z.ZodType;
  return schema instanceof z.ZodArray || schema instanceof z.ZodRecord;
}

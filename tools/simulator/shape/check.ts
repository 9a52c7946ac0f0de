import { invalid } from "../http/refusal.ts";
import { isMembers, type Members } from "./members.ts";

/** Tells whether there is something of an id. */
export interface Lookup {
  find(id: unknown): unknown;
}

/** Answers the value as it is stored, or refuses it, naming where it stands. */
export type Check = (value: unknown, at: string, store: Lookup) => unknown;

export interface Field {
  readonly check: Check;
  readonly required?: true;
  /** Not accepted on update. */
  readonly createOnly?: true;
  /** Not accepted on create. */
  readonly updateOnly?: true;
  /** What it is when a create, or the object it is a member of, leaves it out. */
  readonly initial?: unknown;
  /** What it becomes when an update leaves it out; absent: it stays as it was. */
  readonly whenOmitted?: unknown;
  /** Null means: not given. */
  readonly nullable?: true;
}

export type Fields = Readonly<Record<string, Field>>;

/** The given members, checked. Refuses any that is not a field. */
function checkMembers(fields: Fields, body: Members, at: string, store: Lookup): Members {
  const members: Members = {};
  for (const [name, value] of Object.entries(body)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!field) throw invalid(`${at}${name}: unknown member`);
    if (value === null && field.nullable) continue;
    members[name] = field.check(value, `${at}${name}`, store);
  }
  return members;
}

function complete(fields: Fields, members: Members, at: string): Members {
  for (const [name, field] of Object.entries(fields)) {
    if (members[name] !== undefined) continue;
    if (field.required) throw invalid(`${at}${name}: is required`);
    if ("initial" in field) members[name] = field.initial;
  }
  return members;
}

const without = (fields: Fields, mark: "createOnly" | "updateOnly"): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, field]) => !field[mark]));

/** A body that creates: every field is checked, then completed with its initial value. */
export function created(fields: Fields, body: Members, store: Lookup): Members {
  const accepted = without(fields, "updateOnly");
  return complete(accepted, checkMembers(accepted, body, "", store), "");
}

/** A body that updates: what it leaves out stays, but for fields that are emptied by that. */
export function updated(fields: Fields, body: Members, store: Lookup): Members {
  const members = changed(fields, body, store);
  for (const [name, field] of Object.entries(fields)) {
    if (members[name] === undefined && "whenOmitted" in field) members[name] = field.whenOmitted;
  }
  return members;
}

/** Only what is given, checked. */
export const changed = (fields: Fields, body: Members, store: Lookup): Members =>
  checkMembers(without(fields, "createOnly"), body, "", store);

/** An object with exactly these members; `rule` refuses what single members cannot. */
export function object(fields: Fields, rule?: (members: Members, at: string) => void): Check {
  return (value, at, store) => {
    if (!isMembers(value)) throw invalid(`${at}: must be an object`);
    const prefix = at === "" ? "" : `${at}.`;
    const members = complete(fields, checkMembers(fields, value, prefix, store), prefix);
    rule?.(members, prefix);
    return members;
  };
}

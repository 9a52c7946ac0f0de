import { invalid } from "../http/refusal.ts";
import { isMembers, type Members } from "./members.ts";

/** Finds what has an id, for checks of references. */
export interface Lookup {
  find(id: unknown): unknown;
}

/** Returns the value as it is stored. Throws a Refusal that names the member (`at`) when the value is not valid. */
export type Check = (value: unknown, at: string, store: Lookup) => unknown;

export interface Field {
  readonly check: Check;
  readonly required?: true;
  /** Not accepted on update. */
  readonly createOnly?: true;
  /** Not accepted on create. */
  readonly updateOnly?: true;
  /** The value that a create gets when it leaves the member out. */
  readonly initial?: unknown;
  /** The value that an update gets when it leaves the member out. Absent: the member stays as it was. */
  readonly whenOmitted?: unknown;
  /** Null counts as left out. */
  readonly nullable?: true;
}

export type Fields = Readonly<Record<string, Field>>;

/** Checks the given members. Refuses a member that is not a field. */
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

/** Checks the body of a create, and adds initial values for members that it leaves out. */
export function created(fields: Fields, body: Members, store: Lookup): Members {
  const accepted = without(fields, "updateOnly");
  return complete(accepted, checkMembers(accepted, body, "", store), "");
}

/** Checks the body of an update, and adds `whenOmitted` for members that it leaves out. */
export function updated(fields: Fields, body: Members, store: Lookup): Members {
  const members = changed(fields, body, store);
  for (const [name, field] of Object.entries(fields)) {
    if (members[name] === undefined && "whenOmitted" in field) members[name] = field.whenOmitted;
  }
  return members;
}

/** Checks the given members and adds none. */
export const changed = (fields: Fields, body: Members, store: Lookup): Members =>
  checkMembers(without(fields, "createOnly"), body, "", store);

/** Checks an object that has these members and no others. `rule` refuses combinations of members. */
export function object(fields: Fields, rule?: (members: Members, at: string) => void): Check {
  return (value, at, store) => {
    if (!isMembers(value)) throw invalid(`${at}: must be an object`);
    const prefix = at === "" ? "" : `${at}.`;
    const members = complete(fields, checkMembers(fields, value, prefix, store), prefix);
    rule?.(members, prefix);
    return members;
  };
}

import type { Keyring } from "../keyring.ts";
import type { Random } from "../random.ts";
import type { Fields } from "../shape/check.ts";
import type { Members } from "../shape/members.ts";

export interface Ref {
  readonly id: string;
  readonly uri: string;
}

/** How rows are linked for a caller who reached the service at `origin`. */
export interface Links {
  readonly origin: string;
  /** Null when there is no such row. */
  ref(id: unknown): Ref | null;
  /** Rows that are gone are left out. */
  refs(ids: unknown): Ref[];
}

/** What the functions of a collection may use of the account. */
export interface CollectionContext {
  readonly clock: () => number;
  readonly random: Random;
  readonly keyring: Keyring;
  /** The certificate jobs of rows that have a `certificate_management_policy`. */
  readonly certificates: {
    /** Begins a job that ends by itself. */
    start(row: Row): void;
    /** For a row whose policy was taken away. */
    stop(row: Row): void;
    /** For a row that is gone. */
    discard(row: Row): void;
  };
}

/** One remote object. Never changed in place: a change is a new row of the same sequence. */
export interface Row {
  readonly id: string;
  /** Grows with every row of the account; lists go by it. */
  readonly sequence: number;
  readonly createdAt: string;
  readonly collection: Collection;
  /** In the words of requests (`backend_id`), with read-only members beside them. */
  readonly members: Members;
}

export type Verb = "create" | "get" | "list" | "update" | "delete";

/** How a text that was never set comes back. */
export type Unset = "missing" | "null" | "empty";

/** All that differs between one resource and the next. */
export interface Collection {
  /** Its path without the leading slash. */
  readonly name: string;
  readonly prefix: string;
  readonly listKey: string;
  readonly fields: Fields;
  readonly verbs: Readonly<Partial<Record<Verb, "documented" | "undocumented">>>;
  /** How unset `description` and `metadata` come back; absent when the resource has neither. */
  readonly unset?: readonly [description: Unset, metadata: Unset];
  readonly nextPage?: "absolute" | "path";
  readonly uri?: "absolute" | "path";
  /** Without `created_at` in its answers. */
  readonly undated?: true;
  /** The member by which no two rows may agree. */
  readonly unique?: string;
  /** Refuses what single fields cannot: exclusions, self-reference. */
  readonly rule?: (given: Members, merged: Members, id: string | undefined) => void;
  /** What the members become when `given` is applied; by default `given` wins member by member. */
  readonly merge?: (before: Members, given: Members) => Members;
  /** Read-only members made at creation. */
  readonly compute?: (members: Members, context: CollectionContext) => Members;
  /** After a create (`before` undefined) or an update. */
  readonly changed?: (row: Row, before: Row | undefined, context: CollectionContext) => void;
  readonly removed?: (row: Row, context: CollectionContext) => void;
  /** Ids that cannot be deleted while a row with these members is there. */
  readonly holds?: (members: Members) => readonly string[];
  /** The members as answers show them; by default as they are. */
  readonly show?: (members: Members, links: Links, id: string) => Members;
  /** Members that only the answer to the create carries. */
  readonly showOnce?: (row: Row) => Members;
}

export const everyVerb: Collection["verbs"] = {
  create: "documented",
  get: "documented",
  list: "documented",
  update: "documented",
  delete: "documented",
};

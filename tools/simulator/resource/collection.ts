import type { Keyring } from "../keyring.ts";
import type { Random } from "../random.ts";
import type { Fields } from "../shape/check.ts";
import type { Members } from "../shape/members.ts";

export interface Ref {
  readonly id: string;
  readonly uri: string;
}

/** How answers to a caller who reached the service at `origin` refer to other rows. */
export interface Links {
  readonly origin: string;
  /** Null when there is no row of this id. */
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
    /** Starts a job, which finishes after a while. */
    start(row: Row): void;
    /** For a row that no longer has a policy. */
    stop(row: Row): void;
    /** For a row that was deleted. */
    discard(row: Row): void;
  };
}

/** One resource of the account. Rows are immutable: a change makes a new row with the same sequence. */
export interface Row {
  readonly id: string;
  /** Counts the rows of the account in the order of their creation. Lists are sorted by it. */
  readonly sequence: number;
  readonly createdAt: string;
  readonly collection: Collection;
  /** Under the names that requests use (`backend_id`), and read-only members. */
  readonly members: Members;
}

export type Verb = "create" | "get" | "list" | "update" | "delete";

/** How answers show a text that was never set. */
export type Unset = "missing" | "null" | "empty";

/** Everything in which the resources of the API differ. */
export interface Collection {
  /** Its path without the leading slash. */
  readonly name: string;
  readonly prefix: string;
  readonly listKey: string;
  readonly fields: Fields;
  readonly verbs: Readonly<Partial<Record<Verb, "documented" | "undocumented">>>;
  /** How answers show `description` and `metadata` that were never set. Absent when the resource has neither. */
  readonly unset?: readonly [description: Unset, metadata: Unset];
  readonly nextPage?: "absolute" | "path";
  readonly uri?: "absolute" | "path";
  /** Its answers have no `created_at`. */
  readonly undated?: true;
  /** The member that has to be unique among its rows. */
  readonly unique?: string;
  /** Refuses combinations of members, such as two that exclude each other. */
  readonly rule?: (given: Members, merged: Members, id: string | undefined) => void;
  /** What the members become when `given` is applied; by default `given` wins member by member. */
  readonly merge?: (before: Members, given: Members) => Members;
  /** The read-only members of a new row. */
  readonly compute?: (members: Members, context: CollectionContext) => Members;
  /** Called after a create, where `before` is undefined, and after an update. */
  readonly changed?: (row: Row, before: Row | undefined, context: CollectionContext) => void;
  readonly removed?: (row: Row, context: CollectionContext) => void;
  /** The ids that cannot be deleted while there is a row with these members. */
  readonly uses?: (members: Members) => readonly string[];
  /** The members as answers show them. Default: unchanged. */
  readonly show?: (members: Members, links: Links, id: string) => Members;
  /** Members that only the answer to the create has. */
  readonly showOnce?: (row: Row) => Members;
}

const defaults = {
  verbs: {
    create: "documented",
    get: "documented",
    list: "documented",
    update: "documented",
    delete: "documented",
  },
} as const;

/** Adds the defaults: the list key is the name, and every verb is documented. */
export const defineCollection = (
  given: Omit<Collection, "listKey" | "verbs"> & Partial<Pick<Collection, "listKey" | "verbs">>,
): Collection => ({ listKey: given.name, ...defaults, ...given });

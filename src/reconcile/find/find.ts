import { waitFor } from "../../account/requests/turn.ts";
import type { Remote } from "../../gateway/resource.ts";
import { isNamedBySpec } from "../../objects/identity.ts";
import { intentOf, openCreateOf } from "../../objects/intent.ts";
import { isDeleting, isObserveOnly } from "../../objects/object.ts";
import { listOf } from "../../schema/define.ts";
import type { ReconcileContext } from "../context.ts";
import { adopt, findExisting } from "./ways/by-adopt.ts";
import { findCreated, findSuccessor } from "./ways/by-create.ts";
import { findByOwnerMark } from "./ways/by-owner-mark.ts";
import { findBySpec } from "./ways/by-spec.ts";
import { findByStatusID } from "./ways/by-status-id.ts";

interface Strategy {
  readonly name: string;
  /** The search, or undefined when this strategy does not apply to the object. */
  readonly search: (context: ReconcileContext) => (() => Promise<Remote | undefined>) | undefined;
  /** When this strategy applies, no later one is tried, whether it finds a remote or not. */
  readonly final?: true;
}

/** Never adopt a remote just to delete it. */
const mayTakeOver = ({ object }: ReconcileContext): boolean => !isDeleting(object);

/** Whether a process has been about to create a remote for the object, or had one whose mark it took off. */
const hasIntent = ({ object }: ReconcileContext): boolean => intentOf(object) !== undefined;

/**
 * The ways to find the remote of an object, in the order in which they are tried. docs/architecture has the same table.
 */
const strategies: readonly Strategy[] = [
  {
    name: "by spec",
    search: (context) => (isNamedBySpec(context.kind) ? () => findBySpec(context) : undefined),
    final: true,
  },
  {
    name: "by the id in the status, or its successor",
    search: (context) => {
      const id = context.object.status?.id;
      const create = openCreateOf(context.object);
      if (id === undefined) return undefined;
      if (create === undefined) return () => findByStatusID(context, id);
      return async () => (await findSuccessor(context, create, id)) ?? findByStatusID(context, id);
    },
    final: true,
  },
  {
    name: "by the owner mark of the create",
    search: (context) => {
      const create = openCreateOf(context.object);
      return create === undefined ? undefined : () => findCreated(context, create);
    },
  },
  {
    name: "by owner mark, for an object with an intent",
    search: (context) => (hasIntent(context) && mayTakeOver(context) ? () => findByOwnerMark(context) : undefined),
  },
  {
    name: "by adopt.id",
    search: (context) => {
      const id = context.object.spec.adopt?.id;
      return id && mayTakeOver(context) ? () => adopt(context, id) : undefined;
    },
    final: true,
  },
  {
    name: "existing, by natural key",
    search: (context) =>
      (context.object.spec.adopt?.existing || isObserveOnly(context.object)) && mayTakeOver(context)
        ? () => findExisting(context)
        : undefined,
  },
  {
    name: "by owner mark",
    search: (context) => (!hasIntent(context) && mayTakeOver(context) ? () => findByOwnerMark(context) : undefined),
  },
];

/**
 * The remote of an object, found by what is left of the data about it. Undefined when the object has none and one may
 * be created. Throws Waiting while that is not certain, and Blocked when this object may not take the remote.
 */
export async function findRemote(context: ReconcileContext): Promise<Remote | undefined> {
  const remote = await searched(context);
  if (remote && remote.id !== context.object.status?.id) await ensureKeyProved(context);
  return remote;
}

/**
 * Call it before an id is recorded that the object did not have. A recorded id proves the key later, so an id that only
 * an unproved key has shown would prove the key of another account.
 */
async function ensureKeyProved(context: ReconcileContext): Promise<void> {
  const { account, object, kind } = context;
  // What is known of a remote that no list shows may come from an answer under another key. It proves the key when one
  // of its modules is read.
  if (object.status?.id === undefined && listOf(kind)) account.keyProof.recordFirstID();
  await waitFor(account.keyProof.ensure(), context);
}

async function searched(context: ReconcileContext): Promise<Remote | undefined> {
  for (const { search, final } of strategies) {
    const run = search(context);
    const remote = await run?.();
    if (remote || (run && final)) return remote;
  }
  return undefined;
}

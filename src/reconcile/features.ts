import type { EntryLocation, Kind, ModulesLocation, Output } from "../schema/define.ts";
import { sharedLists } from "../schema/wire/shared.ts";
import type { ReconcileContext } from "./context.ts";

// What only some kinds have. The functions of a feature take the context of such a kind, so the compiler refuses a call
// of them where nobody has asked. A kind that has none of these features passes none of their files.

type With<Members extends Partial<Kind>> = ReconcileContext & { readonly kind: Kind & Members };

/** The remote is an entry in a list of another one. */
export type EntryContext = With<{ readonly location: EntryLocation }>;

/** The object sets modules of a remote that other clients create. */
export type ModulesContext = With<{ readonly location: ModulesLocation }>;

/** A value of the answer goes to a Secret. */
export type OutputContext = With<{ readonly output: Output }>;

/** The remote needs DNS records. */
export type RecordsContext = With<{ readonly dnsRecords: NonNullable<Kind["dnsRecords"]> }>;

export const isEntryKind = (kind: Kind): kind is EntryContext["kind"] => kind.location.type === "entry";

export const setsModules = (kind: Kind): kind is ModulesContext["kind"] => kind.location.type === "modules";

export const isEntry = (context: ReconcileContext): context is EntryContext => isEntryKind(context.kind);

export const isOfModules = (context: ReconcileContext): context is ModulesContext => setsModules(context.kind);

export const hasOutput = (context: ReconcileContext): context is OutputContext => context.kind.output !== undefined;

export const hasRecords = (context: ReconcileContext): context is RecordsContext =>
  context.kind.dnsRecords !== undefined;

/** Whether other objects may add entries to a list of the remote. */
export const hasSharedLists = ({ kind }: Pick<ReconcileContext, "kind">): boolean => sharedLists(kind.spec).length > 0;

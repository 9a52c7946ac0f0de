import type { Remote } from "../../gateway/resource.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import type { Kind } from "../../schema/define.ts";
import { kindNamed, unknownKind } from "../graph/named.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";
import { metadataOf } from "./names.ts";

/** The remotes to import. */
export interface Selection {
  /** Kinds whose remotes are listed. */
  kinds: readonly Kind[];
  /** Ids that were named, beside the kinds that were named as a whole. */
  ids: ReadonlySet<string>;
  /** Ids of remotes that no list shows, by their kind. */
  unlisted: readonly { kind: Kind; id: string }[];
  matches: (kind: Kind, remote: Remote) => boolean;
  /** Whether the remote would match but for its owner mark. */
  isManaged: (kind: Kind, remote: Remote) => boolean;
}

export interface Filters {
  all?: boolean;
  /** `key=value` of labels, separated by commas. */
  selector?: string | undefined;
  /** `key=value` of metadata. */
  metadata?: string | undefined;
  /** Leave out remotes that have an owner mark. */
  excludeManaged: boolean;
}

/** Parses the arguments of `import`: kinds, ids, and `edge/route` for remotes that no list shows. */
export function selectionOf(args: readonly string[], filters: Filters, kinds: readonly Kind[]): Selection {
  if (args.length === 0 && !filters.all) throw new UsageError("Name kinds or ids, or give --all");
  const listed = kinds.filter(({ location }) => location.type === "collection");
  const given = args.map((arg) => argumentOf(arg, kinds, listed));
  const whole = filters.all ? listed : given.flatMap(({ kind, id }) => (id === undefined ? [kind] : []));
  const named = given.flatMap(({ kind, id }) => (id === undefined ? [] : [{ kind, id }]));
  const isUnlisted = ({ kind }: { kind: Kind }) => !listed.includes(kind);
  const ids = new Set(named.filter((one) => !isUnlisted(one)).map(({ id }) => id));
  const fits = filterOf(filters);
  const isAskedFor = (kind: Kind, remote: Remote): boolean => {
    const isOfWhole = whole.includes(kind) && !kind.isMadeByService(remote);
    return (isUnlisted({ kind }) || isOfWhole || ids.has(remote.id)) && fits(remote);
  };
  const isManaged = (remote: Remote): boolean => filters.excludeManaged && ownerMarkOf(remote) !== undefined;
  return {
    kinds: listed.filter((kind) => whole.includes(kind) || named.some((one) => one.kind === kind)),
    ids,
    unlisted: named.filter(isUnlisted),
    matches: (kind, remote) => isAskedFor(kind, remote) && !isManaged(remote),
    isManaged: (kind, remote) => isAskedFor(kind, remote) && isManaged(remote),
  };
}

function argumentOf(arg: string, kinds: readonly Kind[], listed: readonly Kind[]): { kind: Kind; id?: string } {
  const kind = kindNamed(arg, listed);
  if (kind) return { kind };
  const found = kindOfID(arg, kinds);
  if (found) return { kind: found, id: arg };
  const unlisted = kindNamed(arg, kinds);
  if (unlisted) throw new UsageError(wayTo(unlisted));
  const [first = "", second] = arg.split("/");
  const named = second === undefined ? undefined : kindNamed(first, kinds);
  if (named && !listed.includes(named)) throw new UsageError(wayTo(named));
  if (named) throw new UsageError(`Give the id that the account has, or ${first} alone: ${arg} names an object`);
  if (!arg.includes("_")) throw unknownKind(arg);
  throw new CommandError(`No kind has ids like ${arg}`);
}

/** How to import what no list of the account shows. */
function wayTo({ kind, location, resource }: Kind): string {
  if (location.type === "entry") return `Name ${location.parent.kind}: each ${kind} is imported as a part of it`;
  return `Name each ${kind} by its ids, as in ${resource.idPrefix}.../...: no list of the account shows them`;
}

function filterOf({ selector, metadata }: Filters): (remote: Remote) => boolean {
  const labels = pairsOf(selector, "--selector");
  const texts = pairsOf(metadata, "--metadata");
  return (remote) =>
    labels.every(([key, value]) => (remote["labels"] as Record<string, unknown> | null)?.[key] === value) &&
    texts.every(([key, value]) => metadataOf(remote, key) === value);
}

/** An entry's parent may have the same id prefix. It comes first in the list of kinds, so it wins. */
function kindOfID(text: string, kinds: readonly Kind[]): Kind | undefined {
  const isPath = text.includes("/");
  return kinds.find(
    ({ location, resource }) =>
      text.startsWith(resource.idPrefix) && location.type === (isPath ? "modules" : "collection"),
  );
}

function pairsOf(text: string | undefined, flag: string): [string, string][] {
  return (text?.split(",") ?? []).map((pair) => {
    const [, key, value] = /^([^=]+)==?(.*)$/.exec(pair) ?? [];
    if (key === undefined || value === undefined) throw new UsageError(`${flag} must be key=value[,key=value]`);
    return [key, value];
  });
}

import type { Account } from "../../account/account.ts";
import type { Remote } from "../../gateway/resource.ts";
import { retiringIDs } from "../../objects/object.ts";
import { type Kind, listOf } from "../../schema/define.ts";
import { snakeCase } from "../../schema/wire/names.ts";
import { referencedValues } from "../../schema/wire/uses.ts";
import { type AccountLookup, accountsUsed, type ListedResource, listedResources } from "./listed-resources.ts";

/** Milliseconds since 1970. */
export interface Validity {
  readonly from: number;
  readonly until: number;
}

/** Certificates of one kind that an account serves and that have no object. */
export interface LoneCertificates {
  kind: string;
  account: Account;
  /** Whether the lists that show them were read. */
  isListed: boolean;
  /** The certificate that ends first. Those that should have been renewed by now come before others. */
  first: (Validity & { id: string }) | undefined;
}

/**
 * For each kind and account, or for one account only, as the latest lists say. Includes certificates that the service
 * has issued itself or that people have uploaded. `now`: epoch milliseconds.
 */
export function* loneCertificates(
  { kinds, ...lookup }: AccountLookup & { kinds: readonly Kind[] },
  now: number,
  only?: Account,
): Generator<LoneCertificates> {
  for (const listed of listedResources(kinds)) {
    const kind = listed.kinds.find(hasValidity);
    if (!kind) continue;
    const objects = listed.kinds.flatMap(({ kind }) => [...(lookup.informers.get(kind)?.store.list() ?? [])]);
    const known = new Set(objects.flatMap(({ status }) => [status?.id, ...retiringIDs(status)]));
    for (const account of accountsUsed(listed.usedBy, lookup)) {
      if (only && account !== only) continue;
      const others = account.collection(listed.resource).allCached();
      const validities = others
        .filter(({ id }) => !known.has(id))
        .map((remote) => ({ id: remote.id, ...validityOf(kind, remote) }));
      const first = mostUrgent(validities.filter(servedIn(account, listed, now)), now);
      yield { kind: kind.kind, account, isListed: isListed(account, listed), first };
    }
  }
}

/** The certificate of any kind that ends first in an account. Unknown: not all lists of certificates were read. */
export function firstLoneCertificate(
  sources: AccountLookup & { kinds: readonly Kind[] },
  now: number,
  account: Account,
): { kind: string; id: string; until: number } | "none" | "unknown" {
  const all = [...loneCertificates(sources, now, account)];
  if (all.some(({ isListed }) => !isListed)) return "unknown";
  const [first] = all.flatMap(({ kind, first }) => (first ? { kind, ...first } : [])).sort((a, b) => a.until - b.until);
  return first ?? "none";
}

type KindWithValidity = Kind & { readonly validity: NonNullable<Kind["validity"]> };
export const hasValidity = (kind: Kind): kind is KindWithValidity => kind.validity !== undefined;

export const timeOf = (value: unknown): number => Date.parse(String(value));

const validityOf = ({ validity }: KindWithValidity, remote: Remote): Validity => ({
  from: timeOf(remote[snakeCase(validity.from)]),
  until: timeOf(remote[snakeCase(validity.until)]),
});

const serversOf = ({ kinds, usedBy }: ListedResource): readonly Kind[] =>
  usedBy.filter((kind) => !kinds.includes(kind));

function isListed(account: Account, listed: ListedResource): boolean {
  const servers = serversOf(listed).flatMap((kind) => listOf(kind) ?? []);
  return [listed.resource, ...servers].every((resource) => account.collection(resource).listedAt !== undefined);
}

/**
 * Whether a certificate is served: a remote in the lists of the account uses it. The account does not show who uses a
 * host certificate, so each one counts until it ends.
 */
function servedIn(account: Account, listed: ListedResource, now: number) {
  const servers = serversOf(listed);
  // Most accounts have no certificate without an object. Then their remotes are not searched.
  let used: ReadonlySet<string> | undefined;
  return ({ id, until }: Validity & { id: string }): boolean => {
    if (servers.length === 0) return until > now;
    used ??= new Set(servers.flatMap((kind) => usedByRemotes(kind, account)));
    return used.has(id);
  };
}

function usedByRemotes(kind: Kind, account: Account): string[] {
  const resource = listOf(kind);
  const remotes = resource ? account.collection(resource).allCached() : [];
  return remotes.flatMap((remote) => [...referencedValues(kind.spec, remote)]);
}

/**
 * A certificate is usually renewed before less than this share of its validity is left. The alerts of the chart use the
 * same share.
 */
const SHARE_LEFT = 0.25;

function mostUrgent<V extends Validity>(all: readonly V[], now: number): V | undefined {
  const lasting = all.filter(({ until }) => Number.isFinite(until)).sort((one, other) => one.until - other.until);
  return lasting.find(({ from, until }) => until - now < SHARE_LEFT * (until - from)) ?? lasting[0];
}

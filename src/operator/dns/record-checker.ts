import type { Resolver } from "node:dns/promises";
import type { DNS, RecordCheck } from "../../reconcile/dns.ts";
import type { Clock } from "../../runtime/clock.ts";
import { type DNSRecord, recordText } from "../../schema/dns.ts";
import { hostname } from "../../schema/hosts.ts";

/** Shortest time between two queries for one record. Milliseconds. */
const BETWEEN_MS = 60_000;

export type Queries = Pick<Resolver, "resolveCname" | "resolveNs" | "resolve4" | "resolve6">;

export interface RecordCheckerOptions {
  resolver: Queries;
  clock: Clock;
  externalDNS: boolean;
  /** The namespaces whose objects may have records written. */
  mayWrite: (namespace: string) => boolean;
}

/** The resolver's answer for a record. `aliased`: the name has the target's addresses instead of a CNAME. */
type Found = { names: readonly string[]; aliased: boolean } | { problem: string };

interface Answer {
  askedAt: number;
  found: Promise<Found>;
}

/** Asks a resolver for DNS records, and keeps each answer for a minute. */
export class RecordChecker implements DNS {
  readonly externalDNS: boolean;
  readonly mayWrite: (namespace: string) => boolean;
  readonly #resolver: Queries;
  readonly #clock: Clock;
  readonly #answers = new Map<string, Answer>();

  constructor({ resolver, clock, externalDNS, mayWrite }: RecordCheckerOptions) {
    this.#resolver = resolver;
    this.#clock = clock;
    this.externalDNS = externalDNS;
    this.mayWrite = mayWrite;
  }

  async check(record: DNSRecord, since = Number.NEGATIVE_INFINITY): Promise<RecordCheck> {
    const { askedAt, found } = this.#answerFor(record);
    if (askedAt < since) return { state: "later", afterSeconds: (askedAt + BETWEEN_MS - this.#clock.now()) / 1000 };
    return checkOf(record, await found);
  }

  #answerFor(record: DNSRecord): Answer {
    // Whether a name is an alias depends on the targets. A domain that was recreated has others.
    const key = recordText(record);
    const now = this.#clock.now();
    for (const [other, { askedAt }] of this.#answers) if (askedAt <= now - BETWEEN_MS) this.#answers.delete(other);
    const answer = this.#answers.get(key) ?? { askedAt: now, found: this.#find(record) };
    this.#answers.set(key, answer);
    return answer;
  }

  async #find({ name, type, targets }: DNSRecord): Promise<Found> {
    try {
      const query = type === "NS" ? this.#resolver.resolveNs(name) : this.#resolver.resolveCname(name);
      const names = (await orNone(query)).map((one) => String(hostname(one)));
      if (type === "NS" || targets.some((target) => names.includes(target))) return { names, aliased: false };
      // The apex of a zone cannot have a CNAME. Many providers copy the addresses of the target there instead, so
      // compare these.
      const [own, theirs] = await Promise.all([name, ...targets].map((one) => this.#addresses(one)));
      const aliased = own?.some((address) => theirs?.includes(address)) ?? false;
      return { names: names.length > 0 ? names : (own ?? []), aliased };
    } catch (error) {
      const { code = "no answer" } = error as NodeJS.ErrnoException;
      return { problem: `${code} for ${name}` };
    }
  }

  async #addresses(name: string): Promise<string[]> {
    const lists = await Promise.all([orNone(this.#resolver.resolve4(name)), orNone(this.#resolver.resolve6(name))]);
    return lists.flat();
  }
}

/** Error codes of a resolver that mean "there is no such record". */
const ABSENT: ReadonlySet<string> = new Set(["ENOTFOUND", "ENODATA"]);

async function orNone(query: Promise<string[]>): Promise<string[]> {
  try {
    return await query;
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

/** A record is right when it has all targets and no others. */
function checkOf({ targets }: DNSRecord, found: Found): RecordCheck {
  if ("problem" in found) return { state: "failed", message: found.problem };
  const { names, aliased } = found;
  const has = targets.filter((target) => names.includes(target));
  if (aliased || (has.length === targets.length && names.length === has.length)) return { state: "right" };
  if (names.length === 0) return { state: "missing" };
  return { state: "elsewhere", there: names.toSorted(), hasTarget: has.length > 0 };
}

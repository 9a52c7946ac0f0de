import { RecordChecker } from "../../../src/operator/dns/record-checker.ts";
import type { Clock } from "../../../src/runtime/clock.ts";
import type { DNSRecord } from "../../../src/schema/dns.ts";

const code = (name: string): Error => Object.assign(new Error(name), { code: name });

/** The zone of the tests, asked as the operator asks a resolver. */
export class FakeDNS extends RecordChecker {
  /** The existing records: targets by type and name. */
  readonly zone: Map<string, readonly string[]>;
  /** The names that were queried, in order. */
  readonly asked: string[];
  /** The error code of every query. Undefined: queries succeed. */
  failure: string | undefined;
  /** Whether objects have a DNSEndpoint by default. */
  override externalDNS = false;
  /** Whether objects of any namespace may have records written. */
  mayWriteAnywhere = true;

  constructor(clock: Clock) {
    const [zone, asked] = [new Map<string, readonly string[]>(), [] as string[]];
    const query = (type: string) => async (name: string) => {
      asked.push(`${type} ${name}`);
      if (this.failure) throw code(this.failure);
      const found = zone.get(`${type} ${name}`);
      if (!found) throw code("ENOTFOUND");
      return [...found];
    };
    const resolver = {
      resolveCname: query("CNAME"),
      resolveNs: query("NS"),
      resolve4: query("A") as never,
      resolve6: query("AAAA") as never,
    };
    super({ resolver, clock, externalDNS: false, mayWrite: () => this.mayWriteAnywhere });
    this.zone = zone;
    this.asked = asked;
  }

  make(records: readonly DNSRecord[]): void {
    for (const { type, name, targets } of records) this.zone.set(`${type} ${name}`, targets);
  }

  removeAll(): void {
    this.zone.clear();
  }
}

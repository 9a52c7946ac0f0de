import { beforeEach, expect, it } from "vitest";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { Account } from "../../account/account.ts";
import { RequestBudget } from "../../account/requests/request-budget.ts";
import type { Resource } from "../../gateway/resource.ts";
import {
  certificateAuthorities,
  reservedDomains,
  tcpEdges,
  tlsCertificates,
  tlsEdges,
} from "../../gateway/resources/index.ts";
import { kinds } from "../../kinds/index.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { firstLoneCertificate } from "./lone-certificates.ts";

let clock: VirtualClock;
let gateway: FakeGateway;
let own: Account;
let objects: Pick<ManagedObject, "kind" | "status">[];

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  own = accountOf();
  objects = [];
});

const accountOf = (): Account =>
  new Account({
    client: gateway.asClient(),
    clock,
    budget: new RequestBudget({ perMinute: 0, clock }),
    undocumented: true,
    deletesPerMinute: 0,
    assertMaySend: () => {},
    signal: new AbortController().signal,
  });

const days = (count: number) => new Date(clock.date().getTime() + count * 86_400_000).toISOString();

function first(account = own): ReturnType<typeof firstLoneCertificate> {
  const list = (kind: string) => objects.filter((object) => object.kind === kind) as ManagedObject[];
  const informers = new Map(kinds.map(({ kind }) => [kind, { store: { list: () => list(kind) } }]));
  const sources = { kinds, informers, accounts: { accountOf: () => own, most: 1 } };
  return firstLoneCertificate(sources as never, clock.date().getTime(), account);
}

const listed = async (...resources: Resource[]): Promise<void> => {
  for (const resource of resources) await own.collection(resource).listed(clock.now(), { lane: "sync" });
};

it("is the one of all kinds that ends first, once the lists of the remotes that serve it were read as well", async () => {
  objects.push({ kind: "TLSEdge", status: { id: "edgtls_1" } }, { kind: "ReservedDomain", status: { id: "rd_1" } });
  gateway.put(tlsCertificates, { id: "cert_1", not_before: days(-30), not_after: days(60) });
  gateway.put(certificateAuthorities, { id: "ca_1", not_before: days(-30), not_after: days(50) });
  gateway.put(certificateAuthorities, { id: "ca_unused", not_before: days(-30), not_after: days(40) });
  gateway.put(reservedDomains, { id: "rd_1", certificate: { id: "cert_1", uri: "" } });
  gateway.put(tlsEdges, { id: "edgtls_1", mutual_tls: { enabled: true, certificate_authorities: [{ id: "ca_1" }] } });
  await listed(tlsCertificates, certificateAuthorities, reservedDomains, tcpEdges);
  expect(first()).toBe("unknown");
  await listed(tlsEdges);
  expect(first()).toMatchObject({ kind: "CertificateAuthority", id: "ca_1", until: Date.parse(days(50)) });
  expect(first(accountOf())).toBe("none");
  objects.push({ kind: "CertificateAuthority", status: { id: "ca_1" } });
  expect(first()).toMatchObject({ kind: "TLSCertificate", id: "cert_1" });
});

it("is none when no object can use one", () => {
  objects.push({ kind: "IPPolicy", status: { id: "ipp_1" } });
  expect(first()).toBe("none");
});

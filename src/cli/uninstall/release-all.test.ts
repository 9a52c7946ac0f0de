import { expect, test } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import type { KubeObject } from "../../runtime/object.ts";

const { run, writing, failing, altering } = useFixedServices();

/** Gives each domain these DNS settings, and its condition DNSReady this reason. The right to DNSEndpoints is missing. */
function domainsWith(dns: object, reason: string | undefined): void {
  writing("done");
  const body = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "not allowed" };
  failing(({ path }) => (path.includes("/dnsendpoints/") ? { status: 403, body } : undefined));
  const changed = (object: KubeObject) => ({
    ...object,
    spec: { ...(object["spec"] as object), dns },
    status: { id: "rd_1", conditions: reason === undefined ? [] : [{ type: "DNSReady", status: "False", reason }] },
  });
  altering((list, { path }) =>
    path.endsWith(`/${ReservedDomain.plural}`) ? { ...list, items: (list as List).items.map(changed) } : list,
  );
}

interface List {
  items: readonly KubeObject[];
}

test.each<[string, object, string | undefined]>([
  ["asks for one", { externalDNS: {} }, "DNSRecordMissing"],
  ["has its records checked since it has one", {}, "Available"],
])("an object is held while its DNSEndpoint cannot be kept, when it %s", async (_, dns, reason) => {
  domainsWith(dns, reason);
  const { code, stderr } = await run("uninstall --policy retain");
  expect(code).toBe(1);
  expect(stderr).toContain("Give the right to keep the DNSEndpoint of ReservedDomain shop/shop, then try again: ");
  expect(stderr).toMatch(/Still held by its finalizer:\n {2}ReservedDomain shop\/shop/);
});

test.each<[string, object, string | undefined]>([
  ["the operator might not write one", { externalDNS: {} }, "DNSEndpointNotWritten"],
  ["a person makes the records", { check: true }, "Available"],
  ["it asks for none", { externalDNS: { enabled: false } }, undefined],
])("an object without a DNSEndpoint needs no right to it: %s", async (_, dns, reason) => {
  domainsWith(dns, reason);
  expect(await run("uninstall --policy retain")).toMatchObject({ code: 0, stderr: "" });
});

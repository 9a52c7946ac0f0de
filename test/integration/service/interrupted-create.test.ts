import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { LoggedRequest } from "../../../tools/simulator/control/request-log.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// What the next look takes for the remote of a create whose outcome nobody knows.

const PATH = "/reserved_addrs";

/** How many of the next lists of addresses lack the row that would come first on the second page. */
let shifting = 0;

const world = useWorld({
  simulator: { pageSize: 3, paging: "number", onHandled: shiftPages },
  env: { REQUEST_TIMEOUT: "2s" },
});
const control = () => world.simulator.control;
const theirs = () => control().insert("reserved_addrs", { region: "eu", description: "theirs" });

/** Somebody removes the newest row when the first page has been read, and adds one when the last has. */
function shiftPages({ method, path, query }: LoggedRequest): void {
  if (shifting === 0 || method !== "GET" || path !== PATH) return;
  if (query["before_id"]) {
    shifting -= 1;
    theirs();
    return;
  }
  const newest = control().objects("reserved_addrs").at(-1);
  control().remove(String(newest?.["id"]));
}

// guards against a second address, since a list of several pages lacks a row when another is removed meanwhile
test("an address that one list of several pages skips is found by the next list", async () => {
  control().fault({ method: "POST", path: PATH, action: { hang: "after" } });
  await world.kube.apply(manifest("ReservedAddress", "hidden", { region: "eu" }));
  const made = await world.until("it is made", async () => control().objects("reserved_addrs")[0]);
  for (let count = 0; count < 3; count += 1) theirs();
  // that of the first look, and the first of those that prove something
  shifting = 2;
  const { status } = await world.ready("ReservedAddress", "hidden");
  expect(shifting).toBe(0);
  expect(status.id).toBe(made["id"]);
  expect(world.changesSent().filter(({ path }) => path === PATH)).toHaveLength(1);
});

// guards against a domain of somebody else's that is changed, and deleted with the object
test("a domain that somebody else reserves meanwhile is not adopted", async () => {
  const spec = { domain: "contested.example.org", description: "ours" };
  control().fault({ method: "POST", path: "/reserved_domains", action: { hang: true } });
  await world.kube.apply(manifest("ReservedDomain", "contested", spec));
  await world.until("it was sent", async () => world.changesSent().length > 0);
  const theirs = control().insert("reserved_domains", { domain: spec.domain, description: "theirs" }) as KubeJSON;
  const reported = await world.condition("ReservedDomain", "contested", { type: "Stalled", reason: "AlreadyExists" });
  expect(conditionOf(reported, "Ready")?.message).toContain(`adopt: {id: ${theirs.id}}`);
  await world.kube.delete("ReservedDomain", "contested");
  await world.gone("ReservedDomain", "contested");
  expect(control().get(theirs.id)).toMatchObject({ description: "theirs" });
});

describe("when the spec comes to name another account", () => {
  let other: Simulator;
  const rows = ({ control }: Simulator) => control.objects("ip_policies").map((row) => row["description"]);
  const account = (name: string): KubeJSON =>
    manifest("GatewayAccount", name, { apiKeySecretRef: { name: "key", key: "key" }, baseURL: other.url });
  const policy = (name: string, more: object = {}): KubeJSON =>
    manifest("IPPolicy", name, { description: name, ...more });

  beforeAll(async () => {
    other = await startSimulator();
    await world.operator.stop();
    await world.startOperator({ ALLOWED_GATEWAY_HOSTS: new URL(other.url).host });
    await world.kube.apply(secret("key", { key: other.apiKey }), account("another"));
  });

  afterAll(async () => {
    await world.operator.stop();
    for (const name of ["another", "default"])
      await world.kube.patch("GatewayAccount", name, { metadata: { finalizers: null } }).catch(() => undefined);
    await world.kube.patch("Secret", "key", { metadata: { finalizers: null } });
    await other.stop();
  });

  /** A create to the operator's own account whose answer never comes. */
  async function interrupted(name: string, hang: true | "after"): Promise<void> {
    control().fault({ method: "POST", path: "/ip_policies", action: { hang } });
    await world.kube.apply(policy(name));
    await world.until("it was sent", async () =>
      world.changesSent().some(({ body }) => (body as KubeJSON)?.["description"] === name),
    );
  }

  // guards against a remote in each of two accounts, of which nobody knows the first
  test("the remote that the create made in the first account is kept there, and deleted there", async () => {
    await interrupted("moved", "after");
    await world.kube.patch("IPPolicy", "moved", { spec: { accountRef: { name: "another" } } });
    const reported = await world.condition("IPPolicy", "moved", { type: "Stalled", reason: "AccountMismatch" });
    expect(control().get(reported["status"].id)).toMatchObject({ description: "moved" });
    expect(rows(other)).toEqual([]);
    await world.kube.delete("IPPolicy", "moved");
    await world.gone("IPPolicy", "moved");
    expect(rows(world.simulator)).toEqual([]);
  });

  // guards against an object that stays bound to an account in which it has nothing
  test("a create that made nothing in the first account is sent to the second, once that is certain", async () => {
    await interrupted("lost", true);
    await world.kube.patch("IPPolicy", "lost", { spec: { accountRef: { name: "another" } } });
    const { status } = await world.ready("IPPolicy", "lost");
    expect(status.account).toBe("another");
    expect([rows(world.simulator), rows(other)]).toEqual([[], ["lost"]]);
  });

  // guards against a namespace that makes things twice because somebody adds an account
  test("a GatewayAccount named default that is created meanwhile takes over nothing", async () => {
    await interrupted("unnamed", "after");
    await world.kube.apply(account("default"));
    const reported = await world.condition("IPPolicy", "unnamed", { type: "Stalled", reason: "AccountMismatch" });
    expect(control().get(reported["status"].id)).toMatchObject({ description: "unnamed" });
    expect(rows(other)).toEqual(["lost"]);
  });
});

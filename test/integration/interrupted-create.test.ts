import { expect, test } from "vitest";
import { conditionOf, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import type { LoggedRequest } from "../../tools/simulator/control/request-log.ts";
import { useWorld } from "../support/world.ts";

// What the next look takes for the remote of a create whose outcome nobody knows.

const PATH = "/reserved_addrs";

/** How many of the next lists of addresses lack the row that would come first on the second page. */
let shifting = 0;

const world = useWorld({
  simulator: { pageSize: 3, paging: "number", onHandled: shiftPages },
  env: { REQUEST_TIMEOUT: "1s" },
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
test("an address that one list of several pages hides is found by the next", async () => {
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
test("a domain that somebody else reserves in the meantime is theirs", async () => {
  const spec = { domain: "contested.example.org", description: "ours" };
  control().fault({ method: "POST", path: "/reserved_domains", action: { hang: true } });
  await world.kube.apply(manifest("ReservedDomain", "contested", spec));
  await world.until("it was sent", async () => world.changesSent().length > 0);
  const theirs = control().insert("reserved_domains", { domain: spec.domain, description: "theirs" }) as KubeJSON;
  const told = await world.condition("ReservedDomain", "contested", { type: "Stalled", reason: "AlreadyExists" });
  expect(conditionOf(told, "Ready")?.message).toContain(`adopt: {id: ${theirs.id}}`);
  await world.kube.delete("ReservedDomain", "contested");
  await world.gone("ReservedDomain", "contested");
  expect(control().get(theirs.id)).toMatchObject({ description: "theirs" });
});

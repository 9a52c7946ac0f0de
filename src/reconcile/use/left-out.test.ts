import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";

let scene: Scene;
let policy: ManagedObject;

beforeEach(async () => {
  scene = new Scene();
  scene.gateway.unlisted.add("ip_restriction").add("backend");
  policy = await scene.given(IPPolicy, "office");
});

/** Somebody else makes edges that have the policy, or none, in the order of the arguments. */
const edges = (...policies: (string | undefined)[]): string[] =>
  policies.map((id) => {
    const restriction = id === undefined ? undefined : { ip_restriction: { enabled: true, ip_policy_ids: [id] } };
    return scene.gateway.seed(TCPEdge.resource, restriction ?? {}).id;
  });

async function deleted(...objects: ManagedObject[]): Promise<void> {
  for (const object of objects) scene.cluster.delete(object);
  await Promise.all(objects.map((object) => scene.reconcile(object)));
}

const gets = (): string[] => scene.gateway.takeCalls().filter((call) => call.startsWith("get "));

const open = (count: number): undefined[] => Array.from({ length: count }, () => undefined);

/** The service leaves what is not set out of its other answers too, though the API page says null. */
function leaveUnsetOut(): void {
  scene.gateway.normalise = ({ id, ...members }) => ({
    ...Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null)),
    id,
  });
}

describe("a list that leaves out a module which a GET shows", () => {
  it("does not hide that an edge uses the policy", async () => {
    const [user = ""] = edges(scene.idOf(policy), undefined);
    await deleted(policy);
    expect(scene.reason(policy)).toBe(`InUse: Ask who runs TCP edge ${user} to change it first: it uses this IPPolicy`);
    scene.gateway.drop(TCPEdge.resource, user);
    await scene.clock.advance(60_000);
    await scene.reconcile(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("does not hide an edge whose row alone leaves it out", async () => {
    scene.gateway.unlisted.clear();
    const [user = ""] = edges(scene.idOf(policy), undefined);
    const list = scene.gateway.list.bind(scene.gateway);
    scene.gateway.list = async function* (resource) {
      for await (const page of list(resource)) {
        const rows = (page.rows as readonly { id: string }[]).map(({ id, ...row }) =>
          id === user ? { ...row, id, ip_restriction: undefined } : { ...row, id },
        );
        yield { ...page, rows: rows as never[] };
      }
    };
    await deleted(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
    expect(gets()).toEqual([`get ${user}`]);
  });

  it("costs one GET of each edge for all policies that are deleted together", async () => {
    const others = [await scene.given(IPPolicy, "home"), await scene.given(IPPolicy, "lab")];
    const ids = edges(undefined, undefined);
    await deleted(policy, ...others);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
    expect(gets().toSorted()).toEqual(ids.map((id) => `get ${id}`).toSorted());
  });

  it("does not keep the policy for an edge that is gone since", async () => {
    const [gone = ""] = edges(scene.idOf(policy), undefined);
    scene.gateway.beforeCall = ({ verb, id = "" }) => {
      if (verb === "get" && id === gone) scene.gateway.drop(TCPEdge.resource, gone);
    };
    await deleted(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("is completed again after a GET failed", async () => {
    edges(undefined);
    scene.gateway.refuse("get", 500);
    await deleted(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
    await scene.settle(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("keeps the policy when more than 20 edges would have to be read", async () => {
    // the newest come first
    const [user = ""] = edges(scene.idOf(policy), ...open(20));
    await deleted(policy);
    expect(scene.reason(policy)).toBe(
      "UnexpectedResponse: Check the state of the service: not all TCP edges can be read, and they may use this IPPolicy",
    );
    expect(gets()).toHaveLength(20);
    scene.gateway.drop(TCPEdge.resource, user);
    await scene.clock.advance(60_000);
    await scene.reconcile(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("keeps no policy when a GET leaves out unset modules as well", async () => {
    leaveUnsetOut();
    edges(...open(21));
    await deleted(policy);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("needs no GETs when the service itself refuses to delete a remote in use", async () => {
    const group = await scene.given(TunnelGroupBackend, "web");
    edges(undefined);
    await deleted(group);
    expect(gets()).toEqual([]);
  });
});

it("needs no GETs when it shows all modules", async () => {
  scene.gateway.unlisted.clear();
  edges(undefined, undefined);
  await deleted(policy);
  expect(gets()).toEqual([]);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
});

import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TunnelGroupBackend } from "../../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("while the operator is being uninstalled", () => {
  const restricted = (id: string) => ({ ipRestriction: { enabled: true, ipPolicyRefs: [{ id }] } });
  const mark = (object: ManagedObject) => scene.cluster.annotateByHand(object, annotations.uninstalling, "true");
  const leaving = (id: string, why: string) =>
    `LeftBehind: Leaving ${id} in the account: ${why}, and the operator is being uninstalled`;

  async function uninstalled(object: ManagedObject): Promise<void> {
    scene.cluster.delete(object);
    mark(object);
    await scene.reconcile(object);
  }

  it("a remote that is used, and stays so, is left behind when that has been read, with a Warning", async () => {
    const policy = await scene.given(IPPolicy, "office");
    const id = scene.idOf(policy);
    await scene.given(TCPEdge, "db", { deletionPolicy: "Retain", ...restricted(id) });
    await uninstalled(policy);
    expect(scene.reason(policy)).toBe(leaving(id, 'TCPEdge "db" uses it and stays'));
    await scene.reconcile(policy);
    expect(scene.cluster.events).toMatchObject([
      { type: "Warning", reason: "LeftBehind", note: expect.stringContaining('TCPEdge "db" uses it') },
    ]);
    scene.cluster.annotateByHand(policy, annotations.orphan, "true");
    await scene.reconcile(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });

  it("a remote whose use has ended before that is deleted", async () => {
    const policy = await scene.given(IPPolicy, "office");
    await scene.given(TCPEdge, "db", { deletionPolicy: "Retain", ...restricted(scene.idOf(policy)) });
    await uninstalled(policy);
    expect(scene.reason(policy)).toMatch(/^LeftBehind: /);
    await scene.apply(TCPEdge, "db", { deletionPolicy: "Retain" });
    await scene.clock.advance(30_000);
    await scene.reconcile(policy);
    expect(scene.cluster.exists(policy)).toBe(false);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it.each<[string, (edge: ManagedObject) => unknown]>([
    ["stands, since that is deleted too", () => {}],
    ["is being deleted", (edge) => scene.cluster.delete(edge)],
    [
      "is paused, which a person can end",
      (edge) => {
        scene.cluster.delete(edge);
        scene.cluster.annotateByHand(edge, annotations.paused, "true");
      },
    ],
  ])("a remote waits for a user in any namespace that %s", async (_, prepare) => {
    const policy = await scene.given(IPPolicy, "office");
    const edge = await scene.apply(TCPEdge, "db", restricted(scene.idOf(policy)), { namespace: "team-b" });
    prepare(edge);
    await uninstalled(policy);
    expect(scene.reason(policy)).toMatch(/^(InUse|Deleting): /);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });

  it.each([
    ["has another's mark", "the owner in its metadata is another"],
    ["cannot be deleted", "the service cannot delete an IP policy"],
  ])("a remote that %s is left behind", async (how, why) => {
    const policy = await scene.given(IPPolicy, "office");
    if (how === "cannot be deleted") scene.gateway.refuse("delete", 405);
    else scene.gateway.change(IPPolicy.resource, "ipp_1", { metadata: '{"tunnelgateway.dev/owner":"c2/n/o"}' });
    await scene.resync(IPPolicy);
    await uninstalled(policy);
    expect(scene.reason(policy)).toBe(leaving("ipp_1", why));
    expect(scene.cluster.exists(policy)).toBe(true);
  });

  it("a remote that the service calls in use, and nothing seen uses, is left behind after two minutes", async () => {
    const web = await scene.given(TunnelGroupBackend, "web");
    scene.gateway.refuse("delete", 400, { serviceMessage: "a route has it" });
    await uninstalled(web);
    expect(scene.reason(web)).toMatch(/^InUse: /);
    await scene.clock.advance(121_000);
    scene.gateway.refuse("delete", 400, { serviceMessage: "a route has it" });
    await scene.reconcile(web);
    expect(scene.reason(web)).toMatch(/^LeftBehind: Leaving bkdtg_1 in the account: .*a route has it/);
  });

  it("nothing is left behind for an object that nobody has deleted", async () => {
    const policy = await scene.given(IPPolicy, "office");
    mark(policy);
    await scene.reconcile(policy);
    expect(scene.condition(policy, "Ready")?.status).toBe("True");
  });
});

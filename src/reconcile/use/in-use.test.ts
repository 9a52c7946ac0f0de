import { beforeEach, describe, expect, it, vi } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const restricted = { ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] } };

describe("a deletion that waits for users", () => {
  let policy: ManagedObject;
  let edge: ManagedObject;

  beforeEach(async () => {
    policy = await scene.given(IPPolicy, "office");
    edge = await scene.given(TCPEdge, "db", restricted);
  });

  it("looks after a tenth of the time that it has waited, from one second up to a minute, while they are being deleted", async () => {
    scene.cluster.delete(edge);
    expect(await scene.delete(policy)).toEqual({ requeueAfterSeconds: 1 });
    await scene.clock.advance(100_000);
    expect(await scene.reconcile(policy)).toEqual({ requeueAfterSeconds: expect.closeTo(10, 0) });
    await scene.clock.advance(3_600_000);
    expect(await scene.reconcile(policy)).toEqual({ requeueAfterSeconds: 60 });
  });

  it("looks as often when only one of them will be reported by a watch", async () => {
    const paused = await scene.given(TCPEdge, "paused", restricted);
    scene.cluster.annotateByHand(paused, annotations.paused, "true");
    scene.cluster.delete(paused);
    expect(await scene.delete(policy)).toEqual({ requeueAfterSeconds: 1 });
    expect(scene.reason(policy)).toMatch(/^InUse: .*TCPEdge "db", TCPEdge "paused" first: they use/);
  });

  it("asks the API server about no namespace while they are of its own and are being deleted", async () => {
    const asked = vi.spyOn(scene.cluster.reading, "isNamespaceDeleting");
    scene.cluster.delete(edge);
    await scene.delete(policy);
    expect(scene.reason(policy)).toMatch(/^Deleting: /);
    expect(asked).not.toHaveBeenCalled();
  });

  it("asks once about each namespace that they are of, when its own goes away", async () => {
    const spec = { ipRestriction: { enabled: true, ipPolicyRefs: [{ id: scene.idOf(policy) }] } };
    for (const name of ["one", "two"]) await scene.apply(TCPEdge, name, spec, { namespace: "team-b" });
    scene.cluster.namespaceDeleting = true;
    scene.cluster.otherNamespacesDeleting.add("team-b");
    const asked = vi.spyOn(scene.cluster.reading, "isNamespaceDeleting");
    await scene.delete(policy);
    expect(scene.reason(policy)).toMatch(/^InUse: /);
    expect(asked.mock.calls.flat()).toEqual(["team-a", "team-b"]);
  });
});

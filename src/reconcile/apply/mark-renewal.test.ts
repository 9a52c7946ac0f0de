import { beforeEach, describe, expect, it } from "vitest";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { ownerMarkOf } from "../../objects/ownership.ts";
import { Scene } from "../testing/scene.ts";

const specs = [{ description: "one" }, { description: "one", replacement: "Recreate" }] as const;

describe.each(specs)("a service that refuses the mark of another cluster id, for $replacement", (spec) => {
  let scene: Scene;

  const remotes = () => scene.gateway.remotesOf(TLSEdge.resource);

  beforeEach(() => {
    scene = new Scene();
  });

  const given = async () => {
    const object = await scene.given(TLSEdge, "web", spec);
    scene.changeClusterID("c2");
    scene.gateway.beforeCall = ({ verb, body }) => {
      if (verb === "update" && body && ownerMarkOf(body)?.startsWith("c2/")) scene.gateway.refuse("update", 400);
    };
    return { object, id: scene.idOf(object) };
  };

  it("is asked once, and the remote stays", async () => {
    const { object, id } = await given();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain(`update ${id}`);
    for (let count = 0; count < 3; count += 1) {
      await scene.clock.advance(300_000);
      await scene.reconcile(object);
    }
    expect(scene.gateway.takeCalls()).not.toContain(`update ${id}`);
    expect(remotes()).toMatchObject([{ id }]);
    expect(scene.reason(object)).toBe("Available: The resource exists in the account as specified");
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });

  it("gets an edit of the spec without the mark", async () => {
    const { object, id } = await given();
    await scene.apply(TLSEdge, "web", { ...spec, description: "two" });
    expect(remotes()).toMatchObject([{ id, description: "two" }]);
    expect(remotes().map(ownerMarkOf)).toEqual(["c1/team-a/web"]);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });
});

import { expect, it } from "vitest";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { Scene } from "../testing/scene.ts";

it("a remote is not recreated for the mark of another cluster id, when the service refuses the new mark", async () => {
  const scene = new Scene();
  const object = await scene.given(TLSEdge, "web", { description: "one", replacement: "Recreate" });
  const id = scene.idOf(object);
  scene.changeClusterID("c2");
  for (let count = 0; count < 10; count += 1) scene.gateway.refuse("update", 400);
  await scene.settle(object, 3);
  expect(scene.gateway.remotesOf(TLSEdge.resource)).toMatchObject([{ id }]);
  expect(scene.gateway.takeCalls()).not.toContain(`delete ${id}`);
  expect(scene.condition(object, "Ready")?.status).toBe("True");
});

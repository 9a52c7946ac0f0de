import { expect, test } from "vitest";
import { conditionOf, type KubeJSON } from "../../../tools/shared/objects.ts";
import { manifestOf } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

/** The API server allows this many bytes in all annotations of an object together. */
const ANNOTATION_BYTES = 262_144;

/** An annotation that leaves this many bytes for others. */
const annotationLeaving = (bytes: number): Record<string, string> => {
  const name = "example.com/full";
  return { [name]: "x".repeat(ANNOTATION_BYTES - name.length - bytes) };
};

function annotated(kind: string, name: string, spec: object, annotations: Record<string, string>): KubeJSON {
  const object = manifestOf({ kind, name, spec: spec as Record<string, unknown> });
  return { ...object, metadata: { ...object["metadata"], annotations } };
}

test("an object whose annotations are full says so and what helps, and goes on when there is room", async () => {
  await world.kube.apply(annotated("IPPolicy", "full", {}, annotationLeaving(10)));
  const object = await world.condition("IPPolicy", "full", { type: "Stalled", status: "True", reason: "WriteRefused" });
  const message = conditionOf(object, "Ready")?.message as string;
  expect(message).toMatch(
    /^Make the object smaller: metadata\.annotations: Too long: .*262144 bytes\. Annotations of other/,
  );
  expect(message.match(/metadata\.annotations/g)).toHaveLength(1);
  expect(message).not.toContain("nil");
  expect(world.changesSent()).toEqual([]);
  await world.kube.annotate("IPPolicy", "full", {
    "example.com/full": null,
    "tunnelgateway.dev/reconcile-requested-at": "now",
  });
  await world.ready("IPPolicy", "full");
});

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

/** The API server stores objects of up to 1.5 MiB. This one has no room for a finalizer, nor for a status. */
async function createLargest(name: string): Promise<void> {
  for (let length = 1_572_000; length > 1_560_000; length -= 200) {
    const config = { text: "x".repeat(length) };
    const spec = { policy: { inbound: [{ actions: [{ type: "custom", config }] }] } };
    const made = await world.kube.create(manifestOf({ kind: "TCPEdge", name, spec })).catch(() => undefined);
    if (made) return;
  }
  throw new Error("the API server takes none of them");
}

test("an object with no room for its status says so, and what helps, by an event", async () => {
  await createLargest("large");
  const event = await world.until("an event says it", async () => {
    const { stdout } = await world.kubectl("get", "events", "--field-selector=involvedObject.name=large", "-o", "json");
    return JSON.parse(stdout).items.find(({ reason }: KubeJSON) => reason === "WriteRefused") as KubeJSON | undefined;
  });
  expect(event["message"]).toMatch(/^Make the object smaller: /);
  expect(world.changesSent().filter(({ path }) => path.startsWith("/edges"))).toEqual([]);
  expect((await world.quiet(2000)).requests).toBeLessThan(100);
  await world.kube.patch("TCPEdge", "large", { spec: { policy: null } });
  await world.ready("TCPEdge", "large");
});

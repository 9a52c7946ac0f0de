import { expect, it } from "vitest";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";

const specWith = (config: string) => ({
  policy: { inbound: [{ name: "limit", actions: [{ type: "rate-limit", config: JSON.parse(config) }] }] },
});

it.each([
  ["a number beyond 2^53", '{"most": 9223372036854775807}', /^InvalidSpec: Write spec.policy.*config.most as a text/],
  [
    "a number inside of a list",
    '{"nested": {"list": [9007199254740993]}}',
    /^InvalidSpec: Write spec.policy.* as a text/,
  ],
  ["3000 levels", `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`, /^InvalidSpec: Nest spec.policy/],
])("a spec with %s is refused before anything is sent, and can be deleted", async (_, config, reason) => {
  const scene = new Scene();
  const object = await scene.apply(TCPEdge, "edge", specWith(config));
  expect(scene.reason(object)).toMatch(reason);
  expect(scene.gateway.takeCalls().filter((call) => call !== "list")).toEqual([]);
  scene.cluster.delete(object);
  expect(scene.cluster.exists(object)).toBe(false);
});

it("numbers that JavaScript holds arrive as they are", async () => {
  const scene = new Scene();
  const config = { capacity: 2 ** 53 - 1, share: 0.1, small: 1e-9, below: -5 };
  const object = await scene.apply(TCPEdge, "edge", specWith(JSON.stringify(config)));
  expect(scene.condition(object, "Ready")?.status).toBe("True");
  const sent = scene.gateway.everyCall.find(({ verb }) => verb === "create");
  expect(JSON.stringify(sent?.body)).toContain(JSON.stringify(config));
});

import { beforeEach, describe, expect, it } from "vitest";
import { filesPassedBy } from "../../test/fakes/reconcile/files-passed.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../kinds/api-key.ts";
import { EventSource } from "../kinds/event-source.ts";
import { EventSubscription } from "../kinds/event-subscription.ts";
import { HTTPSEdgeRoute } from "../kinds/https-edge-route.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import type { Kind } from "../schema/define.ts";

/** The files of what only some kinds have. */
const features = {
  entries: ["use/sharing"],
  modules: ["apply/modules/release-modules", "find/module-origins", "use/left-modules"],
  output: ["apply/output-secret", "decide/output-place", "use/key-in-use", "use/token-records"],
  records: ["dns/follow", "dns/settings", "dns/withdraw"],
  namedBySpec: ["find/ways/by-spec"],
  replacement: ["apply/replace"],
};

type Feature = keyof typeof features;

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
});

/** The features whose files a piece of work has passed. */
async function passedBy(work: () => Promise<void>): Promise<Feature[]> {
  const files = await filesPassedBy(work);
  const hasRun = (file: string) => files.includes(`reconcile/${file}.ts`);
  return (Object.keys(features) as Feature[]).filter((feature) => features[feature].some(hasRun));
}

interface Life {
  kind: Kind;
  spec: () => Record<string, unknown>;
  /** Its fields replace those of the spec. */
  edit: Record<string, unknown>;
}

/** Made, looked at again, edited, put right, and deleted. */
async function live({ kind, spec, edit }: Life): Promise<void> {
  const object = await scene.given(kind, "one", spec());
  await scene.reconcile(object);
  await scene.apply(kind, "one", { ...spec(), ...edit });
  await scene.settle(object);
  const id = scene.idOf(object);
  if (scene.gateway.remote(kind.resource, id)) scene.gateway.change(kind.resource, id, { description: "theirs" });
  scene.restart();
  await scene.settle(object);
  await scene.deleteAndSettle(object);
  expect(scene.cluster.exists(object)).toBe(false);
}

describe("a kind passes the files of the features that it has, and no others", () => {
  it.each<[string, Life, Feature[]]>([
    ["TCPEdge", { kind: TCPEdge, spec: () => ({ hostports: ["a.example.com:1"] }), edit: { description: "x" } }, []],
    ["IPPolicy", { kind: IPPolicy, spec: () => ({}), edit: { description: "x" } }, []],
    ["APIKey", { kind: APIKey, spec: () => ({ tokenSecretName: "token" }), edit: { description: "x" } }, ["output"]],
    ["EventSubscription", { kind: EventSubscription, spec: () => ({}), edit: { description: "x" } }, ["entries"]],
    [
      "ReservedDomain",
      { kind: ReservedDomain, spec: () => ({ domain: "a.example.com" }), edit: { description: "x" } },
      ["records"],
    ],
    [
      "EventSource",
      { kind: EventSource, spec: () => ({ subscriptionRef: { id: "esb_1" }, type: "a.v0" }), edit: {} },
      ["entries", "namedBySpec"],
    ],
    [
      "HTTPSEdgeRoute",
      {
        kind: HTTPSEdgeRoute,
        spec: () => ({ edgeId: "edghts_1", routeId: "edghtsrt_1" }),
        edit: { compression: { enabled: true } },
      },
      ["modules", "namedBySpec"],
    ],
  ])("%s", async (_, life, expected) => {
    scene.gateway.seed(EventSubscription.resource, { id: "esb_1" });
    scene.gateway.seed(HTTPSEdgeRoute.resource, { id: "edghtsrt_1" });
    expect(await passedBy(() => live(life))).toEqual(expected);
  });

  it("a TCPEdge that no longer has a policy as well", async () => {
    const { id } = scene.gateway.seed(IPPolicy.resource, {});
    const spec = () => ({ hostports: ["a.example.com:1"], ipRestriction: { ipPolicyRefs: [{ id }] } });
    const sent: unknown[] = [];
    scene.gateway.normalise = (remote) => {
      sent.push(remote["ip_restriction"]);
      return remote;
    };
    const passed = passedBy(() => live({ kind: TCPEdge, spec, edit: { ipRestriction: undefined } }));
    expect(await passed).toEqual([]);
    expect(sent).toContainEqual(expect.objectContaining({ ip_policies: [expect.objectContaining({ id })] }));
  });
});

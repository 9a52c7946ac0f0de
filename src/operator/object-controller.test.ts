import { beforeEach, expect, it } from "vitest";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { recordingLogger } from "../../test/fakes/runtime/logs.ts";
import { until } from "../../test/fakes/runtime/until.ts";
import { readConfig } from "../config.ts";
import { GatewayError } from "../gateway/errors.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import type { ManagedObject } from "../objects/object.ts";
import { keyOf } from "../runtime/object.ts";
import type { ClusterIdentity } from "./kubernetes/cluster-identity.ts";
import { objectController } from "./object-controller.ts";

let scene: Scene;
let object: ManagedObject;
let openNamespaces: string[];
/** How often it was asked whether a namespace is open. */
let asked: number;

beforeEach(async () => {
  scene = new Scene();
  object = await scene.given(IPPolicy, "office");
  openNamespaces = [object.metadata.namespace];
  asked = 0;
});

/** The result ends the controller when its workers have nothing to do any more. */
function startController() {
  const accounts = {
    settle: async () => {},
    accountOf: () => scene.account,
    ofObjects: { nameOf: () => "", specifiedNameOf: () => "", flowOf: () => "" },
  };
  const controller = objectController(IPPolicy, {
    config: readConfig({ GATEWAY_API_KEY: "k", GATEWAY_BASE_URL: "https://service.test" }),
    clock: scene.clock,
    cluster: scene.cluster,
    dns: scene.dns,
    memory: scene.memory,
    log: recordingLogger(),
    accounts,
    unfinalizedObjects: { get: () => undefined },
    identity: { id: "c1" } as ClusterIdentity,
    secretsWatched: () => false,
    isOpen(namespace) {
      asked += 1;
      return openNamespaces.includes(namespace);
    },
    isOurs: () => true,
  });
  const stop = new AbortController();
  controller.start(stop.signal);
  controller.enqueue(keyOf(object));
  return {
    async end() {
      await controller.drain();
      stop.abort();
    },
  };
}

it("an object that was deleted during its reconcile is forgotten, with what the reconcile recorded", async () => {
  const sent: string[] = [];
  scene.gateway.update = async (_, id) => {
    scene.cluster.vanish(object);
    scene.memory.end(object.metadata.uid);
    sent.push(id);
    throw new GatewayError({ kind: "failed", method: "PATCH", route: "/ip_policies/{id}", status: 500, problem: "no" });
  };
  scene.cluster.apply(IPPolicy, "office", { description: "new" });
  const controller = startController();
  await until(() => sent.length === 1);
  await controller.end();
  expect(scene.memory.known(object.metadata.uid)).toBeUndefined();
});

it("nothing is done in a namespace of which too little is known", async () => {
  openNamespaces = [];
  scene.cluster.apply(IPPolicy, "office", { description: "new" });
  const closed = startController();
  await until(() => asked > 0);
  await closed.end();
  expect([scene.gateway.takeCalls(), scene.cluster.writes]).toEqual([[], []]);
  openNamespaces = [object.metadata.namespace];
  const controller = startController();
  await until(() => scene.gateway.calls.length > 0);
  await controller.end();
});

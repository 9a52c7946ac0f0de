import { expect, it } from "vitest";
import { readConfig } from "../config.ts";
import { GatewayError } from "../gateway/errors.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { Scene } from "../reconcile/testing/scene.ts";
import { keyOf } from "../runtime/object.ts";
import { recordingLogger } from "../runtime/testing/logs.ts";
import { until } from "../runtime/testing/until.ts";
import type { Accounts } from "./accounts/accounts.ts";
import type { ClusterIdentity } from "./kubernetes/cluster-identity.ts";
import { objectController } from "./object-controller.ts";

it("nothing is remembered of an object that has ended while a request of it was under way", async () => {
  const scene = new Scene();
  const object = await scene.given(IPPolicy, "office");
  const accounts: Partial<Accounts> = {
    settle: async () => {},
    nameOf: () => "",
    specifiedNameOf: () => "",
    accountOf: () => scene.account,
    flowOf: () => "",
    forget: (uid) => scene.account.forget(uid),
  };
  const controller = objectController(IPPolicy, {
    ...{ config: readConfig({ GATEWAY_API_KEY: "k", GATEWAY_BASE_URL: "https://service.test" }), clock: scene.clock },
    ...{ cluster: scene.cluster, dns: scene.dns, log: recordingLogger(), accounts: accounts as Accounts },
    unfinalizedObjects: { get: () => undefined },
    identity: { id: "c1" } as ClusterIdentity,
    secretsWatched: () => false,
    isOurs: () => true,
  });
  const sent: string[] = [];
  scene.gateway.update = async (_, id) => {
    scene.cluster.vanish(object);
    sent.push(id);
    throw new GatewayError({ kind: "failed", method: "PATCH", route: "/ip_policies/{id}", status: 500, problem: "no" });
  };
  scene.cluster.apply(IPPolicy, "office", { description: "new" });
  const stop = new AbortController();
  controller.start(stop.signal);
  controller.enqueue(keyOf(object));
  await until(() => sent.length === 1);
  await controller.drain();
  stop.abort();
  expect(scene.account.failures.of(object.metadata.uid)).toBeUndefined();
});

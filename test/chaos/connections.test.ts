import { rm, writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { randomFrom } from "../../tools/shared/random.ts";
import { seed } from "../fakes/runtime/seed.ts";
import { Link, type LinkedKubeconfig, linkedKubeconfig } from "../support/link.ts";
import { useWorld } from "../support/world.ts";
import { DISRUPTION_ENV, DisruptionTest } from "./support/disruption.ts";

describe.each([seed()])("between operator and API server, with CHAOS_SEED=%d", (chosen) => {
  const world = useWorld({ process: true, startOperator: false, simulator: { seed: chosen }, env: DISRUPTION_ENV });
  const random = randomFrom(chosen);
  const disruption = new DisruptionTest(world, random);
  let link: Link;
  let kubeconfig: LinkedKubeconfig;

  const binding = () => `${world.namespace}-operator`;

  /** A token that is good for as long as its Secret is there. */
  async function newToken(name: string): Promise<string> {
    await world.kube.apply({ apiVersion: "v1", kind: "Secret", metadata: { name } });
    const bound = ["--bound-object-kind=Secret", `--bound-object-name=${name}`];
    return (await world.kubectl("create", "token", "operator", ...bound)).stdout.trim();
  }

  beforeAll(async () => {
    link = await Link.to(world.cluster.url);
    await world.kubectl("create", "serviceaccount", "operator");
    const subject = `--serviceaccount=${world.namespace}:operator`;
    await world.kubectl("create", "clusterrolebinding", binding(), "--clusterrole=cluster-admin", subject);
    kubeconfig = await linkedKubeconfig(world.cluster.kubeconfig, link, await newToken("first"));
    const env = { LEADER_ELECTION: "true", POD_NAMESPACE: world.namespace };
    await world.startOperator(env, { kubeconfig: kubeconfig.path });
    await disruption.begin();
  });

  afterAll(async () => {
    await world.operator.stop("SIGKILL");
    await world.kubectl("delete", "clusterrolebinding", binding());
    await Promise.all([link.close(), kubeconfig.remove()]);
  });

  test("no data passes for a while, and both ends stay open", () =>
    disruption.survive(async () => {
      link.startDropping();
      await sleep(4_000);
      link.stopDropping();
    }));

  test("the token is revoked, and its file absent, then empty, until there is a new one", () =>
    disruption.survive(async () => {
      const token = await newToken("second");
      await rm(kubeconfig.tokenFile);
      await world.kube.delete("Secret", "first");
      const refused = () => world.operator.metric("rest_client_requests_total", { code: "401" });
      await world.until("the old token is refused", async () => (await refused()) > 0);
      // watches have to be let in again
      link.cut();
      await sleep(1_000);
      expect(await world.operator.read("/healthz")).toContain("ok");
      await writeFile(kubeconfig.tokenFile, "");
      link.cut();
      await sleep(1_000);
      await writeFile(kubeconfig.tokenFile, token);
    }));

  // last, since each cut makes a watch hesitate longer
  test("connections are reset again and again", () =>
    disruption.survive(async () => {
      for (let cuts = 0; cuts < 12; cuts += 1) {
        link.cut();
        await sleep(100 + random.below(500));
      }
    }));
});

/** So much faster run the clocks of an operator that would otherwise wait three minutes for a sign of life. */
const RATE = 12;

describe.each([seed()])("half-open, with CHAOS_SEED=%d", (chosen) => {
  const env = { ...DISRUPTION_ENV, REQUEST_TIMEOUT: "60s" };
  const world = useWorld({ process: true, startOperator: false, simulator: { seed: chosen }, env });
  const disruption = new DisruptionTest(world, randomFrom(chosen));
  let link: Link;
  let kubeconfig: LinkedKubeconfig;

  beforeAll(async () => {
    link = await Link.to(world.cluster.url);
    kubeconfig = await linkedKubeconfig(world.cluster.kubeconfig, link);
    await world.startOperator({}, { kubeconfig: kubeconfig.path, clock: { rate: RATE } });
    await disruption.begin();
  });

  afterAll(async () => {
    await world.operator.stop("SIGKILL");
    await Promise.all([link.close(), kubeconfig.remove()]);
  });

  test("every connection is dead, and the operator never gets an error for it", async () => {
    await disruption.survive(async () => {
      await sleep(1_000);
      link.dropConnections();
      await sleep(2_000);
    });
    expect(world.operator.lines.some((line) => line.includes("No event or bookmark for too long"))).toBe(true);
  });
});

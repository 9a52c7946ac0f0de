import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { FaultAction } from "../../../tools/simulator/control/faults.ts";
import { useWorld } from "../../support/world.ts";

/** Failures that concern a whole account. The objects `settled` are Ready before them. */
describe("an account", () => {
  const world = useWorld();
  const control = () => world.simulator.control;
  const numbered = (names: string, count: number) =>
    Array.from({ length: count }, (_, index) => manifest("IPPolicy", `${names}-${index}`, {}) as KubeJSON);

  const settled = numbered("settled", 6);

  beforeAll(async () => {
    await world.kube.apply(...settled);
    await world.allReady(settled);
  });

  const saysOf = (objects: KubeJSON[], reason: string) =>
    world.untilAll(reason, objects, (object) => conditionOf(object, "Ready")?.reason === reason);

  let looks = 0;

  /** The objects were reconciled without success, and are Ready as before. */
  async function stay(reason: string, objects: KubeJSON[]): Promise<void> {
    const asked = { [annotations.reconcileRequestedAt]: `${reason} ${++looks}` };
    await Promise.all(objects.map(({ metadata }) => world.kube.annotate("IPPolicy", metadata.name, asked)));
    const found = await world.untilAll(reason, objects, (object) => conditionOf(object, "Synced")?.reason === reason);
    expect(found.filter(isReady)).toHaveLength(objects.length);
  }

  /** A restart would not bring the service back, and a pod that is not ready would hold up a rollout. */
  async function isWell(): Promise<void> {
    const answers = await Promise.all((["/healthz", "/readyz"] as const).map((path) => world.operator.read(path)));
    for (const answer of answers) expect(answer).toMatch(/\nok\n$/);
  }

  test("whose key is refused is asked now and then, and goes on once the key is accepted", async () => {
    const objects = numbered("locked-out", 10);
    control().apiKeys.revoke(world.simulator.apiKey);
    const before = control().count();
    await stay("Unauthorized", settled.slice(0, 1));
    await world.kube.apply(...objects);
    for (const object of await saysOf(objects, "Unauthorized")) {
      expect(conditionOf(object, "Ready")?.message).toContain("API key");
    }
    const until = Date.now() + 3000;
    await world.until("three seconds are over", async () => Date.now() > until);
    expect(control().count() - before).toBeLessThanOrEqual(4);
    await isWell();
    control().apiKeys.accept(world.simulator.apiKey);
    await world.allReady([...objects, ...settled]);
    expect(control().objects("ip_policies")).toHaveLength(objects.length + settled.length);
  });

  test.each(["destroy", "unavailable"] as const)("that cannot be reached (%s) is waited for", async (kind) => {
    const objects = numbered(kind, 3);
    control().outage(true, kind);
    await stay("ServiceUnavailable", settled);
    await world.kube.apply(...objects);
    for (const object of await saysOf(objects, "ServiceUnavailable")) {
      expect(conditionOf(object, "Reconciling")?.status).toBe("True");
      expect(conditionOf(object, "Stalled")).toBeUndefined();
    }
    expect(world.operator.isRunning).toBe(true);
    await isWell();
    control().outage(false);
    await world.allReady(objects);
    await world.reconcileNow(...settled);
  });

  test("that has had too many requests gets none before it said so", async () => {
    control().fault({ method: "POST", path: "/reserved_addrs", action: { rateLimit: { retryAfterSeconds: 2 } } });
    await world.kube.apply(manifest("ReservedAddress", "limited", {}));
    const wanted = { type: "Ready", status: "False", reason: "RateLimited" };
    const limited = await world.condition("ReservedAddress", "limited", wanted);
    expect(conditionOf(limited, "Reconciling")?.status).toBe("True");
    await world.kube.apply(manifest("TunnelGroupBackend", "limited-as-well", {}));
    await world.ready("ReservedAddress", "limited");
    await world.ready("TunnelGroupBackend", "limited-as-well");
    const all = control().requests();
    const refused = all.findIndex(({ status }) => status === 429);
    const [at, next] = [all[refused]?.time ?? 0, all[refused + 1]?.time ?? 0];
    expect(next - at).toBeGreaterThanOrEqual(1990);
    expect(control().objects("reserved_addrs")).toHaveLength(1);
  });

  test("each request is a line of the log, at the level debug", async () => {
    const body = { error_code: "ERR_100", msg: "No", details: { operation_id: "op_1" } };
    control().fault({ method: "POST", path: "/reserved_addrs", action: { status: 400, body } });
    await world.kube.apply(manifest("ReservedAddress", "logged", { description: "no line has this" }));
    await world.condition("ReservedAddress", "logged", { type: "Ready", reason: "InvalidSpec" });
    const lines = world.operator.lines.flatMap((line) =>
      line.includes('"Sent to the service"') ? JSON.parse(line) : [],
    );
    const own = lines.filter(({ name, method }) => name === "logged" && method === "POST");
    const about = {
      level: "debug",
      controller: "reservedaddress",
      namespace: world.namespace,
      path: "/reserved_addrs",
    };
    const timed = { ...about, milliseconds: expect.any(Number) };
    expect(own).toMatchObject([{ ...timed, status: 400, code: "ERR_100", operationID: "op_1" }]);
    expect(JSON.stringify(lines)).not.toContain("no line has this");
  });

  const plain = { metadata: "not ours to mark" };
  const known = [
    { by: "mark", collection: "ip_policies", of: (name: string) => manifest("IPPolicy", name, {}) },
    {
      by: "name",
      collection: "reserved_domains",
      of: (name: string) => manifest("ReservedDomain", name, { ...plain, domain: `${name}.example.org` }),
    },
    {
      by: "all it is",
      collection: "backends/tunnel_group",
      of: (name: string) => manifest("TunnelGroupBackend", name, { ...plain, labels: { name } }),
    },
  ];

  test.each([
    ["garbage", { garbage: true }],
    ["half-an-answer", { truncate: true }],
    ["nothing", { cut: "after" }],
  ] satisfies [string, FaultAction][])(
    "that answers a create with %s has one remote in the end",
    async (name, action) => {
      const before = known.map(({ collection }) => control().objects(collection).length);
      for (const { collection } of known) control().fault({ method: "POST", path: `/${collection}`, action });
      const ready = await applied(known.map(({ of }) => of(name)));
      expect(known.map(({ collection }) => control().objects(collection).length)).toEqual(
        before.map((count) => count + 1),
      );
      for (const { kind, status } of ready) expect(control().get(status.id), kind).not.toBeNull();
    },
  );

  test("that may have done a create is not asked for it again before it is certain that it has not", async () => {
    control().fault({ method: "POST", path: "/event_subscriptions", action: { cut: "before" } });
    await world.kube.apply(manifest("EventSubscription", "uncertain", {}));
    const wanted = { type: "Ready", status: "False", reason: "Creating" };
    const uncertain = await world.condition("EventSubscription", "uncertain", wanted);
    expect(conditionOf(uncertain, "Reconciling")?.status).toBe("True");
    await world.quiet();
    expect(control().count({ method: "POST", path: "/event_subscriptions" })).toBe(1);
  });

  test("that answers a look with garbage says so, and is asked again", async () => {
    // until it was seen: the next look follows within milliseconds
    control().fault({
      method: "GET",
      path: "/ip_policies/",
      times: Number.POSITIVE_INFINITY,
      action: { garbage: true },
    });
    const [one] = settled;
    await stay("UnexpectedResponse", [one]);
    control().clearFaults();
    const [object] = await world.reconcileNow(one);
    expect(conditionOf(object, "Synced")?.status).toBe("True");
  });

  async function applied(objects: KubeJSON[]): Promise<KubeJSON[]> {
    await world.kube.apply(...objects);
    return world.allReady(objects);
  }
});

describe("a key in a file", () => {
  const world = useWorld({ startOperator: false });
  let directory = "";

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "api-key-"));
  });
  afterAll(() => rm(directory, { recursive: true, force: true }));

  test("is read again when it was changed, without a restart", async () => {
    const file = join(directory, "key");
    await writeFile(file, `${world.simulator.apiKey}\n`);
    await world.startOperator({ GATEWAY_API_KEY: "", GATEWAY_API_KEY_FILE: file });
    await world.kube.apply(manifest("IPPolicy", "before", {}));
    await world.ready("IPPolicy", "before");

    const { apiKeys } = world.simulator.control;
    apiKeys.accept("the-next-key");
    apiKeys.revoke(world.simulator.apiKey);
    await world.kube.apply(manifest("IPPolicy", "between", {}));
    await world.condition("IPPolicy", "between", { type: "Ready", status: "False", reason: "Unauthorized" });
    await writeFile(file, "the-next-key\n");
    await world.ready("IPPolicy", "between");
    expect(world.operator.lines.filter((line) => line.includes("the-next-key"))).toEqual([]);

    await rm(file);
    await world.kube.apply(manifest("IPPolicy", "after", {}));
    const lacking = await world.condition("IPPolicy", "after", { type: "Ready", status: "False" });
    expect(conditionOf(lacking, "Ready")?.reason).toBe("AccountNotReady");
    await writeFile(file, "the-next-key");
    await world.ready("IPPolicy", "after");
  });
});

import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../../src/schema/contract.ts";
import { conditionOf, isReady, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { type Simulator, startSimulator } from "../../../tools/simulator/simulator.ts";
import { Gate, type ProxiedRequest, type Substitute } from "../../support/gate.ts";
import { managedKinds } from "../../support/kube.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

/** So many that a list of them has two pages. */
const MANY = 150;
const KIND = "TunnelGroupBackend";
const PATH = "/backends/tunnel_group";

const numbered = (names: string, count: number): KubeJSON[] =>
  Array.from({ length: count }, (_, index) => manifest(KIND, `${names}-${index}`, { labels: { names } }));

const isTold = (object: KubeJSON): boolean => conditionOf(object, "Synced")?.reason === "AccountMismatch";
const isSynced = (object: KubeJSON): boolean => isReady(object) && conditionOf(object, "Synced")?.status === "True";

describe("under many objects that are Ready", () => {
  const world = useWorld({ startOperator: false });
  let gate: Gate;
  /** An account of somebody else's, with nothing of ours in it. */
  let other: Simulator;
  let swapped = false;

  beforeAll(async () => {
    other = await startSimulator({ apiKey: world.simulator.apiKey });
    gate = await Gate.before(world.simulator.url);
    gate.guard = (passage, side) => (swapped && side === "before" ? elsewhere(passage) : undefined);
    await world.kube.apply(
      secret("key", { key: world.simulator.apiKey }),
      manifest("GatewayAccount", "default", { apiKeySecretRef: { name: "key", key: "key" } }),
    );
    await start();
  });

  afterAll(async () => {
    await world.operator.stop();
    const released = { metadata: { finalizers: null } };
    await world.kube.patch("GatewayAccount", "default", released);
    await world.kube.patch("Secret", "key", released);
    await gate.close();
    await other.stop();
  });

  const start = () => world.startOperator({}, { gateway: { url: gate.url, apiKey: world.simulator.apiKey } });

  /** The same address and key lead to the other account. */
  async function elsewhere({ method, path, headers, body }: ProxiedRequest): Promise<Substitute> {
    const { host: _, connection: _kept, "content-length": _length, ...more } = headers;
    const init = { method, headers: more as Record<string, string> };
    const answer = await fetch(other.url + path, body ? { ...init, body } : init);
    return { status: answer.status, body: (await answer.text()).replaceAll(other.url, gate.url) };
  }

  const settled = numbered("settled", MANY);
  const leaving = numbered("leaving", 8);
  const [edited, ...untouched] = settled as [KubeJSON, ...KubeJSON[]];
  const fresh = numbered("fresh", 1);
  const rows = () => world.simulator.control.objects("backends/tunnel_group");
  const ids = () => rows().map(({ id }) => id);
  /** Requests about the kind; a page of a list has a hundred. */
  const asked = ({ control }: Simulator) =>
    control.requests().flatMap(({ method, path }) => (path.startsWith(PATH) ? [`${method} ${path}`] : []));
  const pages = (count: number) => Array.from({ length: count }, () => `GET ${PATH}`);
  const accountSays = (reason: string) => world.condition("GatewayAccount", "default", { type: "Ready", reason });

  /** From now until all are as they were; by the contract less than a minute. */
  const allWell = () => world.untilObjects("all are well", managedKinds, (objects) => objects.every(isSynced), 60);

  // guards against everything being made a second time, and every deletion being taken for done
  test("the key of another account creates and deletes nothing, and work continues with the right key", async () => {
    const all = [...settled, ...leaving];
    for (let from = 0; from < all.length; from += 50) await world.kube.apply(...all.slice(from, from + 50));
    await world.untilObjects("all are Ready", [KIND], (objects) => objects.filter(isReady).length === all.length, 180);
    const before = { ids: ids(), changes: world.changesSent().length };

    swapped = true;
    await Promise.all(leaving.map(({ metadata }) => world.kube.delete(KIND, metadata.name)));
    await world.kube.patch(KIND, edited.metadata.name, { spec: { description: "edited" } });
    const reported = await world.untilAll("all are told", untouched, isTold, 120);
    expect(reported.filter(isReady)).toHaveLength(untouched.length);
    await world.untilAll("the deletions and the edit wait", [...leaving, edited], isTold, 60);
    await world.kube.apply(...fresh);
    await world.untilAll("a new one waits", fresh, isTold);
    const { status } = await accountSays("AccountMismatch");
    expect(conditionOf({ status }, "Ready").message).toMatch(/: 15\d of 15\d remotes are not in its account/);
    await sleep(1000);
    expect(other.control.accountIsEmpty()).toBe(true);
    expect(other.control.count({ method: "POST" })).toBe(0);
    expect(world.changesSent()).toHaveLength(before.changes);

    world.simulator.control.clearRequests();
    swapped = false;
    await allWell();
    await accountSays("Available");
    expect(asked(world.simulator).filter((request) => request === `GET ${PATH}`).length).toBeLessThanOrEqual(2);
    for (const { metadata } of leaving) await world.gone(KIND, metadata.name);
    const kept = rows().filter(({ id }) => before.ids.includes(id));
    expect(kept).toHaveLength(settled.length);
    expect(rows()).toHaveLength(settled.length + fresh.length);
    expect(kept.filter(({ description }) => description === "edited")).toHaveLength(1);
  });

  // guards against the same at a start, where nothing is remembered
  test("the key of another account changes nothing at a start either", async () => {
    await world.operator.stop();
    const before = { ids: ids(), changes: world.changesSent().length };
    other.control.clearRequests();
    swapped = true;
    await start();
    const reported = await world.untilAll("all are told", settled, isTold, 120);
    expect(reported.filter(isReady)).toHaveLength(settled.length);
    swapped = false;
    await allWell();
    expect(asked(other).filter((request) => request === `GET ${PATH}`)).toEqual(pages(1));
    expect(other.control.requests().filter(({ method }) => method !== "GET")).toEqual([]);
    expect(ids()).toEqual(before.ids);
    expect(world.changesSent()).toHaveLength(before.changes);
  });

  // guards against an alarm and a request for each of them, and a request more when the key is accepted again
  test("a refused key leaves them Ready, and costs a handful of requests", async () => {
    const { control, apiKey } = world.simulator;
    const before = ids();
    await world.operator.stop();
    control.apiKeys.revoke(apiKey);
    control.clearRequests();
    const count = control.count();
    await start();
    const isRefused = (object: KubeJSON) => conditionOf(object, "Synced")?.reason === "Unauthorized";
    const refused = await world.untilAll("all are told", settled, isRefused, 120);
    expect(refused.filter(isReady)).toHaveLength(settled.length);
    await accountSays("Unauthorized");
    await sleep(2000);
    expect(control.count() - count).toBeLessThanOrEqual(8);
    expect(world.changesSent()).toEqual([]);

    control.apiKeys.accept(apiKey);
    control.clearRequests();
    await allWell();
    await accountSays("Available");
    // a page has a hundred
    expect(asked(world.simulator)).toEqual(pages(2));
    expect(control.requests().length - 2).toBeLessThanOrEqual(3);
    expect(ids()).toEqual(before);
  });

  // guards against a person being asked for each resource that somebody deletes by hand
  test("a few missing remotes are created again without a confirmation", async () => {
    const some = (await world.kube.list(KIND)).slice(0, 4);
    const before = ids().length;
    for (const { status } of some) world.simulator.control.remove(status.id);
    await world.reconcileNow(...some);
    expect(ids()).toHaveLength(before);
  });

  // guards against a brake that nobody can take off, and one that every editor of an object can
  test("many missing remotes are created again when a person confirms it on the GatewayAccount, not on the objects", async () => {
    // little more than the share that counts as a mass loss
    const lost = settled.slice(0, 20).map(({ metadata }) => metadata.name);
    const objects = (await world.kube.list(KIND)).filter(({ metadata }) => lost.includes(metadata.name));
    const ask = (kind: string, name: string, value: string) =>
      world.kube.annotate(kind, name, { [annotations.reconcileRequestedAt]: value });
    // from before anything is told, as tools do that ask at each of their runs
    await world.operator.stop();
    for (const { status } of objects) world.simulator.control.remove(status.id);
    const left = rows().length;
    await ask("GatewayAccount", "default", "routine");
    await start();
    await world.untilAll("all are told", objects, isTold);
    await Promise.all(lost.map((name) => ask(KIND, name, "confirmed")));
    await accountSays("AccountMismatch");
    await world.quiet();
    expect(rows()).toHaveLength(left);

    await ask("GatewayAccount", "default", "confirmed");
    await world.untilAll("all are made again", objects, isSynced);
    expect(rows()).toHaveLength(left + objects.length);
    await accountSays("Available");
  });
});

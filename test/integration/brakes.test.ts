import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../src/kinds/contract.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import { Gate, type Passage, type Substitute } from "../support/gate.ts";
import { conditionOf, isReady, type KubeJSON, manifest, useWorld } from "../support/world.ts";

const KIND = "TunnelGroupBackend";
const PATH = "/backends/tunnel_group";

const numbered = (names: string, count: number): KubeJSON[] =>
  Array.from({ length: count }, (_, index) => manifest(KIND, `${names}-${index}`, { labels: { names } }));

const isTold = (object: KubeJSON): boolean => conditionOf(object, "Synced")?.reason === "AccountMismatch";
const isSynced = (object: KubeJSON): boolean => isReady(object) && conditionOf(object, "Synced")?.status === "True";

describe("the key of another account", () => {
  const world = useWorld({ startOperator: false });
  let gate: Gate;
  /** An account of somebody else's, with nothing of ours in it. */
  let other: Simulator;
  let swapped = false;

  beforeAll(async () => {
    other = await startSimulator({ apiKey: world.simulator.apiKey });
    gate = await Gate.before(world.simulator.url);
    gate.guard = (passage, side) => (swapped && side === "before" ? elsewhere(passage) : undefined);
    await start();
  });

  afterAll(async () => {
    await world.operator.stop("SIGKILL");
    await gate.close();
    await other.stop();
  });

  const start = () => world.startOperator({}, { gateway: { url: gate.url, apiKey: world.simulator.apiKey } });

  /** The same address leads to the other account. */
  async function elsewhere({ method, path, headers, body }: Passage): Promise<Substitute> {
    const { host: _, connection: _kept, "content-length": _length, ...more } = headers;
    const init = { method, headers: more as Record<string, string> };
    const answer = await fetch(other.url + path, body ? { ...init, body } : init);
    return { status: answer.status, body: (await answer.text()).replaceAll(other.url, gate.url) };
  }

  const settled = numbered("settled", 52);
  const leaving = numbered("leaving", 8);
  const [edited, ...untouched] = settled as [KubeJSON, ...KubeJSON[]];
  const fresh = numbered("fresh", 1);
  const lists = () => world.simulator.control.count({ method: "GET", path: `^${PATH}$` });
  const rows = () => world.simulator.control.objects("backends/tunnel_group");

  // guards against everything being made a second time, and every deletion being taken for done
  test("neither makes nor deletes anything, and the right one mends all of it", { timeout: 120_000 }, async () => {
    await world.kube.apply(...settled, ...leaving);
    await world.allReady([...settled, ...leaving]);
    const ids = rows().map(({ id }) => id);
    const before = world.changesSent().length;

    swapped = true;
    await Promise.all(leaving.map(({ metadata }) => world.kube.delete(KIND, metadata.name)));
    await world.kube.patch(KIND, edited.metadata.name, { spec: { description: "edited" } });
    const told = await world.untilAll("all are told", untouched, isTold);
    expect(told.filter(isReady)).toHaveLength(untouched.length);
    await world.untilAll("the deletions wait", leaving, isTold);
    await world.untilAll("the edit waits", [edited], isTold);
    await world.kube.apply(...fresh);
    await world.untilAll("a new one waits", fresh, isTold);
    await sleep(2000);
    expect(other.control.accountIsEmpty()).toBe(true);
    expect(other.control.count({ method: "POST" })).toBe(0);
    expect(world.changesSent()).toHaveLength(before);

    swapped = false;
    const [since, listed] = [Date.now(), lists()];
    await world.until("all are well", async () => (await world.kube.all()).every(isSynced), 60);
    expect(Date.now() - since).toBeLessThan(60_000);
    expect(lists() - listed).toBeLessThanOrEqual(1);
    for (const { metadata } of leaving) await world.gone(KIND, metadata.name);
    const kept = rows().filter(({ id }) => ids.includes(id));
    expect(kept).toHaveLength(settled.length);
    expect(rows()).toHaveLength(settled.length + fresh.length);
    expect(kept.filter(({ description }) => description === "edited")).toHaveLength(1);
  });

  // guards against the same at a start, where nothing is remembered
  test("does nothing at a start either", { timeout: 120_000 }, async () => {
    await world.operator.stop();
    const ids = rows().map(({ id }) => id);
    const changes = world.changesSent().length;
    other.control.clearRequests();
    swapped = true;
    await start();
    const told = await world.untilAll("all are told", settled, isTold);
    expect(told.filter(isReady)).toHaveLength(settled.length);
    expect(other.control.requests().map(({ method, path }) => `${method} ${path}`)).toEqual([`GET ${PATH}`]);
    swapped = false;
    await world.until("all are well", async () => (await world.kube.all()).every(isSynced), 60);
    expect(rows().map(({ id }) => id)).toEqual(ids);
    expect(world.changesSent()).toHaveLength(changes);
  });

  // guards against a brake that nobody can take off, and one that comes off for all when it is meant for one
  test("is not what it was where a person says so, on the objects that are meant", async () => {
    const lost = settled.slice(0, 10).map(({ metadata }) => metadata.name);
    const objects = (await world.kube.list(KIND)).filter(({ metadata }) => lost.includes(metadata.name));
    for (const { status } of objects) world.simulator.control.remove(status.id);
    const left = rows().length;
    const ask = (name: string, value: string) =>
      world.kube.annotate(KIND, name, { [annotations.reconcileRequestedAt]: value });
    // from before anything was told, as tools do that ask at each of their runs
    await Promise.all(lost.map((name) => ask(name, "routine")));
    await world.untilAll("all are told", objects, isTold);
    expect(rows()).toHaveLength(left);

    const meant = objects.slice(0, 2);
    await Promise.all(meant.map(({ metadata }) => ask(metadata.name, "confirmed")));
    await world.untilAll("they are made again", meant, isSynced);
    await world.quiet();
    expect(rows()).toHaveLength(left + meant.length);
    await Promise.all(objects.slice(2).map(({ metadata }) => ask(metadata.name, "confirmed")));
    await world.untilAll("all are made again", objects, isSynced);
    expect(rows()).toHaveLength(left + objects.length);
  });
});

describe("a key that is refused", () => {
  const world = useWorld();
  const objects = numbered("many", 500);
  const rows = () => world.simulator.control.objects("backends/tunnel_group");

  // guards against 500 alarms, 500 requests, and 500 requests more when the key is accepted again
  test("changes nothing for what is Ready, and costs a handful of requests", { timeout: 120_000 }, async () => {
    for (let from = 0; from < objects.length; from += 50) await world.kube.apply(...objects.slice(from, from + 50));
    await world.until("all are Ready", async () => (await world.kube.list(KIND)).filter(isReady).length === 500, 60);
    const { control, apiKey } = world.simulator;
    const ids = rows().map(({ id }) => id);
    await world.operator.stop();
    control.apiKeys.revoke(apiKey);
    control.clearRequests();
    const before = control.count();
    await world.startOperator();
    const isRefused = (object: KubeJSON) => conditionOf(object, "Synced")?.reason === "Unauthorized";
    const refused = await world.untilAll("all are told", objects, isRefused);
    expect(refused.filter(isReady)).toHaveLength(objects.length);
    await sleep(3000);
    expect(control.count() - before).toBeLessThanOrEqual(6);
    expect(world.changesSent()).toEqual([]);

    control.apiKeys.accept(apiKey);
    control.clearRequests();
    await world.untilAll("all are well", objects, isSynced);
    const sent = control.requests().filter(({ path }) => path === PATH || path.startsWith(`${PATH}/`));
    // a page has a hundred
    expect(sent.map(({ method, path }) => `${method} ${path}`)).toEqual(Array.from({ length: 5 }, () => `GET ${PATH}`));
    expect(control.requests().length - sent.length).toBeLessThanOrEqual(2);
    expect(rows().map(({ id }) => id)).toEqual(ids);
  });

  // guards against a person being asked for each resource that somebody deletes by hand
  test("aside, a few that are missing are made again without asking", async () => {
    const some = (await world.kube.list(KIND)).slice(0, 4);
    for (const { status } of some) world.simulator.control.remove(status.id);
    await world.look(...some);
    expect(rows()).toHaveLength(objects.length);
  });
});

describe("six deletions in a minute", () => {
  const world = useWorld({ env: { MAX_DELETES_PER_MINUTE: "6" } });

  // guards against a mistake that takes everything before anybody notices, and against losing those that wait
  test("go at once, and two more wait for their turn", { timeout: 60_000 }, async () => {
    const objects = numbered("going", 8);
    await world.kube.apply(...objects);
    await world.allReady(objects);
    const deleted = () => world.simulator.control.count({ method: "DELETE" });
    await Promise.all(objects.map(({ metadata }) => world.kube.delete(KIND, metadata.name)));
    const left = await world.until("six are gone", async () => {
      const now = await world.kube.list(KIND);
      return now.length === 2 && now.every((object) => conditionOf(object, "Ready")?.reason === "Deleting") && now;
    });
    expect(deleted()).toBe(6);
    for (const object of left) {
      expect(conditionOf(object, "Ready")?.message).toContain("Waiting for its turn");
      expect(conditionOf(object, "Stalled")).toBeUndefined();
    }
    await sleep(3000);
    expect(deleted()).toBe(6);
    await world.until("one more is gone", async () => deleted() === 7, 10);
    await world.until("all are gone", async () => (await world.kube.list(KIND)).length === 0, 15);
    expect(world.simulator.control.accountIsEmpty()).toBe(true);
    expect(deleted()).toBe(8);
  });
});

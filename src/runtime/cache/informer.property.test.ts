import fc from "fast-check";
import { expect, it } from "vitest";
import { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { seed as chosen } from "../../../test/fakes/runtime/seed.ts";
import { until } from "../../../test/fakes/runtime/until.ts";
import { KubeClient } from "../connection/client.ts";
import { Transport } from "../connection/transport.ts";
import { Controller, type Request, type Result } from "../controller/controller.ts";
import { type KubeObject, keyOf, type ResourceType } from "../object.ts";
import { Informer } from "./informer.ts";
import type { Change } from "./store.ts";

const type: ResourceType = { group: "example.dev", version: "v1", plural: "things", kind: "Thing" };
const collection = "example.dev/v1/things";
const timing = {
  backoff: { base: 0.001, cap: 0.005, resetAfter: 1 },
  minWatchSeconds: 0,
  idleSeconds: 0.1,
  initialIdleSeconds: 0.1,
  minListIntervalSeconds: 0.001,
};

interface World {
  server: FakeApiServer;
  store: Informer["store"];
  /** Own writes that the server has carried out, but whose answers have not arrived. */
  answers: (() => void)[];
  /** The errors of the next reconciles. */
  failures: Error[];
}

type Step = (world: World) => unknown;

/** Has a text, so that a failing sequence of steps can be read. */
const step = (text: string, run: Step): Step => Object.assign(run, { toString: () => text });

const create = (name: string) => ({
  apiVersion: "example.dev/v1",
  kind: "Thing",
  metadata: { name, namespace: "ns" },
  spec: {},
});
const exists = (server: FakeApiServer, name: string) => server.storage.get(collection, `ns/${name}`) !== undefined;
const write = (server: FakeApiServer, name: string, value: number) =>
  exists(server, name)
    ? server.storage.update(collection, `ns/${name}`, (object) => ({ ...object, spec: { value } }))
    : server.storage.create(collection, create(name));
const remove = (server: FakeApiServer, name: string) =>
  exists(server, name) ? server.storage.delete(collection, `ns/${name}`) : undefined;
type Watch = FakeApiServer["watches"] extends Set<infer W> ? W : never;
const watches = (text: string, run: (watch: Watch) => void) => step(text, ({ server }) => server.watches.forEach(run));

const ownWrite = (name: string, value: number) =>
  step(`own write ${name}=${value}`, ({ server, store, answers }) => {
    const written = write(server, name, value);
    answers.push(() => store.put(written));
  });

const ownDelete = (name: string) =>
  step(`own delete ${name}`, ({ server, store, answers }) => {
    const gone = remove(server, name);
    if (gone) answers.push(() => store.forget(keyOf(gone), gone.metadata.uid ?? ""));
  });

const answer = (which: number) => step(`answer ${which}`, ({ answers }) => answers.splice(which, 1)[0]?.());

const onServer = (text: string, run: (server: FakeApiServer) => void) => step(text, ({ server }) => run(server));

const name = fc.constantFrom("a", "b", "c");
const value = fc.nat(9);

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.tuple(name, value).map(([n, v]) => onServer(`write ${n}=${v}`, (s) => write(s, n, v))) },
  { weight: 2, arbitrary: name.map((n) => onServer(`delete ${n}`, (s) => remove(s, n))) },
  { weight: 2, arbitrary: name.map((n) => onServer(`recreate ${n}`, (s) => [remove(s, n), write(s, n, 0)])) },
  { weight: 4, arbitrary: fc.tuple(name, value).map(([n, v]) => ownWrite(n, v)) },
  { weight: 2, arbitrary: name.map(ownDelete) },
  { weight: 6, arbitrary: fc.nat(2).map(answer) },
  {
    weight: 1,
    arbitrary: fc.constant(step("a reconcile fails", ({ failures }) => failures.push(new Error("A fault")))),
  },
  {
    weight: 8,
    arbitrary: fc.constantFrom<Step>(
      onServer("compact", (s) => s.storage.compact()),
      onServer("bookmark", (s) => s.bookmark()),
      onServer("another kind changes", (s) => s.storage.create("v1/others", create(String(s.storage.revision)))),
      onServer("lists in pages only", (s) => Object.assign(s, { initialEvents: "reject" })),
      onServer("refuse with 429", (s) => s.faults.push({ status: 429, retryAfter: 0 })),
      onServer("refuse with 500", (s) => s.faults.push({ status: 500 })),
      onServer("refuse with 410", (s) => s.faults.push({ status: 410 })),
      onServer("proxy page", (s) => s.faults.push({ status: 502, body: "<html>" })),
      onServer("reset next", (s) => s.faults.push({ reset: true })),
      watches("end", (w) => w.end()),
      watches("reset", (w) => w.reset()),
      watches("truncate", (w) => w.truncate()),
      watches("mute", (w) => w.mute()),
      watches("slow", (w) => w.slow(7)),
      watches("expire in the stream", (w) => w.fail(410, "Expired")),
      watches("fail in the stream", (w) => w.fail(500, "InternalError")),
    ),
  },
);

/** A handler that records every change that does not fit the one before. */
class Follower {
  readonly objects = new Map<string, KubeObject>();
  readonly faults: string[] = [];

  readonly follow = (change: Change): void => {
    const key = keyOf(change.object);
    const known = this.objects.get(key);
    if (change.type === "added" && known) this.faults.push(`${key} added twice`);
    if (change.type !== "added" && !known) this.faults.push(`${key} ${change.type} without being there`);
    if (change.type === "updated") this.#update(key, change.old, change.object);
    if (change.type === "deleted" && change.object !== known) this.faults.push(`${key} deleted in another state`);
    if (change.type === "deleted") this.objects.delete(key);
    else this.objects.set(key, change.object);
  };

  #update(key: string, old: KubeObject, next: KubeObject): void {
    if (old !== this.objects.get(key)) this.faults.push(`${key} updated from another state`);
    if (old.metadata.uid !== next.metadata.uid) this.faults.push(`${key} updated into another object`);
    if (Number(old.metadata.resourceVersion) >= Number(next.metadata.resourceVersion))
      this.faults.push(`${key} went back`);
  }
}

/** Reconciles the changes of the informer, and remembers the state of each object that it saw last. */
class Reconciler {
  readonly seen = new Map<string, KubeObject | undefined>();
  readonly controller: Controller;
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
    const backoff = { base: 0.001, cap: 0.01 };
    const reconcile = (request: Request) => this.#reconcile(request);
    this.controller = new Controller({ name: "thing", reconcile, concurrency: 2, backoff, log: recordingLogger() });
    this.controller.start(new AbortController().signal);
  }

  async #reconcile({ key }: Request): Promise<Result> {
    const object = this.#world.store.get(key);
    await pause(1);
    const failure = this.#world.failures.shift();
    if (failure) throw failure;
    this.seen.set(key, object);
    return {};
  }

  /** Objects whose last change was not reconciled. */
  get outdated(): string[] {
    const keys = new Set([...this.seen.keys(), ...this.#world.store.list().map(keyOf)]);
    return [...keys].filter((key) => this.seen.get(key) !== this.#world.store.get(key));
  }
}

const state = (objects: Iterable<KubeObject>) =>
  Array.from(
    objects,
    ({ metadata, spec }) => `${metadata.name} ${metadata.uid} ${metadata.resourceVersion} ${JSON.stringify(spec)}`,
  )
    .sort()
    .join("\n");

const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const seed = chosen();

it(`has what the server has, and has reconciled it, after any writes and faults; CHAOS_SEED=${seed}`, async () => {
  const script = fc.array(fc.tuple(steps, fc.constantFrom(0, 0, 1, 4)), { maxLength: 30 });
  await fc.assert(
    fc.asyncProperty(script, async (sequence) => {
      await using server = await FakeApiServer.start();
      const transport = new Transport(server.connection);
      const client = new KubeClient(transport, { fieldManager: "test" });
      const informer = new Informer({ client, type, log: recordingLogger(), timing });
      const follower = new Follower();
      informer.addHandler(follower.follow);
      const world: World = { server, store: informer.store, answers: [], failures: [] };
      const reconciler = new Reconciler(world);
      informer.addHandler(({ object }) => reconciler.controller.enqueue(keyOf(object)));
      write(server, "a", 0);
      informer.start();
      for (const [run, wait] of sequence) {
        run(world);
        if (wait) await pause(wait);
      }
      for (const late of world.answers) late();
      const expected = () => state(server.storage.list(collection));
      await until(
        () => informer.hasSynced && state(informer.store.list()) === expected(),
        "the store to equal the server",
      );
      await until(() => reconciler.outdated.length === 0, "each last change to be reconciled");
      await reconciler.controller.drain();
      await informer.stop();
      await transport.close();
      expect(follower.faults).toEqual([]);
      expect(state(follower.objects.values())).toBe(expected());
    }),
    { seed, numRuns: 60, interruptAfterTimeLimit: 8_000 },
  );
});

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { DEADLINE_MS, Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { APIKey } from "../../../kinds/api-key.ts";
import { EventSubscription } from "../../../kinds/event-subscription.ts";
import { IPPolicy } from "../../../kinds/ip-policy.ts";
import { ReservedAddress } from "../../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../../kinds/reserved-domain.ts";
import { TunnelGroupBackend } from "../../../kinds/tunnel-group-backend.ts";
import { maxProcessingMs } from "../../../objects/intent.ts";
import type { ManagedObject } from "../../../objects/object.ts";
import { withOwnerMark } from "../../../objects/ownership.ts";
import { Outdated, Retry } from "../../../objects/reconcile-error.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

/** One kind for each way to find its remote again, with the spec of another remote in the account. */
const recoveries = [
  {
    how: "by its owner mark",
    kind: TunnelGroupBackend,
    spec: { labels: { app: "db" } },
    other: { labels: { app: "db" } },
  },
  {
    how: "by its owner mark, which has its place until the text of the spec is sent",
    kind: ReservedDomain,
    spec: { domain: "a.example.com", metadata: "opaque" },
    other: { domain: "b.example.com", metadata: "opaque" },
  },
  {
    how: "by its owner mark, where many are alike",
    kind: TunnelGroupBackend,
    spec: { labels: { app: "db" }, metadata: "opaque" },
    other: { labels: { app: "web" }, metadata: "opaque" },
  },
];

describe.each(recoveries)(
  "a create whose answer was lost, and whose remote is found again $how",
  ({ kind, spec, other }) => {
    it("is found when it was carried out", async () => {
      scene.gateway.seed(kind.resource, other);
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", spec);
      expect(scene.reason(object)).toMatch(/^ServiceUnavailable: /);
      await scene.settle(object, 2);
      expect(scene.condition(object, "Ready")?.status).toBe("True");
      expect(scene.idOf(object)).toBe(`${kind.resource.idPrefix}2`);
      expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(2);
    });

    it("is found by the next process", async () => {
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", spec);
      scene.restart();
      await scene.reconcile(object);
      expect(scene.idOf(object)).toBe(`${kind.resource.idPrefix}1`);
      expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
    });

    it("proves the key to the next process, when no other id is recorded", async () => {
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", spec);
      scene.restart();
      const { keyProof } = scene.account;
      keyProof.use("its digest");
      await scene.reconcile(object);
      expect([scene.idOf(object), keyProof.isProved]).toEqual([`${kind.resource.idPrefix}1`, true]);
    });

    it("is found when the process died before the status had the id", async () => {
      const object = scene.cluster.apply(kind, "one", spec);
      scene.cluster.beforeWrite = (write) => {
        if (write === "writeStatus") throw new Outdated("killed");
      };
      await scene.reconcile(object);
      scene.cluster.beforeWrite = () => {};
      scene.restart();
      await scene.reconcile(object);
      expect(scene.idOf(object)).toBe(`${kind.resource.idPrefix}1`);
      expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
    });

    it("is found when the spec was edited meanwhile, and dropped fields are cleared", async () => {
      scene.gateway.loseAnswer("create");
      const object = await scene.apply(kind, "one", { ...spec, description: "first" });
      scene.restart();
      scene.cluster.apply(kind, "one", { ...spec, metadata: '{"team": "b"}' });
      await scene.settle(object);
      const [remote, ...more] = scene.gateway.remotesOf(kind.resource);
      expect(more).toEqual([]);
      expect(remote).toMatchObject({ id: scene.idOf(object), metadata: expect.stringContaining('"team": "b"') });
      expect(remote?.["description"] || undefined).toBeUndefined();
    });

    it("is sent again only when it can no longer be carried out", async () => {
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      const result = await scene.reconcile(object);
      expect(scene.reason(object)).toMatch(/^Creating: /);
      expect(result).toMatchObject({ requeueAfterSeconds: expect.any(Number) });
      await scene.clock.advance(DEADLINE_MS);
      await scene.reconcile(object);
      expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
      await scene.settle(object);
      expect(scene.condition(object, "Ready")?.status).toBe("True");
      expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
    });

    it("is found when it was carried out during a list", async () => {
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      const { body = {} } = scene.gateway.calls.find(({ verb }) => verb === "create") ?? {};
      const settles = maxProcessingMs(DEADLINE_MS);
      await scene.clock.advance(settles - 1000);
      const list = scene.gateway.list.bind(scene.gateway);
      scene.gateway.list = async function* (...asked) {
        const pages = [];
        for await (const page of list(...asked)) pages.push(page);
        scene.gateway.seed(kind.resource, body);
        await scene.clock.advance(2000);
        yield* pages;
      };
      await scene.reconcile(object);
      scene.gateway.list = list;
      expect(scene.reason(object)).toMatch(/^Creating: /);
      await scene.settle(object);
      expect(scene.gateway.remotesOf(kind.resource)).toMatchObject([{ id: scene.idOf(object) }]);
    });

    it("is found when it was carried out late", async () => {
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      const { body } = scene.gateway.calls.find(({ verb }) => verb === "create") ?? {};
      await scene.clock.advance(DEADLINE_MS);
      scene.gateway.seed(kind.resource, body ?? {});
      await scene.settle(object);
      expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
      expect(scene.idOf(object)).toBe(`${kind.resource.idPrefix}1`);
    });

    it.each([
      ["forward", 3],
      ["back", -3],
    ])("is settled after the same time when the calendar is set %s", async (_, hours) => {
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      scene.clock.setBy(hours * 3_600_000);
      await scene.reconcile(object);
      await scene.clock.advance(DEADLINE_MS);
      await scene.reconcile(object);
      expect(scene.reason(object)).toMatch(/^Creating: /);
      expect(scene.gateway.calls.filter(({ verb }) => verb === "create")).toHaveLength(1);
      await scene.clock.advance(DEADLINE_MS);
      await scene.reconcile(object);
      expect(scene.condition(object, "Ready")?.status).toBe("True");
      expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(1);
    });

    it("is settled in time when the calendar of the previous process was ahead", async () => {
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      scene.restart();
      scene.clock.setBy(-3 * 3_600_000);
      await scene.reconcile(object);
      expect(scene.reason(object)).toMatch(/^Creating: /);
      await scene.clock.advance(2 * DEADLINE_MS);
      await scene.reconcile(object);
      expect(scene.condition(object, "Ready")?.status).toBe("True");
    });

    it("is not adopted when another object has it", async () => {
      const first = await scene.given(kind, "first", spec);
      scene.gateway.swallow("create");
      const object = await scene.apply(kind, "one", spec);
      await scene.reconcile(object);
      expect(scene.idOf(object)).not.toBe(scene.idOf(first));
    });
  },
);

describe("a create whose answer was lost and whose remote has an owner mark", () => {
  it.each([-48, 96])("is deleted with its object when the calendar is off by %i hours", async (hours) => {
    const object = scene.cluster.apply(TunnelGroupBackend, "one", {});
    scene.clock.setBy(hours * 3_600_000);
    scene.gateway.calendar = () => new Date(scene.clock.date().getTime() - hours * 3_600_000);
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(TunnelGroupBackend.resource)).toEqual([]);
  });
});

it("a create whose value is shown once did not make a remote that is much younger", async () => {
  scene.gateway.normalise = (remote) => ({ ...remote, token: `token of ${remote.id}` });
  scene.gateway.swallow("create");
  const object = await scene.apply(APIKey, "ci", { tokenSecretName: "ci" });
  await scene.clock.advance(86_400_000);
  const owner = { cluster: "c1", namespace: "team-a", name: "ci" };
  const theirs = scene.gateway.seed(APIKey.resource, { metadata: withOwnerMark(undefined, owner) });
  await scene.settle(object);
  expect(scene.reason(object)).toMatch(/^Available/);
  expect(scene.idOf(object)).not.toBe(theirs.id);
  expect(scene.gateway.remote(APIKey.resource, theirs.id)).toEqual(theirs);
});

describe("a domain that somebody else reserves while the outcome of our create is unknown", () => {
  const spec = { domain: "a.example.com" };

  async function interrupted(metadata?: string): Promise<ManagedObject> {
    scene.gateway.swallow("create");
    const object = await scene.apply(ReservedDomain, "one", { ...spec, ...(metadata && { metadata }) });
    await scene.clock.advance(20_000);
    return object;
  }

  it("is not adopted if our create would have left a mark", async () => {
    const object = await interrupted();
    const theirs = scene.gateway.seed(ReservedDomain.resource, { ...spec, description: "theirs" });
    await scene.settle(object);
    expect(scene.reason(object)).toBe(
      `AlreadyExists: To take over ${theirs.id}, add to the spec: adopt: {id: ${theirs.id}}`,
    );
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toEqual([theirs]);
  });

  it("is not adopted if its metadata was replaced by text without room for a mark", async () => {
    const object = await interrupted();
    const theirs = scene.gateway.seed(ReservedDomain.resource, spec);
    scene.cluster.apply(ReservedDomain, "one", { ...spec, metadata: "opaque" });
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
    expect(scene.gateway.remotesOf(ReservedDomain.resource)).toEqual([theirs]);
  });

  it("is not adopted if it has the mark of another object", async () => {
    const object = await interrupted("opaque");
    scene.gateway.seed(ReservedDomain.resource, { ...spec, metadata: '{"tunnelgateway.dev/owner": "c2/team-a/one"}' });
    await scene.settle(object);
    expect(scene.reason(object)).toMatch(/^OwnershipConflict: .* belongs to c2/);
  });
});

describe("a create that certainly never reached the service", () => {
  it("is sent again at once, without a search", async () => {
    scene.gateway.swallow("create", "unsent");
    const object = await scene.apply(IPPolicy, "office");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["create", "create"]);
  });
});

it("a create whose answer was lost is searched for, also if one that made nothing has the same time", async () => {
  scene.gateway.swallow("create", "unsent");
  scene.gateway.loseAnswer("create");
  const object = scene.cluster.apply(IPPolicy, "office");
  for (let count = 0; count < 3; count += 1) await scene.reconcile(object);
  expect(scene.gateway.remotesOf(IPPolicy.resource)).toMatchObject([{ id: scene.idOf(object) }]);
});

// 2.14: the search has named the create, and the reconcile ends before it has the remote.
describe("a create that is found while something else is refused", () => {
  async function foundInVain(): Promise<ManagedObject> {
    scene.gateway.loseAnswer("create");
    const object = await scene.apply(IPPolicy, "office", { description: "first", metadata: '{"team": "a"}' });
    scene.cluster.beforeAsk = () => {
      throw new Retry("Pending", "Waiting for the Kubernetes API");
    };
    await scene.reconcile(object);
    scene.cluster.beforeAsk = () => {};
    expect(scene.cluster.now(object).status).not.toHaveProperty("id");
    return object;
  }

  it("stays open in the status, so that a deletion takes what it made", async () => {
    const object = await foundInVain();
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toEqual([]);
  });

  it("stays open in the status, so that an edit takes out what it has sent", async () => {
    const object = await foundInVain();
    scene.cluster.apply(IPPolicy, "office", { metadata: '{"team": "a"}' });
    await scene.settle(object);
    const [remote, ...more] = scene.gateway.remotesOf(IPPolicy.resource);
    expect([remote?.id, more]).toEqual([scene.idOf(object), []]);
    expect(remote?.["description"] || undefined).toBeUndefined();
  });
});

describe("an object that was restored from a backup without its status", () => {
  it("finds its remote by the owner mark, however old it is", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    await scene.clock.advance(90 * 86_400_000);
    scene.cluster.loseStatus(object);
    scene.restart();
    await scene.reconcile(object);
    expect(scene.idOf(object)).toBe("ipp_1");
    expect(scene.gateway.remotesOf(IPPolicy.resource)).toHaveLength(1);
  });
});

describe("a create during an outage", () => {
  const mishaps = {
    lost: ({ gateway }: Scene) => gateway.loseAnswer("create"),
    swallowed: ({ gateway }: Scene) => gateway.swallow("create"),
    unsent: ({ gateway }: Scene) => gateway.swallow("create", "unsent"),
    failed: ({ gateway }: Scene) => gateway.refuse("create", 503),
    killed: ({ cluster }: Scene) => {
      cluster.beforeWrite = (write) => {
        if (write === "writeStatus") throw new Outdated("killed");
      };
    },
  };

  const courses = fc.array(fc.constantFrom(...(Object.keys(mishaps) as (keyof typeof mishaps)[])), { maxLength: 6 });

  it("makes exactly one remote, whatever fails", async () => {
    await fc.assert(
      fc.asyncProperty(courses, fc.nat(recoveries.length - 1), async (course, index) => {
        const { kind, spec } = recoveries[index] as (typeof recoveries)[number];
        const outage = new Scene();
        const object = outage.cluster.apply(kind, "one", spec);
        for (const mishap of course) {
          mishaps[mishap](outage);
          await outage.reconcile(object);
          outage.cluster.beforeWrite = () => {};
          if (mishap === "killed") outage.restart();
          await outage.clock.advance(5000);
        }
        await outage.settle(object, 40);
        expect(outage.reason(object)).toMatch(/^Available: /);
        expect(outage.gateway.remotesOf(kind.resource)).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });
});

describe("a remote of an interrupted create with opaque metadata", () => {
  it("is found by the members of the create, and updated with the others", async () => {
    scene.gateway.loseAnswer("create");
    const spec = { metadata: "opaque", endpointConfigurationId: "ec_1" };
    const object = scene.cluster.apply(ReservedAddress, "db", spec);
    await scene.settle(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.remotesOf(ReservedAddress.resource)).toMatchObject([
      { endpoint_configuration: { id: "ec_1" } },
    ]);
  });

  it.each([
    ["long before", -3600],
    ["long after", 3600],
  ])("is not one that was created %s", async (_, seconds) => {
    await scene.clock.advance(7_200_000);
    scene.gateway.swallow("create");
    const object = await scene.apply(ReservedAddress, "db", { metadata: "opaque" });
    const { id } = scene.gateway.seed(ReservedAddress.resource, { metadata: "opaque" });
    const createdAt = new Date(scene.clock.date().getTime() + seconds * 1000).toISOString();
    scene.gateway.change(ReservedAddress.resource, id, { created_at: createdAt });
    await scene.settle(object);
    expect(scene.idOf(object)).not.toBe(id);
    expect(scene.gateway.remotesOf(ReservedAddress.resource)).toHaveLength(2);
  });

  it("is not one that has more members than the spec asks for", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(ReservedAddress, "db", { metadata: "opaque" });
    const { id } = scene.gateway.seed(ReservedAddress.resource, { metadata: "opaque", description: "another" });
    await scene.settle(object);
    expect(scene.idOf(object)).not.toBe(id);
  });

  it.each([
    ["both were made", "loseAnswer"],
    ["one was made", "swallow"],
  ] as const)("is found by only one of two objects with equal specs, when %s", async (_, second) => {
    scene.gateway.loseAnswer("create");
    scene.gateway[second]("create");
    const spec = { metadata: "opaque" };
    const both = [1, 2].map((number) => scene.cluster.apply(ReservedAddress, `same-${number}`, spec));
    await Promise.all(both.map((object) => scene.reconcile(object)));
    await scene.clock.advance(1000);
    // Both search before the status of either has an id.
    await Promise.all(both.map((object) => scene.reconcile(object)));
    await Promise.all(both.map((object) => scene.settle(object)));
    expect(both.map((object) => scene.reason(object))).toEqual([
      expect.stringMatching(/^Available: /),
      expect.stringMatching(/^Available: /),
    ]);
    const ids = scene.gateway.remotesOf(ReservedAddress.resource).map(({ id }) => id);
    expect(both.map((object) => scene.idOf(object)).sort()).toEqual(ids.sort());
  });

  describe("whose id never reached the status, and whose spec was edited", () => {
    /** Reconciles in a process that dies before it writes the status. */
    async function lookUnheard(object: ManagedObject, edit: Partial<ManagedObject["spec"]>): Promise<void> {
      scene.cluster.apply(ReservedAddress, object.metadata.name, { metadata: "opaque", ...edit });
      scene.cluster.beforeWrite = (write) => {
        if (write === "writeStatus") throw new Outdated("killed");
      };
      await scene.reconcile(object);
      scene.cluster.beforeWrite = () => {};
      scene.restart();
    }

    let object: ManagedObject;

    beforeEach(async () => {
      object = scene.cluster.apply(ReservedAddress, "db", { metadata: "opaque" });
      for (const description of ["first", "second"]) await lookUnheard(object, { description });
    });

    it("is found again and updated", async () => {
      scene.cluster.apply(ReservedAddress, "db", { metadata: "opaque", description: "third" });
      await scene.settle(object);
      expect(scene.gateway.remotesOf(ReservedAddress.resource)).toMatchObject([
        { id: scene.idOf(object), description: "third" },
      ]);
    });

    it("is deleted with its object", async () => {
      await scene.deleteAndSettle(object);
      expect(scene.gateway.remotesOf(ReservedAddress.resource)).toEqual([]);
    });
  });

  it("is searched for only when the references of the spec are resolved", async () => {
    const destination = { name: "logs" };
    const object = await scene.apply(EventSubscription, "all", {
      metadata: "opaque",
      destinationRefs: [destination],
    });
    expect(scene.reason(object)).toMatch(/^ReferenceNotReady: Create EventDestination "logs"/);
    expect(scene.gateway.takeCalls()).toEqual([]);
  });
});

describe("the wait for an interrupted create", () => {
  it("ends, and takes few requests", async () => {
    scene.gateway.swallow("create");
    const object = await scene.apply(IPPolicy, "office");
    scene.gateway.takeCalls();
    const result = await scene.reconcile(object);
    expect(result).toHaveProperty("requeueAfterSeconds");
    const { requeueAfterSeconds } = result as { requeueAfterSeconds: number };
    expect(requeueAfterSeconds * 1000).toBeGreaterThan(DEADLINE_MS);
    expect(requeueAfterSeconds * 1000).toBeLessThan(2 * DEADLINE_MS);
    await scene.clock.advance(requeueAfterSeconds * 1000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toEqual(["list", "list", "create"]);
  });
});

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { annotations, FINALIZER } from "../kinds/contract.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedDomain } from "../kinds/reserved-domain.ts";
import { TunnelGroupBackend } from "../kinds/tunnel-group-backend.ts";
import { Outdated } from "./fate.ts";
import { ownerIn } from "./ownership.ts";
import { reconcile } from "./reconcile.ts";
import { DEADLINE_MS, Scene } from "./testing/scene.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("a straight create", () => {
  it("is one POST, two writes to the cluster and no event", async () => {
    const object = scene.cluster.apply(IPPolicy, "office", { description: "the office" });
    expect(await scene.look(object)).toBeNull();
    expect(scene.gateway.taken()).toEqual(["create"]);
    expect(scene.cluster.writes).toEqual(["annotate", "writeStatus"]);
    expect(scene.cluster.notices).toEqual([]);
    expect(scene.condition(object, "Ready")).toMatchObject({ status: "True", reason: "Available" });
  });

  it("sends nothing and writes nothing when it is looked at again", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    expect(await scene.look(object)).toBeNull();
    expect(scene.gateway.taken()).toEqual(["list"]);
    expect(await scene.look(object)).toBeNull();
    expect(scene.gateway.taken()).toEqual([]);
    expect(scene.cluster.writes).toEqual([]);
  });

  it("marks what it makes, and holds on to the object until it is deleted", async () => {
    const object = await scene.given(IPPolicy, "office", { metadata: '{"team":"a"}' });
    const [row] = scene.gateway.rowsOf(IPPolicy.remote);
    expect(row && ownerIn(row)).toBe("c1/team-a/office");
    expect(JSON.parse(String(row?.["metadata"]))).toMatchObject({ team: "a" });
    expect(object.metadata.finalizers).toEqual([FINALIZER]);
    expect(object.metadata.annotations).toHaveProperty([annotations.createIntent]);
  });

  it("leaves opaque metadata exactly as it is", async () => {
    await scene.given(IPPolicy, "office", { metadata: "  our text  " });
    expect(scene.gateway.rowsOf(IPPolicy.remote)).toMatchObject([{ metadata: "  our text  " }]);
  });

  it("is recorded before it is sent", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = (write) => {
      if (write === "annotate") expect(scene.gateway.calls).toEqual([]);
    };
    await scene.look(object);
    expect(scene.gateway.rowsOf(IPPolicy.remote)).toHaveLength(1);
  });

  it("is not sent when somebody else wrote first", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    const pass = scene.passFor(object);
    scene.cluster.apply(IPPolicy, "office", { description: "meanwhile" });
    expect(await reconcile(pass, { resyncSeconds: 300 })).toEqual({ soon: true });
    expect(scene.gateway.taken()).toEqual([]);
  });

  it("is not sent when recording it took longer than it may", async () => {
    const object = scene.cluster.apply(IPPolicy, "office");
    scene.cluster.beforeWrite = (write) => (write === "annotate" ? scene.clock.advance(DEADLINE_MS) : undefined);
    await scene.look(object);
    expect(scene.gateway.taken()).toEqual([]);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    scene.cluster.beforeWrite = () => {};
    await scene.settle(object);
    expect(scene.gateway.rowsOf(IPPolicy.remote)).toHaveLength(1);
  });
});

describe("a create whose answer holds the id and little else that can be read", () => {
  const unreadable = { kind: "unreadable", status: 201 } as const;

  it("saves the id and reads the rest", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.look(object);
    expect(scene.gateway.taken()).toEqual(["create", "get rd_1"]);
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });

  it("saves the id even when nothing else can be read", async () => {
    scene.gateway.loseAnswer("create", unreadable);
    scene.gateway.loseAnswer("get", unreadable);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    expect(await scene.look(object)).toEqual({ backoff: true });
    expect(scene.idOf(object)).toBe("rd_1");
    expect(scene.reason(object)).toMatch(/^UnexpectedResponse: /);
    scene.restart();
    await scene.look(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.rowsOf(ReservedDomain.remote)).toHaveLength(1);
  });
});

describe("a create that was refused", () => {
  it("says what the service said, and is not sought afterwards", async () => {
    scene.gateway.refuse("create", 400, { serviceMessage: "no more policies" });
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await scene.look(object)).toEqual({ afterSeconds: 1800 });
    expect(scene.reason(object)).toMatch(/^InvalidSpec: .*no more policies/);
    scene.forget();
    await scene.look(object);
    expect(scene.gateway.taken()).toEqual(["create"]);
  });

  it("prints the lines that take over what has the name already", async () => {
    scene.gateway.seed(ReservedDomain.remote, { domain: "A.example.com." });
    scene.gateway.refuse("create", 409);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.look(object);
    expect(scene.reason(object)).toMatch(/^AlreadyExists: .*adopt: \{id: rd_1\}/);
    expect(scene.condition(object, "Stalled")?.status).toBe("True");
  });

  it.each([400, 409, 422])("finds out whether the name is taken, as %i may say so", async (status) => {
    scene.gateway.refuse("create", status);
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.look(object);
    expect(scene.reason(object)).toMatch(/^InvalidSpec: /);
  });

  it("goes on as soon as the spec takes over what is there", async () => {
    scene.gateway.seed(ReservedDomain.remote, { domain: "a.example.com" });
    const object = scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com" });
    await scene.look(object);
    expect(scene.reason(object)).toMatch(/^AlreadyExists: /);
    scene.cluster.apply(ReservedDomain, "web", { domain: "a.example.com", adopt: { id: "rd_1" } });
    await scene.look(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.idOf(object)).toBe("rd_1");
  });

  it("is tried again when the service asked for patience", async () => {
    scene.gateway.refuse("create", 429, { retryAfterSeconds: 7 });
    const object = scene.cluster.apply(IPPolicy, "office");
    expect(await scene.look(object)).toEqual({ backoff: true, atLeastSeconds: 7 });
    await scene.clock.advance(7000);
    await scene.look(object);
    expect(scene.gateway.taken()).toEqual(["create", "create"]);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
  });
});

/** Kinds by how a remote of theirs is found again, and what is in the account besides. */
const recoveries = [
  { how: "by its mark", kind: TunnelGroupBackend, spec: { labels: { app: "db" } }, other: { labels: { app: "db" } } },
  {
    how: "by its natural key",
    kind: ReservedDomain,
    spec: { domain: "a.example.com", metadata: "opaque" },
    other: { domain: "b.example.com", metadata: "opaque" },
  },
  {
    how: "by all it was made of",
    kind: TunnelGroupBackend,
    spec: { labels: { app: "db" }, metadata: "opaque" },
    other: { labels: { app: "web" }, metadata: "opaque" },
  },
];

describe.each(recoveries)("a create whose answer was lost, found again $how", ({ kind, spec, other }) => {
  it("is taken when it was done", async () => {
    scene.gateway.seed(kind.remote, other);
    scene.gateway.loseAnswer("create");
    const object = scene.cluster.apply(kind, "one", spec);
    await scene.look(object);
    expect(scene.reason(object)).toMatch(/^ServiceUnavailable: /);
    await scene.look(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.idOf(object)).toBe(`${kind.remote.idPrefix}2`);
    expect(scene.gateway.rowsOf(kind.remote)).toHaveLength(2);
  });

  it("is taken by the next process", async () => {
    scene.gateway.loseAnswer("create");
    const object = scene.cluster.apply(kind, "one", spec);
    await scene.look(object);
    scene.restart();
    await scene.look(object);
    expect(scene.idOf(object)).toBe(`${kind.remote.idPrefix}1`);
    expect(scene.gateway.rowsOf(kind.remote)).toHaveLength(1);
  });

  it("is taken when the process ended before the id was written down", async () => {
    const object = scene.cluster.apply(kind, "one", spec);
    scene.cluster.beforeWrite = (write) => {
      if (write === "writeStatus") throw new Outdated("killed");
    };
    await scene.look(object);
    scene.cluster.beforeWrite = () => {};
    scene.restart();
    await scene.look(object);
    expect(scene.idOf(object)).toBe(`${kind.remote.idPrefix}1`);
    expect(scene.gateway.rowsOf(kind.remote)).toHaveLength(1);
  });

  it("is sent again only when it can no longer be under way", async () => {
    scene.gateway.swallow("create");
    const object = scene.cluster.apply(kind, "one", spec);
    await scene.look(object);
    const visit = await scene.look(object);
    expect(scene.reason(object)).toMatch(/^Creating: /);
    expect(visit).toMatchObject({ afterSeconds: expect.any(Number) });
    await scene.clock.advance(DEADLINE_MS);
    await scene.look(object);
    expect(scene.gateway.rowsOf(kind.remote)).toEqual([]);
    await scene.settle(object);
    expect(scene.condition(object, "Ready")?.status).toBe("True");
    expect(scene.gateway.rowsOf(kind.remote)).toHaveLength(1);
  });

  it("is taken when it arrived late", async () => {
    scene.gateway.swallow("create");
    const object = scene.cluster.apply(kind, "one", spec);
    await scene.look(object);
    const { body } = scene.gateway.calls.find(({ verb }) => verb === "create") ?? {};
    await scene.clock.advance(DEADLINE_MS);
    scene.gateway.seed(kind.remote, body ?? {});
    await scene.settle(object);
    expect(scene.gateway.rowsOf(kind.remote)).toHaveLength(1);
    expect(scene.idOf(object)).toBe(`${kind.remote.idPrefix}1`);
  });

  it("is not taken when another object has it", async () => {
    const first = await scene.given(kind, "first", spec);
    scene.gateway.swallow("create");
    const object = scene.cluster.apply(kind, "one", spec);
    await scene.look(object);
    await scene.look(object);
    expect(scene.idOf(object)).not.toBe(scene.idOf(first));
  });
});

describe("a create that surely never reached the service", () => {
  it("is sent again at once, without a look", async () => {
    scene.gateway.swallow("create", "unsent");
    const object = scene.cluster.apply(IPPolicy, "office");
    await scene.look(object);
    await scene.look(object);
    expect(scene.gateway.taken()).toEqual(["create", "create"]);
  });
});

describe("an object that was restored from a backup without its status", () => {
  it("finds its remote by the mark, however long ago it was made", async () => {
    const object = await scene.given(IPPolicy, "office", { description: "the office" });
    await scene.clock.advance(90 * 86_400_000);
    scene.cluster.loseStatus(object);
    scene.restart();
    await scene.look(object);
    expect(scene.idOf(object)).toBe("ipp_1");
    expect(scene.gateway.rowsOf(IPPolicy.remote)).toHaveLength(1);
  });
});

describe("a create through an outage", () => {
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

  it("makes exactly one remote, whatever goes wrong on the way", async () => {
    await fc.assert(
      fc.asyncProperty(courses, fc.constantFrom(...recoveries), async (course, { kind, spec }) => {
        const outage = new Scene();
        const object = outage.cluster.apply(kind, "one", spec);
        for (const mishap of course) {
          mishaps[mishap](outage);
          await outage.look(object);
          outage.cluster.beforeWrite = () => {};
          if (mishap === "killed") outage.restart();
          await outage.clock.advance(5000);
        }
        await outage.settle(object, 40);
        expect(outage.reason(object)).toMatch(/^Available: /);
        expect(outage.gateway.rowsOf(kind.remote)).toHaveLength(1);
      }),
      { numRuns: 60 },
    );
  });
});

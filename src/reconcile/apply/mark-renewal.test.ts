import { beforeEach, describe, expect, it } from "vitest";
import { ownerIn } from "../../../test/fakes/reconcile/owner-in.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSEdge } from "../../kinds/tls-edge.ts";
import { annotations } from "../../schema/contract.ts";

const cases = [
  { kind: TLSEdge, spec: { description: "one" } },
  { kind: TLSEdge, spec: { description: "one", replacement: "Recreate" } },
  { kind: IPPolicy, spec: { description: "one" } },
] as const;

describe.each(cases)("a $kind.kind that bears the mark of another cluster id, for $spec", ({ kind, spec }) => {
  let scene: Scene;

  const remotes = () => scene.gateway.remotesOf(kind.resource);
  const marks = () => remotes().map(ownerIn);

  beforeEach(() => {
    scene = new Scene();
  });

  /** The service refuses each update with a body that this is true of. */
  const given = async (isRefused: (body: Record<string, unknown>) => boolean) => {
    const object = await scene.given(kind, "web", spec);
    scene.changeClusterID("c2");
    scene.gateway.beforeCall = ({ verb, body }) => {
      if (verb === "update" && body && isRefused(body)) scene.gateway.refuse("update", 400);
    };
    return { object, id: scene.idOf(object) };
  };
  const hasNewMark = (body: Record<string, unknown>) => ownerIn(body)?.startsWith("c2/") === true;

  it("stays, and the service that refuses the new mark is asked less and less often", async () => {
    const { object, id } = await given(hasNewMark);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain(`update ${id}`);
    for (let count = 0; count < 3; count += 1) {
      await scene.clock.advance(300_000);
      await scene.reconcile(object);
    }
    expect(scene.gateway.takeCalls()).not.toContain(`update ${id}`);
    const times: number[] = [];
    for (let count = 0; count < 8; count += 1) {
      const result = await scene.reconcile(object);
      const { requeueAfterSeconds } = result as { requeueAfterSeconds: number };
      times.push(Math.ceil(requeueAfterSeconds / 60));
      await scene.clock.advance(requeueAfterSeconds * 1000);
    }
    expect(times).toEqual([15, 60, 120, 240, 480, 960, 1440, 1440]);
    expect(remotes()).toMatchObject([{ id }]);
    expect(scene.reason(object)).toBe("Available: Exists in the account as specified");
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });

  it("gets the new mark after half an hour, when the service refused it once", async () => {
    let refusals = 0;
    const { object } = await given((body) => hasNewMark(body) && ++refusals === 1);
    await scene.reconcile(object);
    expect(marks()).toEqual(["c1/team-a/web"]);
    await scene.clock.advance(1_800_000);
    await scene.reconcile(object);
    expect(marks()).toEqual(["c2/team-a/web"]);
  });

  it("is not asked again by the next process until it is due, unless a person asks", async () => {
    const { object, id } = await given(hasNewMark);
    await scene.reconcile(object);
    const retryAt = new Date(scene.clock.date().getTime() + 1_800_000).toISOString();
    expect(scene.cluster.now(object).status?.refusedMark).toEqual({ owner: "c2/team-a/web", retryAt });
    scene.restart();
    scene.resetCounts();
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).not.toContain(`update ${id}`);
    expect(scene.cluster.writes).toEqual([]);
    scene.cluster.annotateByHand(object, annotations.reconcileRequestedAt, "now");
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain(`update ${id}`);
    scene.restart();
    await scene.clock.advance(1_800_000);
    await scene.reconcile(object);
    expect(scene.gateway.takeCalls()).toContain(`update ${id}`);
    const { retryAt: next = "" } = scene.cluster.now(object).status?.refusedMark ?? {};
    expect(Date.parse(next) - scene.clock.date().getTime()).toBe(24 * 3_600_000);
  });

  it("has nothing refused in its status once it has the new mark", async () => {
    let refusals = 0;
    const { object } = await given((body) => hasNewMark(body) && ++refusals === 1);
    await scene.reconcile(object);
    scene.restart();
    await scene.clock.advance(1_800_000);
    await scene.reconcile(object);
    expect(marks()).toEqual(["c2/team-a/web"]);
    expect(scene.cluster.now(object).status?.refusedMark).toBeUndefined();
  });

  it("gets an edit of the spec without the new mark, when the service refuses it", async () => {
    const { object, id } = await given(hasNewMark);
    await scene.apply(kind, "web", { ...spec, description: "two" });
    expect(remotes()).toMatchObject([{ id, description: "two" }]);
    expect(marks()).toEqual(["c1/team-a/web"]);
    expect(scene.condition(object, "Synced")?.status).toBe("True");
  });

  it("gets the new mark although the service refused it together with a wrong value", async () => {
    const { object } = await given(({ description }) => description === "wrong");
    await scene.apply(kind, "web", { ...spec, description: "wrong" });
    await scene.apply(kind, "web", { ...spec, description: "right" });
    await scene.settle(object);
    expect(remotes()).toMatchObject([{ description: "right" }]);
    expect(marks()).toEqual(["c2/team-a/web"]);
  });
});

describe("a service that cannot update domains", () => {
  it("is asked for the mark of one of them, and after a restart for none", async () => {
    const scene = new Scene();
    const names = ["a", "b"].map((name) => `${name}.example.com`);
    for (const domain of names) scene.gateway.seed(ReservedDomain.resource, { domain });
    scene.gateway.beforeCall = ({ verb }) => {
      if (verb === "update") scene.gateway.refuse("update", 405);
    };
    const objects = [];
    for (const [index, domain] of names.entries())
      objects.push(await scene.given(ReservedDomain, `domain-${index}`, { domain, adopt: { existing: true } }));
    for (const object of objects) {
      expect(scene.cluster.now(object).status?.refusedMark?.owner).toBe(`c1/team-a/${object.metadata.name}`);
      expect(scene.condition(object, "Ready")?.status).toBe("True");
    }
    scene.restart();
    scene.resetCounts();
    for (const object of objects) await scene.reconcile(object);
    expect(scene.gateway.takeCalls().filter((call) => call.startsWith("update"))).toEqual([]);
    expect(scene.cluster.writes).toEqual([]);
  });
});

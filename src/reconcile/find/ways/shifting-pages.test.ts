import { beforeEach, describe, expect, it } from "vitest";
import { Scene } from "../../../../test/fakes/reconcile/scene.ts";
import { ReservedAddress } from "../../../kinds/reserved-address.ts";
import { ReservedDomain } from "../../../kinds/reserved-domain.ts";
import type { Kind } from "../../../schema/define.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

describe("a list of several pages from which a row is deleted while it is read", () => {
  const specs = { "an owner mark": {}, "no owner mark": { metadata: "opaque" } };

  /** Somebody removes the newest row after the first page of the next list, so that the second page lacks a row. */
  function shiftPages({ resource }: Kind = ReservedAddress): void {
    const { gateway } = scene;
    let pages = 0;
    gateway.beforeCall = ({ verb }) => {
      if (verb !== "list") return;
      pages += 1;
      if (pages !== 2) return;
      gateway.drop(resource, gateway.remotesOf(resource).at(-1)?.id ?? "");
    };
  }

  it.each(Object.entries(specs))("hides no remote with %s that an interrupted create made", async (_, spec) => {
    scene.gateway.pageSize = 2;
    scene.gateway.loseAnswer("create");
    const object = await scene.apply(ReservedAddress, "db", spec);
    const { id } = scene.gateway.remotesOf(ReservedAddress.resource)[0] ?? {};
    for (let count = 0; count < 2; count += 1) scene.gateway.seed(ReservedAddress.resource, { description: "theirs" });
    await scene.clock.advance(60_000);
    scene.restart();
    shiftPages();
    await scene.settle(object);
    expect(scene.idOf(object)).toBe(id);
  });

  it("hides no remote that an earlier object of the name left", async () => {
    const object = await scene.given(ReservedAddress, "db", { deletionPolicy: "Retain" });
    const id = scene.idOf(object);
    scene.gateway.pageSize = 2;
    for (let count = 0; count < 2; count += 1) scene.gateway.seed(ReservedAddress.resource, { description: "theirs" });
    await scene.deleteAndSettle(object);
    scene.restart();
    shiftPages();
    const next = scene.cluster.apply(ReservedAddress, "db", {});
    await scene.settle(next);
    expect(scene.idOf(next)).toBe(id);
  });

  it("hides no remote that is adopted by its name", async () => {
    const domain = "a.example.com";
    const theirs = scene.gateway.seed(ReservedDomain.resource, { domain });
    scene.gateway.pageSize = 2;
    for (let count = 0; count < 2; count += 1)
      scene.gateway.seed(ReservedDomain.resource, { domain: `${count}.example.com` });
    scene.restart();
    shiftPages(ReservedDomain);
    const object = scene.cluster.apply(ReservedDomain, "one", { domain, adopt: { existing: true } });
    scene.gateway.takeCalls();
    await scene.settle(object, 1);
    expect(scene.idOf(object)).toBe(theirs.id);
    expect(scene.gateway.takeCalls()).not.toContain("create");
  });

  it("costs two lists, which all searches share", async () => {
    const names = ["a", "b", "c", "d", "e"];
    for (const _ of names) scene.gateway.swallow("create");
    const objects = names.map((name) => scene.cluster.apply(ReservedAddress, name));
    await Promise.all(objects.map((object) => scene.reconcile(object)));
    scene.gateway.pageSize = 2;
    for (let count = 0; count < 3; count += 1) scene.gateway.seed(ReservedAddress.resource, { description: "theirs" });
    await scene.clock.advance(60_000);
    scene.gateway.takeCalls();
    await Promise.all(objects.map((object) => scene.settle(object)));
    const calls = scene.gateway.takeCalls();
    expect(calls.filter((call) => call === "list")).toHaveLength(4);
    expect(calls.filter((call) => call === "create")).toHaveLength(names.length);
  });
});

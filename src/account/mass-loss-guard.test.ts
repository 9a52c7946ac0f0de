import { describe, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { TLSEdge } from "../kinds/tls-edge.ts";
import { MassLossGuard } from "./mass-loss-guard.ts";

it("a confirmed loss does not count when it is seen again", () => {
  const guard = new MassLossGuard({ clock: new VirtualClock(), windowMs: 1000 });
  guard.accept("ipp_1");
  for (const id of ["ipp_1", "ipp_2"]) guard.recordLost(id);
  expect(guard.recentlyLost).toEqual(["ipp_2"]);
});

describe("a guard", () => {
  const loss = { missing: 5, total: 5 };
  const policies = { resource: IPPolicy.resource, id: "ipp_1" };
  const edges = { resource: TLSEdge.resource, id: "edgtls_1" };

  it("reports the first suspected loss, and the end of the last one", () => {
    const reported: boolean[] = [];
    const onChange = (suspected: boolean) => reported.push(suspected);
    const guard = new MassLossGuard({ clock: new VirtualClock(), windowMs: 1000, onChange });
    guard.clear(policies.resource);
    guard.suspect(policies, loss);
    guard.suspect(edges, loss);
    guard.clear(policies.resource);
    expect(reported).toEqual([true]);
    guard.clear(edges.resource);
    expect(reported).toEqual([true, false]);
    guard.suspect(edges, loss);
    expect(reported).toEqual([true, false, true]);
  });

  it("keeps the time of the next read when the same loss is reported again", async () => {
    const clock = new VirtualClock();
    const guard = new MassLossGuard({ clock, windowMs: 1000 });
    guard.suspect(policies, loss);
    await clock.advance(1999);
    guard.suspect(policies, loss);
    expect(guard.takeDueRechecks()).toEqual([]);
    await clock.advance(1);
    expect(guard.takeDueRechecks()).toMatchObject([policies]);
    await clock.advance(3999);
    guard.suspect(policies, loss);
    expect(guard.takeDueRechecks()).toEqual([]);
    await clock.advance(1);
    expect(guard.takeDueRechecks()).toMatchObject([policies]);
  });

  it("names the loss that was reported last, and none when all are over", async () => {
    const clock = new VirtualClock();
    const guard = new MassLossGuard({ clock, windowMs: 1000 });
    for (const [which, missing] of [
      [policies, 5],
      [edges, 6],
      [policies, 7],
    ] as const) {
      guard.suspect(which, { missing, total: 9 });
      expect(guard.problem?.missing).toBe(missing);
      await clock.advance(1);
    }
    guard.clear(policies.resource);
    expect(guard.problem?.missing).toBe(6);
    guard.clear(edges.resource);
    expect(guard.problem).toBeUndefined();
  });

  it("counts each lost remote from when it was first seen, and while a loss is suspected for ever", async () => {
    const clock = new VirtualClock();
    const guard = new MassLossGuard({ clock, windowMs: 1000 });
    guard.recordLost("ipp_1");
    await clock.advance(1000);
    guard.recordLost("ipp_1");
    guard.recordLost("ipp_2");
    expect(guard.recentlyLost).toEqual(["ipp_1", "ipp_2"]);
    await clock.advance(1);
    guard.suspect(policies, loss);
    expect(guard.recentlyLost).toEqual(["ipp_1", "ipp_2"]);
    guard.clear(policies.resource);
    expect(guard.recentlyLost).toEqual(["ipp_2"]);
    guard.accept("ipp_2");
    expect([guard.recentlyLost, guard.isAccepted("ipp_1"), guard.isAccepted("ipp_2")]).toEqual([[], false, true]);
  });

  it("is confirmed for one window by a request after the report, and by nothing else", async () => {
    const clock = new VirtualClock();
    const guard = new MassLossGuard({ clock, windowMs: 1000 });
    const asked: boolean[] = [];
    const ask = (requested: string | undefined) => {
      guard.confirm("team-a/production", requested);
      asked.push(guard.isConfirmed("team-a/production"));
    };
    // No loss is suspected yet, so there is nothing to confirm.
    for (const requested of [undefined, "1", "2"]) ask(requested);
    guard.suspect(policies, loss);
    for (const requested of ["just before", undefined, "just before"]) ask(requested);
    guard.clear(policies.resource);
    ask("2");
    ask("3");
    guard.suspect(policies, loss);
    ask("3");
    expect(asked.splice(0)).toEqual(Array(9).fill(false));
    ask("4");
    expect([asked.splice(0), guard.isSuspected, guard.isConfirmed("")]).toEqual([[true], false, false]);
    await clock.advance(1000);
    guard.suspect(policies, loss);
    ask("4");
    expect(asked.splice(0)).toEqual([false]);
    ask("5");
    expect(asked).toEqual([true]);
  });

  it("is confirmed by the first request of an account that never had one", () => {
    const guard = new MassLossGuard({ clock: new VirtualClock(), windowMs: 1000 });
    guard.suspect(policies, loss);
    guard.confirm("", undefined);
    expect(guard.isSuspected).toBe(true);
    guard.confirm("", "1");
    expect([guard.isSuspected, guard.isConfirmed("")]).toEqual([false, true]);
  });

  it("forgets a loss that was not reported for an hour", async () => {
    const clock = new VirtualClock();
    const guard = new MassLossGuard({ clock, windowMs: 1000 });
    guard.suspect(policies, loss);
    await clock.advance(60 * 60_000);
    expect(guard.takeDueRechecks()).toMatchObject([policies]);
    expect(guard.isSuspected).toBe(true);
    await clock.advance(1);
    expect(guard.takeDueRechecks()).toEqual([]);
    expect(guard.isSuspected).toBe(false);
  });

  it.each([true, false])("counts a confirmation at the start from the first use, once (%s)", async (confirmed) => {
    const clock = new VirtualClock();
    const guard = new MassLossGuard({ clock, windowMs: 1000, isConfirmedAtStart: confirmed });
    await clock.advance(5000);
    expect(guard.isConfirmed("")).toBe(false);
    guard.begin();
    await clock.advance(999);
    expect(guard.isConfirmed("")).toBe(confirmed);
    expect(guard.isConfirmed("team-a/production")).toBe(false);
    guard.begin();
    await clock.advance(1);
    expect(guard.isConfirmed("")).toBe(false);
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { mirrored, session } from "../../test/fakes/sessions/fake-service.ts";
import { sessionLabels } from "../kinds/tunnel-session.ts";
import { type MirrorPlan, type MirrorState, planMirror } from "./plan.ts";
import { labelsOf, type Session, type SessionObject, statusOf } from "./session.ts";

const empty: MirrorPlan = { create: [], updateLabels: [], updateStatus: [], delete: [], conflicts: [] };

const settled = (of: Session): SessionObject => ({ ...mirrored(of), status: statusOf(of) });

const plan = (state: Partial<MirrorState>) =>
  planMirror({ scope: { namespace: "gateway" }, sessions: [], objects: [], complete: true, ...state });

describe("planMirror", () => {
  const one = session("ts_1");

  test("creates an object for a session", () => {
    const { create, ...rest } = plan({ sessions: [one] });
    expect(create).toEqual([
      {
        name: mirrored(one).metadata.name,
        id: "ts_1",
        labels: mirrored(one).metadata.labels,
        status: {
          id: "ts_1",
          os: "linux",
          region: "eu",
          ip: "203.0.113.7",
          transport: "ssh",
          agentVersion: "3.1.0",
          startedAt: "2026-01-01T00:00:00Z",
          credential: { id: "cr_1" },
        },
      },
    ]);
    expect(rest).toEqual({ ...empty, create: undefined });
  });

  test("is empty when the objects show what is online", () => {
    expect(plan({ sessions: [one], objects: [settled(one)] })).toEqual(empty);
  });

  test("updates only what changed", () => {
    const object = settled(one);
    const moved = session("ts_1", { region: null, ip: "203.0.113.8" });
    const { updateLabels, updateStatus } = plan({ sessions: [moved], objects: [object] });
    expect(updateLabels).toEqual([{ object, labels: { [sessionLabels.region]: undefined } }]);
    expect(updateStatus).toEqual([{ object, status: statusOf(moved) }]);
    const elsewhere = session("ts_1", { ip: "203.0.113.8" });
    expect(plan({ sessions: [elsewhere], objects: [object] })).toMatchObject({ updateLabels: [], updateStatus: [{}] });
  });

  test("keeps labels and annotations of others", () => {
    const object = settled(one);
    const labels = { ...object.metadata.labels, team: "a" };
    expect(plan({ sessions: [one], objects: [{ ...object, metadata: { ...object.metadata, labels } }] })).toEqual(
      empty,
    );
  });

  test("deletes the object of an offline session, unless the list was incomplete", () => {
    const object = settled(one);
    expect(plan({ objects: [object] }).delete).toEqual([object]);
    expect(plan({ objects: [object], complete: false })).toEqual(empty);
  });

  test("never changes an object without the mirror's label, whatever its name", () => {
    const foreign: SessionObject = { ...mirrored(one), metadata: { ...mirrored(one).metadata, labels: {} } };
    expect(plan({ objects: [foreign] })).toEqual(empty);
    expect(plan({ sessions: [one], objects: [foreign] })).toEqual({ ...empty, conflicts: [foreign.metadata.name] });
  });

  test("leaves the objects of other accounts alone, also of one that has the same sessions", () => {
    const scope = { namespace: "gateway", account: "blue" };
    const [own, blue, green] = [undefined, "blue", "green"].map((account) => ({
      ...mirrored(one, {}, account),
      status: statusOf(one),
    })) as [SessionObject, SessionObject, SessionObject];
    expect(new Set([own, blue, green].map(({ metadata }) => metadata.name)).size).toBe(3);
    expect(plan({ scope, objects: [own, blue, green] }).delete).toEqual([blue]);
    expect(plan({ objects: [own, blue, green] }).delete).toEqual([own]);
    const { create, ...rest } = plan({ scope, sessions: [one], objects: [own, green] });
    expect(create).toMatchObject([
      {
        name: blue.metadata.name,
        labels: { "tunnelgateway.dev/account": "blue", "tunnelgateway.dev/mirror": "sessions" },
      },
    ]);
    expect(rest).toEqual({ ...empty, create: undefined });
  });

  test("leads to one object for each session that is online", () => {
    const sessions = fc.uniqueArray(fc.stringMatching(/^ts_[A-Za-z0-9]{1,4}$/), { maxLength: 8 });
    const region = fc.constantFrom("eu", "us", "", null);
    fc.assert(
      fc.property(sessions, sessions, region, (before, after, where) => {
        const online = after.map((id) => session(id, { region: where }));
        const objects = before.map((id) => settled(session(id)));
        const { create, updateLabels, updateStatus, delete: deleted } = plan({ sessions: online, objects });
        const gone = new Set(deleted.map(({ metadata }) => metadata.name));
        const written = new Set([...updateLabels, ...updateStatus].map(({ object }) => object.metadata.name));
        const remaining = objects.filter(({ metadata }) => !gone.has(metadata.name));
        const names = [...remaining.map(({ metadata }) => metadata.name), ...create.map(({ name }) => name)];
        expect(names.sort()).toEqual(online.map((one) => mirrored(one).metadata.name).sort());
        const unchanged = online.filter((one) => labelsOf(one, undefined)[sessionLabels.region] === "eu");
        for (const one of unchanged) expect(written).not.toContain(mirrored(one).metadata.name);
      }),
    );
  });
});

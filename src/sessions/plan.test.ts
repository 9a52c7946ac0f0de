import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sessionLabels } from "../kinds/tunnel-session.ts";
import { type MirrorPlan, type MirrorState, planMirror } from "./plan.ts";
import { labelsOf, type Session, type SessionObject, statusOf } from "./session.ts";
import { mirrored, session } from "./testing/fake-service.ts";

const nothing: MirrorPlan = { create: [], relabel: [], restate: [], remove: [], taken: [] };

const settled = (of: Session): SessionObject => ({ ...mirrored(of), status: statusOf(of) });

const plan = (state: Partial<MirrorState>) => planMirror({ sessions: [], objects: [], complete: true, ...state });

describe("planMirror", () => {
  const one = session("ts_1");

  test("makes an object for a session", () => {
    const { create, ...rest } = plan({ sessions: [one] });
    expect(create).toEqual([
      {
        name: mirrored(one).metadata.name,
        id: "ts_1",
        labels: mirrored(one).metadata.labels,
        status: {
          ...{ id: "ts_1", os: "linux", region: "eu", ip: "203.0.113.7", transport: "ssh", agentVersion: "3.1.0" },
          ...{ startedAt: "2026-01-01T00:00:00Z", credential: { id: "cr_1" } },
        },
      },
    ]);
    expect(rest).toEqual({ ...nothing, create: undefined });
  });

  test("asks for nothing where objects show what is online", () => {
    expect(plan({ sessions: [one], objects: [settled(one)] })).toEqual(nothing);
  });

  test("writes what has changed, and only that", () => {
    const object = settled(one);
    const moved = session("ts_1", { region: null, ip: "203.0.113.8" });
    const { relabel, restate } = plan({ sessions: [moved], objects: [object] });
    expect(relabel).toEqual([{ object, labels: { [sessionLabels.region]: undefined } }]);
    expect(restate).toEqual([{ object, status: statusOf(moved) }]);
    const elsewhere = session("ts_1", { ip: "203.0.113.8" });
    expect(plan({ sessions: [elsewhere], objects: [object] })).toMatchObject({ relabel: [], restate: [{}] });
  });

  test("leaves labels and annotations of others alone", () => {
    const object = settled(one);
    const labels = { ...object.metadata.labels, team: "a" };
    expect(plan({ sessions: [one], objects: [{ ...object, metadata: { ...object.metadata, labels } }] })).toEqual(
      nothing,
    );
  });

  test("removes what is offline, unless the list did not tell all", () => {
    const object = settled(one);
    expect(plan({ objects: [object] }).remove).toEqual([object]);
    expect(plan({ objects: [object], complete: false })).toEqual(nothing);
  });

  test("never touches an object without the label of the mirror, whatever its name", () => {
    const foreign: SessionObject = { ...mirrored(one), metadata: { ...mirrored(one).metadata, labels: {} } };
    expect(plan({ objects: [foreign] })).toEqual(nothing);
    expect(plan({ sessions: [one], objects: [foreign] })).toEqual({ ...nothing, taken: [foreign.metadata.name] });
  });

  test("leads to objects that ask for nothing more", () => {
    const sessions = fc.uniqueArray(fc.stringMatching(/^ts_[A-Za-z0-9]{1,4}$/), { maxLength: 8 });
    const region = fc.constantFrom("eu", "us", "", null);
    fc.assert(
      fc.property(sessions, sessions, region, (before, after, where) => {
        const online = after.map((id) => session(id, { region: where }));
        const objects = before.map((id) => settled(session(id)));
        const { create, relabel, restate, remove } = plan({ sessions: online, objects });
        const gone = new Set(remove.map(({ metadata }) => metadata.name));
        const written = new Set([...relabel, ...restate].map(({ object }) => object.metadata.name));
        const left = objects.filter(({ metadata }) => !gone.has(metadata.name));
        const names = [...left.map(({ metadata }) => metadata.name), ...create.map(({ name }) => name)];
        expect(names.sort()).toEqual(online.map((one) => mirrored(one).metadata.name).sort());
        const unchanged = online.filter((one) => labelsOf(one)[sessionLabels.region] === "eu");
        for (const one of unchanged) expect(written).not.toContain(mirrored(one).metadata.name);
      }),
    );
  });
});

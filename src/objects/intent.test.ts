import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import { formatIntent, type Intent, intentOf, mayHaveCreated, sendWindowMs, settledAt } from "./intent.ts";
import type { ManagedObject } from "./object.ts";

const deadline = 30_000;
const noon = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

const objectWith = (intent: string | undefined, creationTimestamp = "2026-01-01T00:00:00Z"): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: {
    ...{ name: "a", namespace: "n", uid: "u", generation: 1, creationTimestamp },
    ...(intent !== undefined && { annotations: { [annotations.createIntent]: intent } }),
  },
  spec: {},
});

describe("the annotation", () => {
  it("is read as it was written", () => {
    const time = fc.integer({ min: 0, max: 4_102_444_800_000 });
    // the unit called binary takes seconds to make
    const anything = fc.nat(0x10ffff).map((point) => String.fromCodePoint(point));
    const intents = fc.record({
      first: time,
      last: time,
      old: fc.option(fc.stringMatching(/^[a-z]+_\w+$/), { nil: undefined }),
      fields: fc.option(fc.array(fc.stringMatching(/^[a-zA-Z./]+$/), { minLength: 1 }), { nil: undefined }),
      sent: fc.option(fc.dictionary(fc.string(), fc.string({ unit: anything }), { noNullPrototype: true }), {
        nil: undefined,
      }),
    });
    fc.assert(
      fc.property(intents, (intent) => {
        expect(intentOf(objectWith(formatIntent(intent)))).toEqual(intent);
      }),
    );
  });

  it("is an interval that people can read", () => {
    expect(formatIntent({ first: noon, last: noon + 60_000 })).toBe(
      "2026-01-01T12:00:00.000Z/2026-01-01T12:01:00.000Z",
    );
  });

  it("leaves out a request that it has no room for", () => {
    const text = formatIntent({ first: noon, last: noon, fields: ["labels"], sent: { metadata: "x".repeat(40_000) } });
    expect(text.length).toBeLessThan(100);
    expect(intentOf(objectWith(text))).toMatchObject({ first: noon, fields: ["labels"], sent: undefined });
  });

  it("is no intent where there is none", () => {
    expect(intentOf(objectWith(undefined))).toBeUndefined();
  });

  it.each([
    ["emptied", ""],
    ["edited", "yesterday"],
    ["cut off", "2026-01-01T12:00:00.000Z/"],
  ])("counts from the creation of the object when somebody has %s it", (_, text) => {
    const created = Date.parse("2026-01-01T00:00:00Z");
    expect(intentOf(objectWith(text))).toMatchObject({ first: created, last: created });
  });

  it("keeps the old id when somebody has edited the times", () => {
    expect(intentOf(objectWith("now old=ipp_1"))?.old).toBe("ipp_1");
  });

  it("is both ends where there is one time", () => {
    expect(intentOf(objectWith(at(0)))).toMatchObject({ first: noon, last: noon });
  });
});

describe("settledAt", () => {
  it("is later than any answer to a request that was permitted", () => {
    const intent: Intent = { first: noon, last: noon + 5000 };
    expect(settledAt(intent, deadline)).toBeGreaterThan(intent.last + sendWindowMs(deadline) + deadline);
  });
});

describe("covers", () => {
  const intent: Intent = { first: noon, last: noon + 10_000 };
  const settled = (settledAt(intent, deadline) - noon) / 1000;

  it.each<[string, unknown, boolean]>([
    ["right after the first intent", at(1), true],
    ["a little before, by the service's clock", at(-119), true],
    ["long before", at(-121), false],
    ["until the latest is settled", at(settled), true],
    ["a little later, by the service's clock", at(settled + 119), true],
    ["much later", at(settled + 121), false],
    ["at a time that is not known", null, false],
    ["at no time", "soon", false],
  ])("what was made %s: %s is %s", (_, createdAt, expected) => {
    expect(mayHaveCreated(intent, createdAt, deadline)).toBe(expected);
  });

  it("reaches over both ends, where the calendar was set back between them", () => {
    const reversed: Intent = { first: noon, last: noon - 3_600_000 };
    expect([at(-3600), at(0)].map((time) => mayHaveCreated(reversed, time, deadline))).toEqual([true, true]);
  });
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import { formatIntent, mayHaveCreated, parseIntent, type SignedIntent, sendWindowMs, settledAt } from "./intent.ts";
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
    // fast-check's unit "binary" takes seconds to generate
    const anything = fc.nat(0x10ffff).map((point) => String.fromCodePoint(point));
    const intents = fc.record({
      signed: fc.constant(true as const),
      first: time,
      last: time,
      account: fc.option(fc.stringMatching(/^[a-z0-9-]*$/), { nil: undefined }),
      old: fc.option(fc.stringMatching(/^[a-z]+_\w+$/), { nil: undefined }),
      fields: fc.option(fc.array(fc.stringMatching(/^[a-zA-Z./]+$/), { minLength: 1 }), { nil: undefined }),
      sent: fc.option(fc.dictionary(fc.string(), fc.string({ unit: anything }), { noNullPrototype: true }), {
        nil: undefined,
      }),
    });
    fc.assert(
      fc.property(intents, (intent) => {
        expect(parseIntent(objectWith(formatIntent(intent)))).toEqual(intent);
      }),
    );
  });

  it("is an ISO 8601 interval", () => {
    expect(formatIntent({ signed: true, first: noon, last: noon + 60_000 })).toBe(
      "2026-01-01T12:00:00.000Z/2026-01-01T12:01:00.000Z",
    );
  });

  it("leaves out a body that is too large", () => {
    const text = formatIntent({
      signed: true,
      first: noon,
      last: noon,
      fields: ["labels"],
      sent: { metadata: "x".repeat(40_000) },
    });
    expect(text.length).toBeLessThan(100);
    expect(parseIntent(objectWith(text))).toMatchObject({ first: noon, fields: ["labels"], sent: undefined });
  });

  it("has a body of 32 KiB, and none that is longer", () => {
    const characters = (count: number) => ({ a: "x".repeat(count - '{"a":""}'.length) });
    const read = (count: number) =>
      parseIntent(objectWith(formatIntent({ signed: true, first: noon, last: noon, sent: characters(count) })));
    expect(read(32_768)).toMatchObject({ sent: characters(32_768) });
    expect(read(32_769)).toMatchObject({ first: noon, sent: undefined });
  });

  it("may be missing", () => {
    expect(parseIntent(objectWith(undefined))).toBeUndefined();
  });

  it.each([
    ["emptied", ""],
    ["edited", "yesterday"],
    ["cut off", "2026-01-01T12:00:00.000Z/"],
  ])("counts from the creation of the object when somebody has %s it", (_, text) => {
    const created = Date.parse("2026-01-01T00:00:00Z");
    expect(parseIntent(objectWith(text))).toMatchObject({ first: created, last: created });
  });

  it("is read for the old id even when somebody has edited the times", () => {
    expect(parseIntent(objectWith("now old=ipp_1"))?.old).toBe("ipp_1");
  });

  it("may have one time, which is the first and the last", () => {
    expect(parseIntent(objectWith(at(0)))).toMatchObject({ first: noon, last: noon });
  });
});

describe("settledAt", () => {
  it("is later than the deadline of any create that the intent allowed", () => {
    const intent: SignedIntent = { signed: true, first: noon, last: noon + 5000 };
    expect(settledAt(intent, deadline)).toBeGreaterThan(intent.last + sendWindowMs(deadline) + deadline);
  });
});

describe("mayHaveCreated", () => {
  const intent: SignedIntent = { signed: true, first: noon, last: noon + 10_000 };
  const settled = (settledAt(intent, deadline) - noon) / 1000;

  it.each<[string, unknown, boolean]>([
    ["right after the first intent", at(1), true],
    ["a little before, by the service's clock", at(-119), true],
    ["long before", at(-121), false],
    ["when the latest create is settled", at(settled), true],
    ["a little later, by the service's clock", at(settled + 119), true],
    ["much later", at(settled + 121), false],
    ["at an unknown time", null, false],
    ["at a text that is no time", "soon", false],
  ])("accepts a remote created %s (%s): %s", (_, createdAt, expected) => {
    expect(mayHaveCreated(intent, createdAt, deadline)).toBe(expected);
  });

  it("covers both ends when the system clock was set back between them", () => {
    const reversed: SignedIntent = { signed: true, first: noon, last: noon - 3_600_000 };
    expect([at(-3600), at(0)].map((time) => mayHaveCreated(reversed, time, deadline))).toEqual([true, true]);
  });
});

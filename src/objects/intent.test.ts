import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import {
  formatIntent,
  type Intent,
  maxProcessingMs,
  mayHaveCreated,
  openIntentOf,
  parseIntent,
  type SignedIntent,
  sendWindowMs,
  settledAt,
  settleTimeMs,
  signedIntentOf,
  wasCreatedInLifetimeOf,
} from "./intent.ts";
import type { ManagedObject } from "./object.ts";

const deadline = 30_000;
const noon = Date.parse("2026-01-01T12:00:00Z");
const at = (seconds: number): string => new Date(noon + seconds * 1000).toISOString();

const objectWith = (intent: string | undefined, creationTimestamp = "2026-01-01T00:00:00Z"): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: {
    name: "a",
    namespace: "n",
    uid: "u",
    generation: 1,
    creationTimestamp,
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

describe("an intent is open", () => {
  const signed: Intent = { signed: true, first: noon, last: noon };
  const unsigned: Intent = { signed: false, last: noon };
  const replacing: Intent = { ...signed, old: "ipp_1" };

  it.each<[string, Intent | undefined, string | undefined, boolean]>([
    ["without an id", signed, undefined, true],
    ["without an id, whoever wrote it", unsigned, undefined, true],
    ["while the status has the id of the remote that was to be replaced", replacing, "ipp_1", true],
    ["and no more when the status has the new id", replacing, "ipp_2", false],
    ["and no more when the status has an id", signed, "ipp_1", false],
    ["and no more when the status has an id, whoever wrote it", unsigned, "ipp_1", false],
    ["only if there is one", undefined, undefined, false],
  ])("%s", (_, intent, id, isOpen) => {
    const object = { intent, ...(id !== undefined && { status: { id } }) };
    expect(openIntentOf(object)).toBe(isOpen ? intent : undefined);
    expect(openIntentOf({ intent, status: id === undefined ? {} : { id } })).toBe(isOpen ? intent : undefined);
    expect(signedIntentOf(object)).toBe(intent?.signed ? intent : undefined);
  });
});

it("times follow from the deadline of a request", () => {
  expect([sendWindowMs(deadline), maxProcessingMs(deadline), settleTimeMs(deadline)]).toEqual([10_000, 37_000, 47_000]);
  expect(settledAt({ last: noon }, deadline)).toBe(noon + 47_000);
});

describe("the lifetime of an object, which begins anew with a restore from a backup", () => {
  const [created, early, tooEarly, late] = [at(0), at(-120), at(-120.001), at(3600)];

  it.each([
    ["after it was created", late, true],
    ["two minutes before, by another clock", early, true],
    ["earlier", tooEarly, false],
  ])("includes an intent or a remote that was made %s: %s", (_, time, isInLifetime) => {
    expect(wasCreatedInLifetimeOf(objectWith(undefined, created), time)).toBe(isInLifetime);
  });

  it("includes nothing when the time of the intent, of the remote or of the object is missing", () => {
    const { creationTimestamp: _, ...metadata } = objectWith(late).metadata;
    const undated = { ...objectWith(late), metadata };
    for (const time of [undefined, null, "soon"]) {
      expect(wasCreatedInLifetimeOf(objectWith(undefined, created), time)).toBe(false);
    }
    expect(wasCreatedInLifetimeOf(undated, late)).toBe(false);
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
    ["two minutes before, by the service's clock", at(-120), true],
    ["earlier", at(-120.001), false],
    ["when the latest create is settled", at(settled), true],
    ["two minutes later, by the service's clock", at(settled + 120), true],
    ["later", at(settled + 120.001), false],
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

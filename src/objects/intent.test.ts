import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import { formatIntent, type Intent, intentOf, maxProcessingMs, openCreateOf, sendWindowMs } from "./intent.ts";
import type { Status } from "./object.ts";

const noon = "2026-01-01T12:00:00.000Z";

const objectWith = (intent: string | undefined, status?: Status) => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: "IPPolicy",
  metadata: { name: "a", ...(intent !== undefined && { annotations: { [annotations.createIntent]: intent } }) },
  ...(status && { status }),
});

describe("the annotation", () => {
  it("is read as it was written", () => {
    const id = fc.stringMatching(/^[a-z]+_\w+$/);
    const intents = fc.record({
      create: fc.option(fc.constant(noon), { nil: undefined }),
      account: fc.option(fc.stringMatching(/^[a-z0-9-]*$/), { nil: undefined }),
      fields: fc.option(fc.array(fc.stringMatching(/^[a-zA-Z./]+$/), { minLength: 1 }), { nil: undefined }),
      unmarked: fc.option(fc.record({ id, owner: fc.constantFrom("c/n/a", `c/n/a#${noon}`) }), { nil: undefined }),
    });
    fc.assert(
      fc.property(intents, (intent) => {
        expect(intentOf(objectWith(formatIntent(intent)))).toEqual(intent);
      }),
    );
  });

  it("has the create first, and names what else there is", () => {
    const intent: Intent = {
      create: noon,
      account: "",
      fields: ["a", "b.c"],
      unmarked: { id: "rd_1", owner: "c/n/a" },
    };
    expect(formatIntent(intent)).toBe(`${noon} account= fields=a,b.c id=rd_1 owner=c/n/a`);
    expect(formatIntent({ create: noon })).toBe(noon);
  });

  it.each(["", " ", "account", "fields= id=", "x=\u0000", "id=rd_1", "owner=c/n/a", "\ud800"])(
    "may be any text that people write: %j",
    (text) => {
      expect(intentOf(objectWith(text))?.unmarked).toBeUndefined();
    },
  );

  it("is there or not", () => {
    expect(intentOf(objectWith(undefined))).toBeUndefined();
  });
});

describe("a create is open", () => {
  it.each<[string, string | undefined, Status | undefined, string | undefined]>([
    ["while the status has no id", noon, undefined, noon],
    ["while the status has the id that it is to replace", noon, { id: "a_1", created: "2026-01-01T11:00:00Z" }, noon],
    ["while the status has the id of an adopted remote", noon, { id: "a_1" }, noon],
    ["until the status says what it made", noon, { id: "a_1", created: noon }, undefined],
    ["if one was recorded", undefined, undefined, undefined],
  ])("%s", (_, intent, status, open) => {
    expect(openCreateOf(objectWith(intent, status))).toBe(open);
  });
});

it("a request ends 37 s after it was sent at the latest, and a create is sent within 10 s", () => {
  expect([maxProcessingMs(30_000), sendWindowMs(30_000)]).toEqual([37_000, 10_000]);
});

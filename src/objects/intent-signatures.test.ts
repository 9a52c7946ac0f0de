import { createHmac, createSecretKey } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { annotations } from "../schema/contract.ts";
import { formatIntent, type SignedIntent } from "./intent.ts";
import { IntentSignatures } from "./intent-signatures.ts";

const key = createSecretKey(Buffer.from("the key, of thirty-two bytes....."));
const signatures = new IntentSignatures(key, "c1");
const noon = Date.parse("2026-01-01T12:00:00Z");
const intent: SignedIntent = {
  signed: true,
  first: noon,
  last: noon + 1000,
  account: "team",
  old: "bkd_1",
  fields: ["description"],
  sent: { description: "d" },
};

const metadata = { name: "one", namespace: "team-a", uid: "u1" };
const object = { apiVersion: "tunnelgateway.dev/v1", kind: "IPPolicy", metadata };

type Changed = Partial<typeof object.metadata> & { annotations?: Record<string, string | null> };
const written = (more: Changed = {}, kind = object.kind) => {
  const given = { ...signatures.annotationsOf(object, intent), ...more.annotations };
  const present = Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...object, kind, metadata: { ...metadata, ...more, annotations: Object.fromEntries(present) } };
};

describe("an intent that the operator has written", () => {
  it("is accepted", () => {
    expect(signatures.admit(written()).intent).toEqual(intent);
  });

  it("is accepted for the same object after a restore from a backup, with another uid", () => {
    expect(signatures.admit(written({ uid: "u2" })).intent).toEqual(intent);
  });

  it("has a signature of 22 characters, and the key is in none of it", () => {
    const texts = Object.values(signatures.annotationsOf(object, intent));
    expect(texts[1]).toMatch(/^[\w-]{22}$/);
    expect(inspect(signatures, { depth: 9, showHidden: true })).not.toContain("thirty");
  });
});

it("is accepted when it was signed under a former id of the cluster", () => {
  const renamed = new IntentSignatures(key, "c2", ["c0", "c1"]);
  expect(renamed.admit(written()).intent).toEqual(signatures.admit(written()).intent);
  expect(renamed.admit(written({ name: "two" })).intent?.signed).toBe(false);
});

describe("an intent is not accepted", () => {
  const edited = (text: string) => ({ annotations: { [annotations.createIntent]: text } });
  const signed = (signature: string | null) => ({ annotations: { [annotations.createIntentSignature]: signature } });
  const another = createHmac("sha256", "another key").update("x").digest().subarray(0, 16).toString("base64url");

  it.each([
    ["under another name", written({ name: "two" })],
    ["in another namespace", written({ namespace: "team-b" })],
    ["on another kind", written({}, "TCPEdge")],
    ["without a signature", written(signed(null))],
    ["with an empty signature", written(signed(""))],
    ["with a signature that is cut off", written(signed("AAAA"))],
    ["with a signature of another key", written(signed(another))],
    ["with another old id", written(edited(formatIntent({ ...intent, old: "bkd_2" })))],
    ["with another account", written(edited(formatIntent({ ...intent, account: "" })))],
    ["with another body", written(edited(formatIntent({ ...intent, sent: { description: "e" } })))],
    ["with an earlier time", written(edited(formatIntent({ ...intent, first: 0 })))],
  ])("%s", (_, given) => {
    expect(signatures.admit(given).intent).toEqual({ signed: false, last: intent.last });
  });

  it("in another cluster", () => {
    expect(new IntentSignatures(key, "c2").admit(written()).intent).toEqual({ signed: false, last: intent.last });
  });

  it("if name and namespace only look the same when joined", () => {
    const given = written({ namespace: 'team-a","o', name: "ne" });
    expect(signatures.admit(given).intent?.signed).toBe(false);
  });

  it("as a member of the object itself", () => {
    expect(signatures.admit({ ...object, intent }).intent).toBeUndefined();
  });
});

it("writes an intent that nobody has signed without a signature, and with its time only", () => {
  expect(signatures.annotationsOf(object, { signed: false, last: noon })).toEqual({
    [annotations.createIntent]: "2026-01-01T12:00:00.000Z/2026-01-01T12:00:00.000Z",
    [annotations.createIntentSignature]: null,
  });
});

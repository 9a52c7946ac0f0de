import { createSecretKey, randomBytes } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { formatIntent } from "../../objects/intent.ts";
import { IntentSignatures } from "../../objects/intent-signatures.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Store } from "../../runtime/cache/store.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { apiServerForTest } from "../../runtime/testing/api-server-for-test.ts";
import type { FakeApiServer } from "../../runtime/testing/fake-api-server.ts";
import { recordingLogger } from "../../runtime/testing/logs.ts";
import { annotations, INTENT_KEY_SECRET, secretAnnotations } from "../../schema/contract.ts";
import { FormerIntents, type FormerIntentsOptions } from "./former-intents.ts";
import type { Informers } from "./indexes.ts";

const POLICIES = "tunnelgateway.dev/v1/ippolicies";
const EDGES = "tunnelgateway.dev/v1/tcpedges";
const kinds = [IPPolicy, TCPEdge];
/** When the fake server says that each object was created. */
const born = Date.parse("2026-01-01T00:00:00Z");

let server: FakeApiServer;
let kube: KubeClient;
let stores: Map<string, { store: Store<ManagedObject> }>;
let signatures: IntentSignatures;
let log: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  ({ server, client: kube } = await apiServerForTest());
  stores = new Map(kinds.map(({ kind }) => [kind, { store: new Store<ManagedObject>() }]));
  signatures = new IntentSignatures(createSecretKey(randomBytes(32)), "c1");
  log = recordingLogger();
  server.storage.create("v1/secrets", {
    ...{ apiVersion: "v1", kind: "Secret", metadata: { namespace: "own", name: INTENT_KEY_SECRET } },
  });
});

const intentAt = (time: number): string => formatIntent({ signed: true, first: time, last: time, old: "ipp_1" });

function given(
  name: string,
  text: string | undefined,
  signature?: string,
  [collection, kind] = [POLICIES, "IPPolicy"],
) {
  const given = {
    ...(text !== undefined && { [annotations.createIntent]: text }),
    ...(signature !== undefined && { [annotations.createIntentSignature]: signature }),
  };
  return server.storage.create(collection as string, {
    ...{ apiVersion: "tunnelgateway.dev/v1", kind: kind as string, spec: {} },
    metadata: { namespace: "n", name, annotations: given },
  });
}

async function lead(more: Partial<KubeClient> = {}): Promise<void> {
  const client: FormerIntentsOptions["client"] = {
    get: (...given) => kube.get(...given),
    listAll: (...given) => kube.listAll(...given),
    patchMerge: (...given) => kube.patchMerge(...given),
    ...more,
  };
  const step = new FormerIntents({
    ...{ client, kinds, namespace: "own", log },
    ...{
      informers: stores as unknown as Informers,
      watchNamespaces: [],
      isOurs: ({ metadata }) => metadata.labels?.["team"] !== "b",
      clock: systemClock,
    },
    signatures: () => signatures,
  });
  step.start();
  await step.synced;
  await step.stop();
}

const now = (name: string, collection = POLICIES) => server.storage.get(collection, `n/${name}`) as KubeObject;
const isBelieved = (name: string, collection?: string) => signatures.admit(now(name, collection)).intent?.signed;
const marker = () =>
  server.storage.get("v1/secrets", `own/${INTENT_KEY_SECRET}`)?.metadata.annotations?.[
    secretAnnotations.intentsSignedAt
  ];
const patches = () => server.received.filter(({ method }) => method === "PATCH");

describe("the first leader", () => {
  it("signs the intents of an earlier version, of all kinds, and the cache has them at once", async () => {
    given("one", intentAt(born));
    given("two", intentAt(born), undefined, [EDGES, "TCPEdge"]);
    given("none", undefined);
    await lead();
    expect([isBelieved("one"), isBelieved("two", EDGES)]).toEqual([true, true]);
    expect(stores.get("IPPolicy")?.store.get("n/one")?.intent).toMatchObject({ signed: true, old: "ipp_1" });
    expect(patches()).toHaveLength(3);
    expect(marker()).toMatch(/^20\d\d-/);
  });

  it("does so once: a later intent without a signature is not signed", async () => {
    await lead();
    given("restored", intentAt(born));
    await lead();
    expect(isBelieved("restored")).toBe(false);
    expect(patches()).toHaveLength(1);
  });

  it("continues after a leader that was killed", async () => {
    for (let index = 0; index < 40; index += 1) given(`o${index}`, intentAt(born));
    // the first 16 are signed, and then it ends
    server.faults.push(...Array.from({ length: 3 + 16 }, () => undefined), { status: 403 });
    await lead();
    const believed = Array.from({ length: 40 }, (_, index) => isBelieved(`o${index}`));
    expect(new Set(believed)).toEqual(new Set([true]));
    expect(marker()).toBeDefined();
  });

  it("does not wait for a kind that the cluster does not have", async () => {
    given("one", intentAt(born));
    server.absent.add(EDGES);
    await lead();
    expect(isBelieved("one")).toBe(true);
    expect(marker()).toBeDefined();
  });

  it("records that it is done last", async () => {
    given("one", intentAt(born));
    await lead();
    expect(patches().at(-1)?.path).toContain(INTENT_KEY_SECRET);
  });

  it("does not sign for an object that is younger than its intent, such as one from a backup", async () => {
    given("restored", intentAt(born - 3_600_000));
    await lead();
    expect(isBelieved("restored")).toBe(false);
  });

  it("does not sign an intent that an editor writes meanwhile", async () => {
    given("one", intentAt(born));
    const forged = intentAt(born + 1000);
    const listAll: KubeClient["listAll"] = async (...given) => {
      const list = await kube.listAll<never>(...given);
      server.storage.update(POLICIES, "n/one", (one) => ({
        ...one,
        metadata: { ...one.metadata, annotations: { [annotations.createIntent]: forged } },
      }));
      return list;
    };
    await lead({ listAll });
    expect(now("one").metadata.annotations).toHaveProperty([annotations.createIntentSignature]);
    expect(now("one").metadata.annotations?.[annotations.createIntent]).toBe(forged);
    expect(isBelieved("one")).toBe(false);
  });

  it("skips an object that is gone meanwhile", async () => {
    given("one", intentAt(born));
    given("two", intentAt(born));
    server.faults.push(undefined, undefined, undefined, { status: 404 });
    await lead();
    expect(marker()).toBeDefined();
  });
});

describe("a leader with another key than the previous one", () => {
  it("signs nothing, and logs it", async () => {
    const lost = new IntentSignatures(createSecretKey(randomBytes(32)), "c1");
    const text = intentAt(born);
    const one = { kind: "IPPolicy", apiVersion: "v1", metadata: { namespace: "n", name: "one" } };
    given("one", text, lost.sign(one, text));
    given("planted", intentAt(born));
    await lead();
    expect([isBelieved("one"), isBelieved("planted")]).toEqual([false, false]);
    expect(marker()).toBeDefined();
    expect(JSON.stringify(log.lines)).toContain("the key was lost");
  });
});

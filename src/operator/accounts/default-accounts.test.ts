import { beforeEach, describe, expect, it } from "vitest";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import { Store } from "../../runtime/cache/store.ts";
import type { KubeClient, ListOptions } from "../../runtime/connection/client.ts";
import { KubeUnreachable } from "../../runtime/connection/errors.ts";
import { VirtualClock } from "../../runtime/testing/virtual-clock.ts";
import { typeOf } from "../kubernetes/resource-types.ts";
import type { AccountObject } from "./all-credentials.ts";
import { DefaultAccounts } from "./default-accounts.ts";

let clock: VirtualClock;
let store: Store<AccountObject>;
let isConnected: boolean;
/** What the API server has, whether a watch has told of it or not. */
let existing: AccountObject[];
let revision: number;
let reads: ListOptions[];
let failure: Error | undefined;
/** Awaited before the API server answers. */
let beforeAnswer: () => Promise<void> | void;
let defaults: DefaultAccounts;

beforeEach(() => {
  clock = new VirtualClock();
  store = new Store();
  [isConnected, existing, revision, reads, failure] = [true, [], 10, [], undefined];
  beforeAnswer = () => {};
  const list = async (_: unknown, options: ListOptions = {}) => {
    reads.push(options);
    const answer = { items: [...existing], resourceVersion: String(revision) };
    await beforeAnswer();
    if (failure) throw failure;
    return answer;
  };
  defaults = new DefaultAccounts({
    ...{ clock, store: () => store, isConnected: () => isConnected, type: typeOf(GatewayAccount) },
    client: { list } as unknown as KubeClient,
  });
});

const account = (name: string, resourceVersion: string): AccountObject => ({
  ...{ apiVersion: "tunnelgateway.dev/v1", kind: GatewayAccount.kind },
  metadata: { name, namespace: "team-a", uid: `uid-${name}`, generation: 1, resourceVersion },
  spec: { apiKeySecretRef: { name: "key", key: "key" } },
});

const object = (resourceVersion: number, spec: ManagedObject["spec"] = {}, namespace = "team-a"): ManagedObject => ({
  ...{ apiVersion: "tunnelgateway.dev/v1", kind: IPPolicy.kind, spec },
  metadata: { name: "office", namespace, uid: "o", generation: 1, resourceVersion: String(resourceVersion) },
});

const known = () => store.get("team-a/default") !== undefined;

describe("a GatewayAccount named default that no watch has told of", () => {
  it("is known when an object that came with it is about to get its remote", async () => {
    existing = [account("default", "9")];
    await defaults.ensureKnown(object(10));
    expect(known()).toBe(true);
    expect(reads).toEqual([{ namespace: "team-a", fieldSelector: "metadata.name=default" }]);
  });

  it("is found although there was none when an older object was asked for", async () => {
    await defaults.ensureKnown(object(10));
    [existing, revision] = [[account("default", "11")], 12];
    await defaults.ensureKnown(object(12));
    expect(known()).toBe(true);
  });

  it("stops the object while the API server does not answer", async () => {
    failure = new KubeUnreachable("ECONNRESET", "no answer");
    await expect(defaults.ensureKnown(object(10))).rejects.toThrow(Retry);
    failure = undefined;
    await defaults.ensureKnown(object(10));
    expect(reads).toHaveLength(2);
  });
});

describe("requests to the API server", () => {
  it("are none for objects that name their account, or whose namespace is known to have a default", async () => {
    await defaults.ensureKnown(object(10, { accountRef: { name: "other" } }));
    store.put(account("default", "5"));
    await defaults.ensureKnown(object(10));
    expect(reads).toEqual([]);
  });

  it("are one for all objects of a namespace that are not newer than the answer", async () => {
    revision = 100;
    for (const resourceVersion of [98, 99, 100]) await defaults.ensureKnown(object(resourceVersion));
    expect(reads).toHaveLength(1);
    await defaults.ensureKnown(object(101));
    await defaults.ensureKnown(object(50, {}, "team-b"));
    expect(reads.map(({ namespace }) => namespace)).toEqual(["team-a", "team-a", "team-b"]);
  });

  it("are two at the most for objects that ask together, and none is told what was read before it asked", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    beforeAnswer = () => promise;
    const first = defaults.ensureKnown(object(10));
    [existing, revision] = [[account("default", "11")], 12];
    const others = [11, 12, 12].map((resourceVersion) => defaults.ensureKnown(object(resourceVersion)));
    resolve();
    await Promise.all([first, ...others]);
    expect(known()).toBe(true);
    expect(reads).toHaveLength(2);
  });

  it("are sent again while the watch is broken, and after a minute", async () => {
    await defaults.ensureKnown(object(10));
    isConnected = false;
    await defaults.ensureKnown(object(10));
    expect(reads).toHaveLength(2);
    isConnected = true;
    await clock.advance(59_000);
    await defaults.ensureKnown(object(10));
    expect(reads).toHaveLength(2);
    await clock.advance(2_000);
    await defaults.ensureKnown(object(10));
    expect(reads).toHaveLength(3);
  });
});

import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { GatewayAccount } from "../../kinds/gateway-account.ts";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { type ManagedObject, typeOf } from "../../objects/object.ts";
import { Retry } from "../../objects/reconcile-error.ts";
import { Store } from "../../runtime/cache/store.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { KubeError, KubeUnreachable } from "../../runtime/connection/errors.ts";
import type { ObjectRef, ResourceType } from "../../runtime/object.ts";
import type { AccountObject } from "./account-objects.ts";
import { DefaultAccounts } from "./default-accounts.ts";

let clock: VirtualClock;
let store: Store<AccountObject>;
let isConnected: boolean;
/** What the API server has, whether a watch has told of it or not. */
let existing: AccountObject[];
/** The newest resourceVersion that a watch has told of. */
let seen: bigint;
let reads: ObjectRef[];
let failure: Error | undefined;
/** Awaited before the API server answers. */
let beforeAnswer: () => Promise<void> | void;
let defaults: DefaultAccounts;

beforeEach(() => {
  clock = new VirtualClock();
  store = new Store();
  [isConnected, existing, seen, reads, failure] = [true, [], 0n, [], undefined];
  beforeAnswer = () => {};
  const get = async (_: ResourceType, ref: ObjectRef) => {
    reads.push(ref);
    const answer = existing.find(
      ({ metadata: { namespace, name } }) => namespace === ref.namespace && name === ref.name,
    );
    await beforeAnswer();
    if (failure) throw failure;
    if (!answer) throw new KubeError({ status: 404, message: "not found" });
    return answer;
  };
  defaults = new DefaultAccounts({
    clock,
    store: () => store,
    isConnectedIn: () => isConnected,
    type: typeOf(GatewayAccount),
    seen: () => seen,
    client: { get } as unknown as KubeClient,
  });
});

const account = (name: string, resourceVersion: string): AccountObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: GatewayAccount.kind,
  metadata: { name, namespace: "team-a", uid: `uid-${name}`, generation: 1, resourceVersion },
  spec: { apiKeySecretRef: { name: "key", key: "key" } },
});

const object = (resourceVersion: number, spec: ManagedObject["spec"] = {}, namespace = "team-a"): ManagedObject => ({
  apiVersion: "tunnelgateway.dev/v1",
  kind: IPPolicy.kind,
  spec,
  metadata: { name: "office", namespace, uid: "o", generation: 1, resourceVersion: String(resourceVersion) },
});

const known = () => store.get("team-a/default") !== undefined;

describe("a GatewayAccount named default that no watch has delivered", () => {
  it("is found before an object that was created after it gets its remote", async () => {
    existing = [account("default", "9")];
    await defaults.ensureKnown(object(10));
    expect(known()).toBe(true);
    expect(reads).toEqual([{ namespace: "team-a", name: "default" }]);
  });

  it("is found although there was none when an older object asked", async () => {
    await defaults.ensureKnown(object(10));
    existing = [account("default", "11")];
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

  it("are one for all objects of a namespace that a watch had delivered before the GET", async () => {
    seen = 100n;
    for (const resourceVersion of [98, 99, 100]) await defaults.ensureKnown(object(resourceVersion));
    expect(reads).toHaveLength(1);
    await defaults.ensureKnown(object(101));
    await defaults.ensureKnown(object(50, {}, "team-b"));
    expect(reads.map(({ namespace }) => namespace)).toEqual(["team-a", "team-a", "team-b"]);
  });

  it("are at most two for objects that ask together, and no object gets an answer from before its question", async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    beforeAnswer = () => promise;
    const first = defaults.ensureKnown(object(10));
    existing = [account("default", "11")];
    const others = [11, 12, 12].map((resourceVersion) => defaults.ensureKnown(object(resourceVersion)));
    resolve();
    await Promise.all([first, ...others]);
    expect(known()).toBe(true);
    expect(reads).toHaveLength(2);
  });

  it("are repeated while the watch is broken, and after a minute", async () => {
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

import { expect, test } from "vitest";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { settle, VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { ClusterIdentity } from "./cluster-identity.ts";

const answer = async <T>(_: unknown, { name }: { name: string }) => ({ metadata: { uid: `uid-of-${name}` } }) as T;

const defaults = { clusterID: undefined, podNamespace: "own", watchNamespaces: [] };

function identify(get: typeof answer, config = {}) {
  const clock = new VirtualClock();
  const log = recordingLogger();
  return {
    clock,
    log,
    identity: new ClusterIdentity({ client: { get }, config: { ...defaults, ...config }, clock, log }),
  };
}

test.each([
  ["the configured id comes first", { clusterID: "mine" }, "mine"],
  ["else the uid of kube-system is the id", {}, "uid-of-kube-system"],
  ["with a list of namespaces, the uid of the own namespace is the id", { watchNamespaces: ["a"] }, "uid-of-own"],
  [
    "with a list of namespaces and no own namespace, the uid of kube-system is the id",
    { watchNamespaces: ["a"], podNamespace: undefined },
    "uid-of-kube-system",
  ],
])("%s", async (_, config, id) => {
  const { identity } = identify(answer, config);
  identity.start();
  await identity.synced;
  expect(identity.id).toBe(id);
  expect(identity.reason).toBeUndefined();
});

test("the namespace is read until the API server answers, and failures are logged", async () => {
  let away = true;
  const get: typeof answer = async (type, ref) => {
    if (away) throw new Error("connection refused");
    return answer(type, ref);
  };
  const { identity, clock, log } = identify(get);
  expect(identity.reason).toBe("namespace kube-system: not read yet");
  identity.start();
  await clock.advance(600_000);
  expect(identity.reason).toBe("namespace kube-system: connection refused");
  expect(() => identity.id).toThrow("not known");
  expect(log.lines.length).toBeGreaterThan(10);
  away = false;
  await clock.advance(30_000);
  expect(identity.id).toBe("uid-of-kube-system");
  expect(identity.reason).toBeUndefined();
  expect(clock.pending).toBe(0);
});

test("stopping ends the retries", async () => {
  const { identity, clock } = identify(() => Promise.reject(new Error("connection refused")));
  identity.start();
  await settle();
  await identity.stop();
  await expect(identity.synced).rejects.toThrow("stopped");
  expect(clock.pending).toBe(0);
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { apiServerForTest } from "../../../test/fakes/runtime/api-server-for-test.ts";
import type { FakeApiServer } from "../../../test/fakes/runtime/fake-api-server.ts";
import { recordingLogger } from "../../../test/fakes/runtime/logs.ts";
import { until } from "../../../test/fakes/runtime/until.ts";
import { systemClock } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { STATE_SECRET } from "../../schema/contract.ts";
import { StateKey } from "./state-key.ts";

const SECRETS = "v1/secrets";
const stored = `own/${STATE_SECRET}`;

let server: FakeApiServer;
let client: KubeClient;
let keys: StateKey[];
let log: ReturnType<typeof recordingLogger>;

beforeEach(async () => {
  ({ server, client } = await apiServerForTest());
  keys = [];
  log = recordingLogger();
});

afterEach(() => Promise.all(keys.map((key) => key.stop())));

function start(): StateKey {
  const key = new StateKey({ client, namespace: "own", clock: systemClock, log, random: () => 0 });
  keys.push(key);
  key.start();
  return key;
}

const secret = (more: Record<string, unknown>): KubeObject =>
  server.storage.create(SECRETS, {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { namespace: "own", name: STATE_SECRET },
    ...more,
  });

const writes = () => server.received.filter(({ method }) => method !== "GET");

async function exported(key: StateKey): Promise<string> {
  await key.synced;
  return key.value.export().toString("base64");
}

describe("the key for digests", () => {
  it("is made once, of 32 random bytes, in a Secret that nobody can change", async () => {
    const value = await exported(start());
    expect(Buffer.from(value, "base64")).toHaveLength(32);
    expect(server.storage.get(SECRETS, stored)).toMatchObject({ immutable: true, data: { key: value } });
    expect(await exported(start())).toBe(value);
    expect(writes()).toHaveLength(1);
  });

  it("is the same for all that start at once", async () => {
    const values = await Promise.all([start(), start(), start(), start()].map(exported));
    expect(new Set(values).size).toBe(1);
  });

  it("is that of another process that has stored it first", async () => {
    const theirs = Buffer.alloc(32, 7).toString("base64");
    let asked = 0;
    const get: KubeClient["get"] = async (type, ref, options) => {
      const answer = client.get<never>(type, ref, options);
      if (++asked === 1) {
        await answer.catch(() => {});
        secret({ data: { key: theirs } });
      }
      return answer;
    };
    const create: KubeClient["create"] = (type, object, options) => client.create(type, object, options);
    const key = new StateKey({ client: { get, create }, namespace: "own", clock: systemClock, log });
    keys.push(key);
    key.start();
    expect(await exported(key)).toBe(theirs);
  });

  it("appears in no log line", async () => {
    const value = await exported(start());
    expect(JSON.stringify(log.lines)).not.toContain(value);
    expect(JSON.stringify(log.lines)).toContain(STATE_SECRET);
  });
});

describe("a Secret without a complete key", () => {
  it.each([
    ["is empty", {}],
    ["has no key", { data: { other: "AAAA" } }],
    ["has an empty key", { data: { key: "" } }],
    ["has a key that was cut off", { data: { key: Buffer.alloc(31, 7).toString("base64") } }],
    ["has more than a key", { data: { key: Buffer.alloc(33, 7).toString("base64") } }],
  ])("is never replaced, and the step reports what to do, when it %s", async (_, content) => {
    secret(content);
    const key = start();
    await until(() => key.problem !== undefined);
    expect(key.reason).toBe(
      `Secret own/${STATE_SECRET}: restore it from a backup, or delete it so that a new key is made: its member "key" is not a key of 32 bytes`,
    );
    expect(writes()).toEqual([]);
    server.storage.delete(SECRETS, stored);
    await key.synced;
    expect(key.reason).toBeUndefined();
  });
});

it("names a missing right, and continues when it is granted", async () => {
  server.forbidden.add("own");
  const key = start();
  await until(() => key.problem !== undefined);
  expect(key.reason).toContain(
    `Secret own/${STATE_SECRET}: grant the operator's service account get and patch on this Secret, and create on Secrets in namespace own: it keeps there the key for digests of API keys`,
  );
  server.forbidden.delete("own");
  await key.synced;
});

it("reads again after a create whose answer was lost", async () => {
  server.faults.push(undefined, { reset: true });
  const key = start();
  await key.synced;
  expect(server.storage.get(SECRETS, stored)).toMatchObject({ data: { key: await exported(key) } });
});

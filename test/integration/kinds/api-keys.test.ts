import { describe, expect, test } from "vitest";
import { annotations, STATE_SECRET } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { FaultAction } from "../../../tools/simulator/control/faults.ts";
import { Canaries } from "../../support/canaries.ts";
import { secret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";

// an interrupted create is settled some 4 seconds after it was begun
const world = useWorld({ process: true, env: { REQUEST_TIMEOUT: "2s" } });

const control = () => world.simulator.control;

const key = (name: string, secretName = name) => manifest("APIKey", name, { tokenSecretName: secretName });

const keys = () => control().objects("api_keys");
const posts = () => control().count({ method: "POST", path: "/api_keys" });

const tokens = new Canaries();
const logs: string[] = [];

/** The token in a Secret. */
async function tokenIn(name: string): Promise<string | undefined> {
  const { data } = (await world.get("Secret", name)) ?? {};
  const token = data?.["token"] && Buffer.from(data["token"], "base64").toString();
  if (token) tokens.add(`${name} ${token.slice(0, 4)}`, token);
  return token;
}

const statusWith = async (token: string | undefined): Promise<number> => {
  const headers = { authorization: `Bearer ${token}`, "svc-version": "2" };
  return (await fetch(`${world.simulator.url}/api_keys`, { headers })).status;
};

describe("an API key", () => {
  let made: KubeJSON;
  let token: string | undefined;

  test("has its token in a Secret that it owns", async () => {
    await world.kube.apply(key("ci"));
    made = await world.ready("APIKey", "ci");
    token = await tokenIn("ci");
    expect(await statusWith(token)).toBe(200);
    const { metadata, data } = await world.get("Secret", "ci");
    expect(Object.keys(data)).toEqual(["token"]);
    expect(metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: "APIKey", name: "ci", uid: made.metadata.uid, controller: true }),
    ]);
  });

  test("is made anew when its Secret is lost, and the old one is deleted", async () => {
    const old = made.status.id;
    await world.kube.delete("Secret", "ci");
    await world.reconcileNow(key("ci"));
    made = await world.until("the old one is deleted", async () => {
      const object = await world.ready("APIKey", "ci");
      return object.status.id !== old && object.status.retiring === undefined && object;
    });
    expect(keys().map(({ id }) => id)).toEqual([made.status.id]);
    expect(await statusWith(token)).toBe(401);
    token = await tokenIn("ci");
    expect(await statusWith(token)).toBe(200);
    await world.until("an event", async () =>
      (await world.kube.list("Event")).some(({ note }) =>
        note.startsWith(`Created ${made.status.id} in place of ${old}`),
      ),
    );
  });

  test("is made anew when somebody takes the token out of the Secret", async () => {
    const old = made.status.id;
    await world.kube.patch("Secret", "ci", { data: { token: null } });
    await world.reconcileNow(key("ci"));
    await world.until("the old one is deleted", async () => keys().every(({ id }) => id !== old));
    expect(keys()).toHaveLength(1);
    token = await tokenIn("ci");
    expect(await statusWith(token)).toBe(200);
  });

  test("stays as long as nothing happens to its Secret", async () => {
    const before = posts();
    await world.kube.annotate("Secret", "ci", { "example.org/touched": "yes" });
    await world.reconcileNow(key("ci"));
    logs.push(...world.operator.lines);
    await world.restartOperator();
    await world.quiet();
    expect(posts()).toBe(before);
  });

  test("goes with its object", async () => {
    await world.kube.delete("APIKey", "ci");
    await world.gone("APIKey", "ci");
    expect(keys()).toEqual([]);
    expect(await statusWith(token)).toBe(401);
  });
});

describe("a Secret that is somebody else's", () => {
  test("is never overwritten, and no key is made for it", async () => {
    const before = posts();
    await world.kube.apply(secret("taken", { token: "mine" }));
    await world.kube.apply(key("refused", "taken"));
    const refused = await world.condition("APIKey", "refused", { type: "Stalled", reason: "SecretNotReady" });
    expect(conditionOf(refused, "Ready")?.message).toContain('Secret "taken"');
    await world.quiet();
    expect(posts()).toBe(before);
    expect(await tokenIn("taken")).toBe("mine");
  });

  test("stands in the way no longer than it is there", async () => {
    await world.kube.delete("Secret", "taken");
    await world.ready("APIKey", "refused");
    expect(await statusWith(await tokenIn("taken"))).toBe(200);
    await world.kube.delete("APIKey", "refused");
    await world.gone("APIKey", "refused");
  });

  test("is left alone when it takes the place of the key's own", async () => {
    await world.kube.apply(key("robbed"));
    const { status } = await world.ready("APIKey", "robbed");
    await tokenIn("robbed");
    const before = posts();
    await world.kube.delete("Secret", "robbed");
    await world.kube.create(secret("robbed", { token: "mine" }));
    await world.kube.annotate("APIKey", "robbed", { [annotations.reconcileRequestedAt]: "now" });
    await world.condition("APIKey", "robbed", { type: "Synced", status: "False", reason: "SecretNotReady" });
    expect(posts()).toBe(before);
    expect(keys().map(({ id }) => id)).toEqual([status.id]);
    expect(Buffer.from((await world.get("Secret", "robbed")).data.token, "base64").toString()).toBe("mine");
    await world.kube.delete("APIKey", "robbed");
    await world.gone("APIKey", "robbed");
    expect((await world.get("Secret", "robbed")).metadata.ownerReferences).toBeUndefined();
  });
});

describe("killed while a key is made", () => {
  const deaths: [string, FaultAction][] = [
    ["before the service has it", { hang: true }],
    ["before its token is in the Secret", { hang: "after" }],
  ];

  test.each(deaths)("%s: one key at the end, with its token in the Secret", async (how, action) => {
    const name = nameOf(how);
    control().fault({ method: "POST", path: "/api_keys", action });
    await world.kube.apply(key(name));
    await diesInTheRequest();
    await endsWithOneKey(name);
  });

  test.each(deaths)("in place of one whose Secret was lost, %s: likewise", async (how, action) => {
    const name = `again-${nameOf(how)}`;
    await world.kube.apply(key(name));
    await world.ready("APIKey", name);
    await tokenIn(name);
    control().fault({ method: "POST", path: "/api_keys", action });
    await world.kube.delete("Secret", name);
    await world.kube.annotate("APIKey", name, { [annotations.reconcileRequestedAt]: "now" });
    await diesInTheRequest();
    await endsWithOneKey(name);
  });

  const nameOf = (how: string): string => how.toLowerCase().replaceAll(" ", "-");

  async function diesInTheRequest(): Promise<void> {
    await world.until("the request is there", async () => control().requests().at(-1)?.fault !== undefined);
    await world.operator.stop("SIGKILL");
    logs.push(...world.operator.lines);
    control().clearFaults();
    await world.startOperator();
  }

  async function endsWithOneKey(name: string): Promise<void> {
    const [only] = await world.until("one key with its token", async () => {
      const usable = (await statusWith(await tokenIn(name))) === 200;
      // The key before is deleted after the token is in the Secret.
      const now = keys();
      return now.length === 1 && usable && now;
    });
    const { status } = await world.ready("APIKey", name);
    expect(status.id).toBe(only?.["id"]);
    await world.kube.delete("APIKey", name);
    await world.gone("APIKey", name);
    expect(keys()).toEqual([]);
  }
});

test("a Secret goes with its key, once the cluster collects what nobody owns", async () => {
  await world.until("no Secret is left but what is somebody else's", async () =>
    (await world.kube.list("Secret")).every(({ metadata }) => ["robbed", STATE_SECRET].includes(metadata.name)),
  );
});

test("no token is in a log, a status or an event", async () => {
  logs.push(...world.operator.lines);
  expect(tokens.size).toBeGreaterThan(8);
  expect(tokens.in(logs.join("\n"))).toEqual([]);
  expect(tokens.in(JSON.stringify([await world.kube.all(), await world.kube.list("Event")]))).toEqual([]);
});

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Account, openAccount } from "../../testing/account.ts";
import { monitoring } from "../../testing/samples.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const role = { role: { role_arn: "arn:role" } };
const creds = { creds: { cloud_access_key_id: "key-id", cloud_secret_access_key: "key-secret" } };
const rest = { delivery: null, stream: null, logs: null, monitoring: null };

describe("event destinations", () => {
  const create = (target: unknown, format: unknown = "json") =>
    account.send("POST", "/event_destinations", { format, target });

  it.each([
    ["delivery", { auth: role, delivery_stream_arn: "arn:1" }],
    ["stream", { auth: role, stream_arn: "arn:1" }],
    ["logs", { auth: role, log_group_arn: "arn:1" }],
  ])("send to %s, with null for the others", async (name, target) => {
    const { body } = await create({ [name]: target });
    expect(body.target).toEqual({ ...rest, [name]: { ...target, auth: { ...role, creds: null } } });
  });

  it("take null for what is not the target", async () => {
    const target = { ...rest, stream: { auth: { ...role, creds: null }, stream_arn: "arn:1" } };
    expect((await create(target)).status).toBe(201);
  });

  it("keep the cloud secret to themselves, and echo the monitoring key", async () => {
    const { body } = await create({ stream: { auth: creds, stream_arn: "arn:1" } });
    expect(body.target.stream.auth).toEqual({ role: null, creds: { cloud_access_key_id: "key-id" } });
    expect(JSON.stringify(account.control.get(body.id))).not.toContain("key-secret");
    expect((await create(monitoring.target)).body.target.monitoring.api_key).toBe("dd-key");
  });

  it("write their format small", async () => {
    expect((await create(monitoring.target, "JSON")).body.format).toBe("json");
    expect((await create(monitoring.target, "xml")).status).toBe(400);
  });

  it.each([
    [{}, "target"],
    [rest, "target"],
    [{ stream: { auth: role, stream_arn: "a" }, logs: { auth: role, log_group_arn: "a" } }, "target"],
    [{ stream: { stream_arn: "a" } }, "target.stream.auth"],
    [{ stream: { auth: {}, stream_arn: "a" } }, "target.stream.auth"],
    [{ stream: { auth: { ...role, ...creds }, stream_arn: "a" } }, "target.stream.auth"],
    [
      { stream: { auth: { creds: { cloud_access_key_id: "a" } }, stream_arn: "a" } },
      "target.stream.auth.creds.cloud_secret_access_key",
    ],
    [{ stream: { auth: role, delivery_stream_arn: "a" } }, "target.stream.delivery_stream_arn"],
    [{ monitoring: { service: "x" } }, "target.monitoring.api_key"],
    [{ s3: {} }, "target.s3"],
  ])("refuse the target %j", async (target, name) => {
    const { status, body } = await create(target);
    expect([status, body.msg.split(":")[0]]).toEqual([400, name]);
    expect(body.msg).not.toContain("key-secret");
  });

  it("replace their target by an update", async () => {
    const { body } = await create(monitoring.target);
    const target = { logs: { auth: role, log_group_arn: "arn:2" } };
    const patched = await account.send("PATCH", `/event_destinations/${body.id}`, { target });
    expect(patched.body.target).toMatchObject({ monitoring: null, logs: { log_group_arn: "arn:2" } });
  });

  it("cannot be deleted while a subscription sends to them", async () => {
    const { id } = (await create(monitoring.target)).body;
    const subscription = account.control.insert("event_subscriptions", { destination_ids: [id] });
    expect((await account.send("DELETE", `/event_destinations/${id}`)).status).toBe(400);
    await account.send("PATCH", `/event_subscriptions/${subscription.id}`, { destination_ids: [] });
    expect((await account.send("DELETE", `/event_destinations/${id}`)).status).toBe(204);
  });
});

describe("event subscriptions", () => {
  it("list their sources and destinations", async () => {
    const destination = account.control.insert("event_destinations", monitoring);
    const { body } = await account.send("POST", "/event_subscriptions", {
      sources: [{ type: "ip_policy_created.v0" }],
      destination_ids: [destination.id],
    });
    const uri = `${account.simulator.url}/event_subscriptions/${body.id}/sources/ip_policy_created.v0`;
    expect(body.sources).toEqual([{ type: "ip_policy_created.v0", uri }]);
    expect(body.destinations).toEqual([{ id: destination.id, uri: destination.uri }]);
    expect(body).not.toHaveProperty("destination_ids");
  });

  it.each([
    [{ sources: ["ip_policy_created.v0"] }, "sources[0]"],
    [{ sources: [{ type: "ip_policy_created" }] }, "sources[0].type"],
    [{ sources: [{ type: "a.v0", uri: "/x" }] }, "sources[0].uri"],
    [{ sources: [{ type: "a.v0" }, { type: "a.v0" }] }, "sources"],
    [{ destination_ids: ["ed_unknown"] }, "destination_ids[0]"],
    [{ description: "é".repeat(256) }, "description"],
    [{ metadata: "é".repeat(4097) }, "metadata"],
  ])("refuse %j", async (members, name) => {
    const { status, body } = await account.send("POST", "/event_subscriptions", members);
    expect([status, body.msg.split(":")[0]]).toEqual([400, name]);
  });
});

describe("event sources", () => {
  const start = () => {
    const sources = [{ type: "ip_policy_created.v0" }];
    return `/event_subscriptions/${account.control.insert("event_subscriptions", { sources }).id}/sources`;
  };

  it("are added to and removed from their subscription", async () => {
    const path = start();
    const added = await account.send("POST", path, { type: "ip_policy_updated.v0" });
    expect(added.body).toEqual({
      type: "ip_policy_updated.v0",
      uri: `${account.simulator.url}${path}/ip_policy_updated.v0`,
    });
    expect((await account.send("GET", added.body.uri)).body).toEqual(added.body);
    const types = async () => (await account.send("GET", path)).body.sources.map(({ type }: { type: string }) => type);
    expect(await types()).toEqual(["ip_policy_created.v0", "ip_policy_updated.v0"]);
    expect((await account.send("DELETE", `${path}/ip_policy_created.v0`)).status).toBe(204);
    expect(await types()).toEqual(["ip_policy_updated.v0"]);
  });

  it("are updated by an empty object", async () => {
    const path = `${start()}/ip_policy_created.v0`;
    expect((await account.send("PATCH", path, {})).status).toBe(200);
    expect((await account.send("PATCH", path, { type: "ip_policy_created.v0" })).status).toBe(200);
    expect((await account.send("PATCH", path, { type: "ip_policy_updated.v0" })).status).toBe(400);
  });

  it("exist once each", async () => {
    const path = start();
    expect((await account.send("POST", path, { type: "ip_policy_created.v0" })).status).toBe(409);
    expect((await account.send("POST", path, {})).status).toBe(400);
    expect((await account.send("GET", `${path}/ip_policy_updated.v0`)).status).toBe(404);
    expect((await account.send("DELETE", `${path}/ip_policy_updated.v0`)).status).toBe(404);
    expect((await account.send("GET", "/event_subscriptions/esb_unknown/sources")).status).toBe(404);
    expect((await account.send("GET", "/event_subscriptions/ed_1/sources")).status).toBe(400);
  });

  it("are replaced by the list of an update of the subscription", async () => {
    const path = start();
    const sources = [{ type: "a.v0" }];
    await account.send("PATCH", path.replace("/sources", ""), { sources });
    expect((await account.send("GET", path)).body.sources).toMatchObject(sources);
  });
});

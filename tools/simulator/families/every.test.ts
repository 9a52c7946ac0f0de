import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { collections } from "../collections.ts";
import type { Collection } from "../resource/collection.ts";
import type { Members } from "../shape/members.ts";
import { type Account, openAccount } from "../testing/account.ts";
import { sampleBodies } from "../testing/samples.ts";

const creatable = collections.filter((collection) => collection.verbs.create);
const updatable = creatable.filter((collection) => collection.verbs.update);
const named = (list: readonly Collection[]) => list.map((collection) => [collection.name, collection] as const);

let account: Account;
let bodies: Record<string, Members>;
let made = 0;

beforeAll(async () => {
  account = await openAccount();
  bodies = sampleBodies(account.control);
});
afterAll(() => account[Symbol.asyncDispose]());

const bodyOf = ({ name, unique }: Collection): Members => ({
  ...bodies[name],
  ...(unique && { [unique]: `host${++made}.example.org` }),
});

const how = (body: Members, name: string): string | undefined => {
  const forms = new Map<unknown, string>([
    [undefined, "missing"],
    [null, "null"],
    ["", "empty"],
  ]);
  return forms.get(body[name]);
};

const create = (collection: Collection, more: Members = {}) =>
  account.send("POST", `/${collection.name}`, { ...bodyOf(collection), ...more });

describe.each(named(creatable))("%s", (_, collection) => {
  const path = `/${collection.name}`;

  it("answers a GET and a list as it answered the create", async () => {
    const { status, body } = await create(collection, { description: "what for", metadata: "mine" });
    expect([status, body.description, body.metadata]).toEqual([201, "what for", "mine"]);
    const shown = { ...body, ...("token" in body && { token: null }) };
    expect((await account.send("GET", `${path}/${body.id}`)).body).toEqual(shown);
    const list = await account.send("GET", path);
    expect(list.body[collection.listKey][0]).toEqual(shown);
  });

  it("gives the id its prefix, and an address that leads back", async () => {
    const { body } = await create(collection);
    expect(body.id).toMatch(new RegExp(`^${collection.prefix}_[0-9A-Za-z]{27}$`));
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await account.send("GET", body.uri)).body.id).toBe(body.id);
  });

  it("shows unset texts in its own way, and members of the future", async () => {
    const { body } = await create(collection);
    expect([how(body, "description"), how(body, "metadata")]).toEqual(collection.unset);
    expect(body).toHaveProperty("x_future");
  });

  it("is gone after a DELETE", async () => {
    const { body } = await create(collection);
    expect(await account.send("DELETE", `${path}/${body.id}`)).toMatchObject({ status: 204, body: undefined });
    expect((await account.send("GET", `${path}/${body.id}`)).status).toBe(404);
    expect((await account.send("DELETE", `${path}/${body.id}`)).status).toBe(404);
  });

  it.each([
    ["an unknown member", { colour: "red" }, "colour"],
    ["a description that is not a string", { description: 1 }, "description"],
    ["a description that is null", { description: null }, "description"],
    ["metadata that is not a string", { metadata: {} }, "metadata"],
    ["a description that is too long", { description: "x".repeat(256) }, "description"],
    ["metadata that is too long", { metadata: "x".repeat(4097) }, "metadata"],
    ["a member that the service decides", { created_at: "2020-01-01T00:00:00Z" }, "created_at"],
    ["a member named like one of every object", { toString: "x" }, "toString"],
  ])("refuses %s", async (_what, more, name) => {
    const { status, body } = await create(collection, more);
    expect([status, body.status_code]).toEqual([400, 400]);
    expect(body.msg).toContain(name);
    expect(body).toMatchObject({
      error_code: expect.stringMatching(/^ERR_/),
      details: { operation_id: expect.stringMatching(/^op_/) },
    });
  });

  it("takes texts of the greatest length", async () => {
    const { status } = await create(collection, { description: "x".repeat(255), metadata: "x".repeat(4096) });
    expect(status).toBe(201);
  });

  it("counts as the page says", async () => {
    const { status } = await create(collection, { description: "é".repeat(255) });
    expect(status).toBe(collection.name === "event_subscriptions" ? 201 : 400);
  });

  it("demands what is required", async () => {
    const required = Object.keys(collection.fields).filter((name) => collection.fields[name]?.required);
    for (const name of required) {
      const { [name]: _left, ...rest } = bodyOf(collection);
      const { status, body } = await account.send("POST", path, rest);
      expect([status, body.msg]).toEqual([400, `${name}: is required`]);
    }
  });

  it("refuses a malformed id, and does not find an unknown one", async () => {
    expect((await account.send("GET", `${path}/nonsense`)).status).toBe(400);
    expect((await account.send("GET", `${path}/${collection.prefix}_a-b`)).status).toBe(400);
    expect((await account.send("GET", `${path}/${collection.prefix}_unknown`)).status).toBe(404);
  });
});

describe.each(named(updatable))("%s, updated", (_, collection) => {
  const path = `/${collection.name}`;

  it("answers the whole changed resource, and keeps the rest", async () => {
    const { body: before } = await create(collection, { metadata: "mine" });
    const { status, body } = await account.send("PATCH", `${path}/${before.id}`, { description: "new" });
    const { backends: _, token: __, ...kept } = before;
    expect(status).toBe(200);
    expect(body).toMatchObject({ ...kept, description: "new" });
  });

  it("clears a text that becomes empty", async () => {
    const { body: before } = await create(collection, { description: "old" });
    const { body } = await account.send("PATCH", `${path}/${before.id}`, { description: "" });
    expect(how(body, "description")).toBe(collection.unset?.[0]);
  });

  it("refuses an empty body and unknown members", async () => {
    const { body: before } = await create(collection);
    expect((await account.send("PATCH", `${path}/${before.id}`, {})).status).toBe(400);
    const { status, body } = await account.send("PATCH", `${path}/${before.id}`, { description: "x", colour: "red" });
    expect([status, body.msg]).toEqual([400, "colour: unknown member"]);
  });

  it("refuses what can only be given at creation", async () => {
    const { body: before } = await create(collection);
    for (const name of Object.keys(collection.fields).filter((field) => collection.fields[field]?.createOnly)) {
      const { status, body } = await account.send("PATCH", `${path}/${before.id}`, { [name]: before[name] ?? "x" });
      expect([status, body.msg]).toEqual([400, `${name}: unknown member`]);
    }
  });
});

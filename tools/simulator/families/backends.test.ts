import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Members } from "../shape/members.ts";
import { type Account, openAccount } from "../testing/account.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const create = (kind: string, body: Members = {}) => account.send("POST", `/backends/${kind}`, body);
const group = () => String(account.control.insert("backends/tunnel_group", {}).id);

describe("backends", () => {
  it("begin with no tunnels and no headers", async () => {
    expect((await create("tunnel_group")).body).toMatchObject({ labels: {}, tunnels: [] });
    expect((await create("http_response")).body).toMatchObject({ body: "", headers: null, status_code: 200 });
  });

  it("lower the case of header names", async () => {
    const { body } = await create("http_response", { headers: { "X-A": "V" } });
    expect(body.headers).toEqual({ "x-a": "V" });
  });

  it.each([
    ["tunnel_group", { labels: { a: 1 } }, "labels.a"],
    ["tunnel_group", { labels: [] }, "labels"],
    ["http_response", { status_code: "200" }, "status_code"],
    ["http_response", { status_code: 200.5 }, "status_code"],
    ["http_response", { headers: { a: null } }, "headers.a"],
    ["weighted", { backends: [] }, "backends"],
    ["weighted", { backends: { bkdtg_unknown: 1 } }, "backends.bkdtg_unknown"],
    ["weighted", { backends: { ipp_1: 1 } }, "backends.ipp_1"],
    ["failover", { backends: {} }, "backends"],
    ["failover", { backends: ["bkdtg_unknown"] }, "backends[0]"],
  ])("of kind %s refuse %j", async (kind, body, name) => {
    const answer = await create(kind, body);
    expect([answer.status, answer.body.msg.split(":")[0]]).toEqual([400, name]);
  });

  it.each([
    [0, 201],
    [10_000, 201],
    [-1, 400],
    [10_001, 400],
    [0.5, 400],
    ["1", 400],
  ])("take the weight %j: %i", async (weight, status) => {
    expect((await create("weighted", { backends: { [group()]: weight } })).status).toBe(status);
  });

  it.each(["tunnel_group", "http_response", "weighted", "failover"])("may have children of kind %s", async (kind) => {
    const { id } = (await create(kind)).body;
    expect((await create("weighted", { backends: { [id]: 1 } })).body.backends).toEqual({ [id]: 1 });
    expect((await create("failover", { backends: [id] })).body.backends).toEqual([id]);
  });

  it("lose their children by an update that leaves them out", async () => {
    const child = group();
    const weighted = (await create("weighted", { backends: { [child]: 1 } })).body;
    const failover = (await create("failover", { backends: [child] })).body;
    const patch = (path: string) => account.send("PATCH", path, { metadata: "x" });
    expect((await patch(`/backends/weighted/${weighted.id}`)).body.backends).toEqual({});
    expect((await patch(`/backends/failover/${failover.id}`)).body.backends).toEqual([]);
  });

  it("keep labels and headers that an update leaves out", async () => {
    const { body } = await create("tunnel_group", { labels: { a: "b" } });
    const after = await account.send("PATCH", `/backends/tunnel_group/${body.id}`, { metadata: "x" });
    expect(after.body.labels).toEqual({ a: "b" });
  });

  it("cannot contain themselves", async () => {
    const { id } = (await create("failover")).body;
    expect((await account.send("PATCH", `/backends/failover/${id}`, { backends: [id] })).status).toBe(400);
  });

  it.each([
    ["backends/weighted", (id: string) => ({ backends: { [id]: 1 } })],
    ["backends/failover", (id: string) => ({ backends: [id] })],
    ["edges/tcp", (id: string) => ({ backend: { backend_id: id } })],
    ["edges/tls", (id: string) => ({ backend: { backend_id: id } })],
  ])("cannot be deleted while %s refers to them", async (name, body) => {
    const id = group();
    const holder = account.control.insert(name, body(id));
    const refused = await account.send("DELETE", `/backends/tunnel_group/${id}`);
    expect(refused.status).toBe(400);
    expect(refused.body.msg).toContain(holder.id);
    account.control.remove(String(holder.id));
    expect((await account.send("DELETE", `/backends/tunnel_group/${id}`)).status).toBe(204);
  });

  it("are refused with 409 where the service does so", async () => {
    await using other = await openAccount({ inUseStatus: 409 });
    const { id } = other.control.insert("backends/tunnel_group", {});
    other.control.insert("backends/failover", { backends: [id] });
    expect((await other.send("DELETE", `/backends/tunnel_group/${id}`)).status).toBe(409);
  });
});

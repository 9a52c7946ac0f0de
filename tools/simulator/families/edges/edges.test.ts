import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Members } from "../../shape/members.ts";
import { type Account, openAccount } from "../../testing/account.ts";
import { sampleBodies, sampleModules } from "../../testing/samples.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const bodyOf = (name: string): Members => sampleBodies(account.control)[name] ?? {};
const create = async (kind: string, body: Members = bodyOf(`edges/${kind}`)) =>
  account.send("POST", `/edges/${kind}`, body);

describe("edges", () => {
  it("answer with references where ids were given", async () => {
    const { body } = await create("tls");
    const ref = { id: expect.any(String), uri: expect.stringMatching(/^http/) };
    expect(body).toMatchObject({
      hostports: ["www.example.org:443"],
      backend: { enabled: true, backend: ref },
      ip_restriction: { enabled: true, ip_policies: [ref] },
      mutual_tls: { enabled: true, certificate_authorities: [ref] },
      tls_termination: { enabled: true, terminate_at: "edge", min_version: "1.3" },
      policy: {
        enabled: true,
        inbound: [{ name: "", expressions: ["true"], actions: [{ type: "deny", config: null }] }],
      },
    });
  });

  it("have null for what is unset", async () => {
    const { body } = await create("tls", {});
    const unset = { hostports: null, backend: null, ip_restriction: null, policy: null };
    expect(body).toMatchObject({ ...unset, mutual_tls: null, tls_termination: null });
  });

  it("keep a module that an update leaves out or gives as null, and replace one that is given", async () => {
    const { body } = await create("tcp");
    const path = `/edges/tcp/${body.id}`;
    const patched = await account.send("PATCH", path, { backend: null, policy: { enabled: false } });
    expect(patched.body).toMatchObject({ backend: body.backend, ip_restriction: body.ip_restriction });
    expect(patched.body.policy).toEqual({ enabled: false, inbound: [], outbound: [] });
  });

  it.each([
    [{ hostports: "a.example.org:1" }, "hostports"],
    [{ hostports: ["a.example.org"] }, "hostports[0]"],
    [{ hostports: ["a.example.org:70000"] }, "hostports[0]"],
    [{ backend: {} }, "backend.backend_id"],
    [{ backend: { backend_id: "bkdtg_unknown" } }, "backend.backend_id"],
    [{ backend: { backend: { id: "bkdtg_1" } } }, "backend.backend"],
    [{ ip_restriction: { ip_policy_ids: ["ipp_unknown"] } }, "ip_restriction.ip_policy_ids[0]"],
    [{ ip_restriction: { enabled: "yes" } }, "ip_restriction.enabled"],
    [{ mutual_tls: { certificate_authority_ids: ["ca_unknown"] } }, "mutual_tls.certificate_authority_ids[0]"],
    [{ tls_termination: { terminate_at: "moon" } }, "tls_termination.terminate_at"],
    [{ tls_termination: { terminate_at: "upstream", min_version: "1.2" } }, "tls_termination.min_version"],
    [{ policy: { inbound: {} } }, "policy.inbound"],
    [{ policy: { inbound: [{ actions: [{}] }] } }, "policy.inbound[0].actions[0].type"],
    [{ policy: { inbound: [{ actions: [{ type: "x", config: [] }] }] } }, "policy.inbound[0].actions[0].config"],
    [{ policy: { inbound: [{ colour: 1 }] } }, "policy.inbound[0].colour"],
  ])("refuse %j", async (body, name) => {
    const answer = await create("tls", body);
    expect([answer.status, answer.body.msg.split(":")[0]]).toEqual([400, name]);
  });

  it("do not have TLS modules on TCP", async () => {
    expect((await create("tcp", { tls_termination: {} })).status).toBe(400);
  });

  it("choose a safe version, and none for upstream", async () => {
    const { body: edge } = await create("tls", { tls_termination: {} });
    expect(edge.tls_termination).toEqual({ enabled: true, terminate_at: "edge", min_version: "1.2" });
    const { body: upstream } = await create("tls", {
      tls_termination: { terminate_at: "upstream", min_version: null },
    });
    expect(upstream.tls_termination.min_version).toBeNull();
  });

  it("cannot ask clients for certificates when TLS ends upstream", async () => {
    const { mutual_tls } = bodyOf("edges/tls");
    const body = { mutual_tls, tls_termination: { terminate_at: "upstream" } };
    expect((await create("tls", body)).status).toBe(400);
    const { body: edge } = await create("tls", { mutual_tls });
    const patch = { tls_termination: { terminate_at: "upstream" } };
    expect((await account.send("PATCH", `/edges/tls/${edge.id}`, patch)).status).toBe(400);
  });

  it("forget an IP policy that is deleted, which is never refused", async () => {
    const { body } = await create("tcp");
    const [policy] = body.ip_restriction.ip_policies;
    expect((await account.send("DELETE", `/ip_policies/${policy.id}`)).status).toBe(204);
    const after = await account.send("GET", `/edges/tcp/${body.id}`);
    expect(after.body.ip_restriction).toEqual({ enabled: true, ip_policies: [] });
  });

  it("hold the authorities they ask for", async () => {
    const { body } = await create("tls");
    const [{ id }] = body.mutual_tls.certificate_authorities;
    const remove = () => account.send("DELETE", `/certificate_authorities/${id}`);
    expect((await remove()).status).toBe(400);
    expect((await account.send("DELETE", `/edges/tls/${body.id}/mutual_tls`)).status).toBe(204);
    expect((await remove()).status).toBe(204);
  });
});

describe("modules of an edge", () => {
  it.each([
    ["tcp", "policy"],
    ["tcp", "backend"],
    ["tls", "tls_termination"],
  ])("of %s: %s is put, read and deleted", async (kind, name) => {
    const { body: edge } = await create(kind, {});
    const path = `/edges/${kind}/${edge.id}/${name}`;
    expect((await account.send("GET", path)).status).toBe(404);
    const put = await account.send("PUT", path, sampleModules(account.control)[name]);
    expect([put.status, (await account.send("GET", path)).body]).toEqual([200, put.body]);
    expect((await account.send("GET", `/edges/${kind}/${edge.id}`)).body[name]).toEqual(put.body);
    expect((await account.send("DELETE", path)).status).toBe(204);
    expect((await account.send("GET", `/edges/${kind}/${edge.id}`)).body[name]).toBeNull();
    expect((await account.send("DELETE", path)).status).toBe(404);
  });

  it("are replaced whole by a PUT, which may be empty", async () => {
    const { body: edge } = await create("tcp");
    const { status, body } = await account.send("PUT", `/edges/tcp/${edge.id}/policy`, {});
    expect([status, body]).toEqual([200, { enabled: true, inbound: [], outbound: [] }]);
  });

  it("answer null when unset, where the service does so", async () => {
    await using other = await openAccount({ unsetModule: 200 });
    const { id } = other.control.insert("edges/tcp", {});
    expect(await other.send("GET", `/edges/tcp/${id}/policy`)).toMatchObject({ status: 200, body: null });
  });
});

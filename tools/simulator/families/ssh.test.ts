import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Members } from "../shape/members.ts";
import { type Account, openAccount } from "../testing/account.ts";
import { ed25519PublicKey } from "../testing/samples.ts";

const key = ed25519PublicKey();

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

describe("SSH credentials", () => {
  const create = (more: Members = {}) => account.send("POST", "/ssh_credentials", { public_key: key, ...more });

  it("restrict nothing unless they are told to", async () => {
    expect((await create()).body).toMatchObject({ acl: [], public_key: key, owner_id: expect.stringMatching(/^usr_/) });
    const { body } = await create({ acl: ["bind:*.example.org", "bind:*=web", "*"] });
    const cleared = await account.send("PATCH", `/ssh_credentials/${body.id}`, { acl: [] });
    expect(cleared.body.acl).toEqual([]);
  });

  it.each([
    [{ acl: ["allow:x"] }, "acl[0]"],
    [{ acl: ["bind:"] }, "acl[0]"],
    [{ acl: "*" }, "acl"],
    [{ owner_id: "ipp_1" }, "owner_id"],
    [{ owner_id: "usr_missing" }, "owner_id"],
    [{ public_key: "ssh-ed25519" }, "public_key"],
    [{ public_key: "ssh-ed25519 AAAA" }, "public_key"],
    [{ public_key: key.replace("ssh-ed25519", "ssh-rsa") }, "public_key"],
    [{ public_key: "-----BEGIN PUBLIC KEY-----" }, "public_key"],
  ])("refuse %j", async (more, name) => {
    const { status, body } = await create(more);
    expect([status, body.msg.split(":")[0]]).toEqual([400, name]);
  });
});

describe("SSH host certificates", () => {
  const create = (more: Members = {}) =>
    account.send("POST", "/ssh_host_certificates", {
      ssh_certificate_authority_id: "sshca_1",
      public_key: key,
      ...more,
    });

  it("are valid for a year, from now", async () => {
    expect((await create()).body).toMatchObject({
      valid_after: "2026-01-02T03:04:05Z",
      valid_until: "2027-01-02T03:04:05Z",
      principals: [],
      key_type: "ed25519",
      certificate: expect.stringMatching(/^ssh-ed25519-cert-v01@openssh\.com \S+$/),
    });
  });

  it("normalise times, and sign the same for the same", async () => {
    const times = { valid_after: "2026-01-02T05:00:00.5+02:00", valid_until: "2026-02-02T03:00:00Z" };
    const { body } = await create(times);
    expect([body.valid_after, body.valid_until]).toEqual(["2026-01-02T03:00:00Z", "2026-02-02T03:00:00Z"]);
    expect((await create(times)).body.certificate).toBe(body.certificate);
    expect((await create({ ...times, principals: ["a.example.org"] })).body.certificate).not.toBe(body.certificate);
  });

  it.each([
    [{ ssh_certificate_authority_id: "sshca_missing" }, "ssh_certificate_authority_id"],
    [{ ssh_certificate_authority_id: "ca_1" }, "ssh_certificate_authority_id"],
    [{ valid_after: "yesterday" }, "valid_after"],
    [{ valid_until: "2026-01-01" }, "valid_until"],
    [{ valid_until: "2025-01-01T00:00:00Z" }, "valid_until"],
    [{ principals: [""] }, "principals[0]"],
  ])("refuse %j", async (more, name) => {
    const { status, body } = await create(more);
    expect([status, body.msg.split(":")[0]]).toEqual([400, name]);
  });
});

describe("API keys", () => {
  it("tell their token once, and authenticate with it until they are deleted", async () => {
    const { body } = await account.send("POST", "/api_keys", { description: "ci" });
    const authorization = `Bearer ${body.token}`;
    const as = (method: string, path: string) => account.send(method, path, undefined, { authorization });
    expect((await as("GET", `/api_keys/${body.id}`)).body.token).toBeNull();
    expect((await as("GET", "/api_keys")).body.keys[0].token).toBeNull();
    const patched = await account.send("PATCH", `/api_keys/${body.id}`, { description: "other" });
    expect(patched.body.token).toBeNull();
    expect((await as("DELETE", `/api_keys/${body.id}`)).status).toBe(204);
    expect((await as("GET", "/api_keys")).status).toBe(401);
  });

  it("may be owned by a bot", async () => {
    expect((await account.send("POST", "/api_keys", { owner_id: "bot_1" })).body.owner_id).toBe("bot_1");
  });
});

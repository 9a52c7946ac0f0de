import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Members } from "../../shape/members.ts";
import { type Account, openAccount } from "../../testing/account.ts";
import type { AgentBehaviour } from "./agents.ts";

let account: Account;
beforeEach(async () => {
  account = await openAccount();
});
afterEach(() => account[Symbol.asyncDispose]());

const connect = (members?: Members, behaviour?: AgentBehaviour) =>
  String(account.control.addSession(members, behaviour).id);
const command = async (id: string, name: string, body: unknown = {}) =>
  (await account.send("POST", `/tunnel_sessions/${id}/${name}`, body)).status;
const online = async (): Promise<Members[]> => (await account.send("GET", "/tunnel_sessions")).body.tunnel_sessions;

describe("tunnel sessions", () => {
  it("are listed while they are online", async () => {
    const id = connect({ os: "darwin", region: "eu", metadata: "mine" });
    expect(await online()).toEqual([
      {
        id,
        uri: `${account.simulator.url}/tunnel_sessions/${id}`,
        agent_version: "3.1.0",
        credential: { id: "cr_simulator", uri: `${account.simulator.url}/credentials/cr_simulator` },
        ip: "203.0.113.7",
        metadata: "mine",
        os: "darwin",
        region: "eu",
        started_at: "2026-01-02T03:04:05Z",
        transport: "svc/v2",
        x_future: expect.any(String),
      },
    ]);
    account.control.removeSession(id);
    expect(await online()).toEqual([]);
    expect((await account.send("GET", `/tunnel_sessions/${id}`)).status).toBe(404);
  });

  it("do not make the account theirs", () => {
    connect();
    expect(account.control.accountIsEmpty()).toBe(true);
  });
});

describe("commands", () => {
  it.each(["restart", "stop", "update"])("%s takes an empty object", async (name) => {
    const id = connect();
    expect(await command(id, name, { force: true })).toBe(400);
    expect(await command("ts_unknown", name)).toBe(404);
    expect(await command(id, name)).toBe(204);
  });

  it("restart brings the agent back with a new id, after a while", async () => {
    const id = connect({ metadata: "mine" });
    await command(id, "restart");
    expect(await online()).toEqual([]);
    account.pass(300);
    const [session] = await online();
    expect(session).toMatchObject({ agent_version: "3.1.0", metadata: "mine" });
    expect(session?.id).not.toBe(id);
  });

  it("restart is refused on Windows, and may lose the agent", async () => {
    expect(await command(connect({ os: "windows" }), "restart")).toBe(400);
    const lost = connect({}, { lostOnRestart: true });
    expect(await command(lost, "restart")).toBe(204);
    account.pass(60_000);
    expect((await online()).map(({ os }) => os)).toEqual(["windows"]);
  });

  it("stop ends the session", async () => {
    await command(connect(), "stop");
    account.pass(60_000);
    expect(await online()).toEqual([]);
  });

  it("update takes effect by a restart once it is ready", async () => {
    const id = connect();
    expect(await command(id, "update")).toBe(204);
    account.pass(10_000);
    await command(id, "restart");
    account.pass(300);
    expect((await online()).map((session) => session.agent_version)).toEqual(["3.2.0"]);
  });

  it("update is lost by a restart that comes too early", async () => {
    const id = connect();
    await command(id, "update");
    account.pass(9_999);
    await command(id, "restart");
    account.pass(300);
    expect((await online()).map((session) => session.agent_version)).toEqual(["3.1.0"]);
  });

  it.each(["none_available", "disabled", "updating", "awaiting_restart"] as const)(
    "update fails: %s",
    async (reason) => {
      const id = connect();
      account.control.behave(id, { updateRefusal: reason });
      expect(await command(id, "update")).toBe(400);
    },
  );

  it("update fails while one is under way, waits for its restart, or is the latest", async () => {
    const id = connect({}, { latestVersion: "3.9.9", updateMs: 1000 });
    await command(id, "update");
    const again = () => account.send("POST", `/tunnel_sessions/${id}/update`, {});
    expect((await again()).body.msg).toContain("currently updating");
    account.pass(1000);
    expect((await again()).body.msg).toContain("has not restarted");
    await command(id, "restart");
    account.pass(300);
    const [session] = await online();
    expect(session?.agent_version).toBe("3.9.9");
    expect(await command(String(session?.id), "update")).toBe(400);
  });
});

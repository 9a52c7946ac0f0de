import { request } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Account, openAccount } from "../testing/account.ts";

let account: Account;
beforeAll(async () => {
  account = await openAccount({ apiKey: "ak-token" });
});
afterAll(() => account[Symbol.asyncDispose]());

describe("the credential", () => {
  it.each([
    ["none", undefined],
    ["another scheme", "Basic ak-token"],
    ["an unknown token", "Bearer other"],
    ["a bare token", "ak-token"],
    ["an empty token", "Bearer "],
  ])("answers 401 to %s", async (_, authorization) => {
    const { status, body } = await account.send("GET", "/ip_policies", undefined, { authorization });
    expect(status).toBe(401);
    expect(body).toMatchObject({ status_code: 401, error_code: "ERR_GATEWAY_206" });
  });

  it("comes before everything else", async () => {
    const wrong = { authorization: undefined, "svc-version": undefined };
    expect((await account.send("GET", "/nowhere", undefined, wrong)).status).toBe(401);
  });
});

describe("the version header", () => {
  it.each([[undefined], ["1"], ["3"], ["2.0"], [""]])("must not be %s", async (version) => {
    const { status, body } = await account.send("GET", "/ip_policies", undefined, { "svc-version": version });
    expect(status).toBe(400);
    expect(body.msg).toContain("Svc-Version");
  });
});

describe("addresses", () => {
  it.each([
    ["GET", "/nowhere", 404],
    ["GET", "/", 404],
    ["GET", "/edges", 404],
    ["GET", "/ip_policies/", 400],
    ["GET", "/ip_policies/ipp_1/rules", 404],
    ["PUT", "/ip_policies", 405],
    ["POST", "/ip_policies/ipp_1", 405],
    ["POST", "/tunnel_sessions", 405],
    ["DELETE", "/tunnel_sessions/ts_1", 405],
    ["GET", "/ip_policies/%E0%A4%A", 400],
  ])("%s %s answers %i", async (method, path, status) => {
    expect((await account.send(method, path, method.startsWith("P") ? {} : undefined)).status).toBe(status);
  });

  it.each([["/ip_policies?limit=10"], ["/ip_policies?page=2"], ["/ip_policies?before_id=ipp_1&limit=100"]])(
    "%s has query parameters that nobody gave out",
    async (path) => {
      const { status, body } = await account.send("GET", path);
      expect(status).toBe(400);
      expect(body.msg).toContain("query");
    },
  );

  it("take no query where there are no pages", async () => {
    const { id } = account.control.insert("ip_policies", {});
    expect((await account.send("GET", `/ip_policies/${id}?limit=1`)).status).toBe(400);
    expect((await account.send("POST", "/ip_policies?dry_run=true", {})).status).toBe(400);
  });
});

describe("bodies", () => {
  it.each([
    ["no JSON", "{", undefined],
    ["a list", "[]", undefined],
    ["null", "null", undefined],
    ["text", "{}", "text/plain"],
    ["a form", "{}", "application/x-www-form-urlencoded"],
    ["something like JSON", "{}", "application/jsonp"],
  ])("are refused when they are %s", async (_, body, type) => {
    const headers = type === undefined ? {} : { "content-type": type };
    expect((await account.send("POST", "/ip_policies", body, headers)).status).toBe(400);
  });

  it("are refused when they are missing", async () => {
    const { status } = await account.send("POST", "/ip_policies", undefined, { "content-type": "application/json" });
    expect(status).toBe(400);
  });

  it("may name their characters", async () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    expect((await account.send("POST", "/ip_policies", {}, headers)).status).toBe(201);
  });

  it.each(["GET", "DELETE"])("are refused on %s", async (method) => {
    const { id } = account.control.insert("ip_policies", {});
    const { url, apiKey } = account.simulator;
    const headers = { authorization: `Bearer ${apiKey}`, "svc-version": "2", "content-length": "2" };
    const status = await new Promise((resolve, reject) => {
      request(`${url}/ip_policies/${id}`, { method, headers }, (response) => resolve(response.resume().statusCode))
        .on("error", reject)
        .end("{}");
    });
    expect(status).toBe(400);
    expect(account.control.get(String(id))).not.toBeNull();
  });
});

describe("a service that repeats what it was sent", () => {
  it("quotes it in errors, also in those that a test plans", async () => {
    await using quoting = await openAccount({ quoteInErrors: (body) => body.toUpperCase() });
    const refused = () => quoting.send("POST", "/ip_policies", { metadata: 7 });
    expect((await refused()).body).toMatchObject({
      error_code: "ERR_GATEWAY_202",
      msg: expect.stringContaining('{"METADATA":7}'),
    });
    quoting.control.fault({ action: { status: 403 } });
    expect((await refused()).body.msg).toContain('{"METADATA":7}');
  });

  it("repeats it in answers", async () => {
    await using echoing = await openAccount({ echo: true });
    const { body } = await echoing.send("POST", "/ip_policies", { metadata: "a text" });
    expect(body.x_echo).toContain("a text");
    const { edgeId, routeId } = echoing.control.addRoute();
    const put = { provider: "p", secret: "hunter2" };
    const module = await echoing.send("PUT", `/edges/https/${edgeId}/routes/${routeId}/webhook_verification`, put);
    expect(module.body.x_echo).toContain("hunter2");
  });
});

describe("a service that takes and answers less", () => {
  it("leaves members out of its answers", async () => {
    await using silent = await openAccount({ unanswered: ["region"] });
    const { body } = await silent.send("POST", "/reserved_addrs", { region: "eu" });
    expect(body).not.toHaveProperty("region");
    expect(body).toHaveProperty("addr");
  });

  it("leaves members out of its lists, which a GET shows", async () => {
    await using brief = await openAccount({ unlisted: ["region"] });
    const { body } = await brief.send("POST", "/reserved_addrs", { region: "eu" });
    const list = await brief.send("GET", "/reserved_addrs");
    expect(list.body.reserved_addrs).toMatchObject([{ id: body.id, addr: body.addr }]);
    expect(list.body.reserved_addrs[0]).not.toHaveProperty("region");
    expect((await brief.send("GET", `/reserved_addrs/${body.id}`)).body.region).toBe("eu");
  });

  it("refuses members in updates, alone or together", async () => {
    await using strict = await openAccount({
      refusedOnUpdate: ["metadata"],
      refusedTogether: ["description", "domain"],
    });
    const { body } = await strict.send("POST", "/ip_policies", { metadata: "m" });
    const update = (given: object) => strict.send("PATCH", `/ip_policies/${body.id}`, given);
    expect((await update({ metadata: "n" })).status).toBe(400);
    expect((await update({ description: "d" })).status).toBe(200);
  });
});

describe("the rate limit", () => {
  it("answers 429 beyond so many requests in any minute, and says when to come back", async () => {
    await using limited = await openAccount({ rateLimitPerMinute: 3 });
    const get = () => limited.send("GET", "/ip_policies");
    expect((await get()).status).toBe(200);
    limited.pass(20_000);
    expect([(await get()).status, (await get()).status]).toEqual([200, 200]);
    const refused = await get();
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "40"]);
    limited.pass(40_000);
    expect([(await get()).status, (await get()).status]).toEqual([200, 429]);
  });

  it("does not count requests without a valid key", async () => {
    await using limited = await openAccount({ rateLimitPerMinute: 1 });
    await limited.send("GET", "/ip_policies", undefined, { authorization: "Bearer other" });
    expect((await limited.send("GET", "/ip_policies")).status).toBe(200);
  });
});

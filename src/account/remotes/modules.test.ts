import { beforeEach, describe, expect, it } from "vitest";
import { callsOptions } from "../../../test/fakes/account/calls.ts";
import { FakeGateway } from "../../../test/fakes/reconcile/fake-gateway.ts";
import { VirtualClock } from "../../../test/fakes/runtime/virtual-clock.ts";
import { routeSaml } from "../../gateway/resources/index.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { ListRoom } from "../requests/list-room.ts";
import { RequestBudget } from "../requests/request-budget.ts";
import { Turns } from "../requests/turns.ts";
import { Modules, type ModulesOptions } from "./modules.ts";
import { isCreatable, isUpdatable } from "./remotes.ts";

const { resource } = HTTPSEdgeRoute;
const request = { lane: "edit" as const, signal: new AbortController().signal };
/** In it, what one account has takes half. */
const ROOM = 16 * 1024 * 1024;
const webhook = { provider: "github", secret: "hush" };

let clock: VirtualClock;
let gateway: FakeGateway;
let modules: Modules;
let options: ModulesOptions;
let end: AbortController;
let route: string;
let id: string;

beforeEach(() => {
  clock = new VirtualClock();
  gateway = new FakeGateway(clock);
  end = new AbortController();
  options = {
    client: gateway.asClient(),
    clock,
    title: resource.title,
    modules: HTTPSEdgeRoute.modules,
    signal: end.signal,
    room: new ListRoom({ bytes: ROOM, way: "Do this" }),
    ...callsOptions(clock),
    maxAgeMs: 1000,
  };
  modules = new Modules(options);
  route = gateway.seed(resource, {}).id;
  id = `edghts_1/${route}`;
});

const reads = () => gateway.calls.splice(0).map(({ verb, resource }) => `${verb} ${resource}`);

describe("modules", () => {
  it("are read one by one, and only those that are asked for", async () => {
    expect(await modules.get(id, request)).toEqual({ id });
    expect(reads()).toEqual([]);
    expect(await modules.get(id, request, ["saml", "oidc"])).toEqual({ id, saml: null, oidc: null });
    expect(reads()).toEqual(["getModule route_saml", "getModule route_oidc"]);
  });

  it("prove the key when one is set, and with its first answer", async () => {
    const { keyProof } = callsOptions(clock, { recorded: () => new Map([[routeSaml, new Set([id])]]) });
    modules = new Modules({ ...options, keyProof });
    keyProof.use("new");
    await expect(modules.get(id, request, ["saml"])).rejects.toThrow("Check the API key");
    gateway.change(resource, route, { saml: {} });
    await modules.read(id, request, ["saml"]);
    expect(keyProof.isProved).toBe(false);
    gateway.change(resource, route, { saml: { enabled: false } });
    await modules.read(id, request, ["saml"]);
    expect(keyProof.isProved).toBe(true);
  });

  it("are cached for a time, each by itself", async () => {
    await modules.get(id, request, ["saml"]);
    await clock.advance(600);
    await modules.get(id, request, ["saml", "oidc"]);
    reads();
    await clock.advance(400);
    await modules.get(id, request, ["saml", "oidc"]);
    expect(reads()).toEqual(["getModule route_saml"]);
    await modules.read(id, request, ["oidc"]);
    expect(reads()).toEqual(["getModule route_oidc"]);
  });

  it("are read again when the cached answer is older than the given time", async () => {
    await clock.advance(10);
    await modules.get(id, request, ["saml"]);
    reads();
    await modules.getSince(id, 10, request, ["saml"]);
    expect(reads()).toEqual([]);
    await clock.advance(1);
    await modules.getSince(id, 11, request, ["saml"]);
    expect(reads()).toEqual(["getModule route_saml"]);
  });

  it("stay as set when an answer from before the update arrives later", async () => {
    let answer = (_: unknown) => {};
    const read = gateway.getModule;
    gateway.getModule = async (...args) => {
      const before = await read(...args).catch((error: unknown) => error);
      await new Promise((resolve) => {
        answer = resolve;
      });
      throw before;
    };
    const late = modules.read(id, request, ["webhook_verification"]);
    await clock.advance(1);
    await modules.update(id, { webhook_verification: webhook }, request);
    answer(undefined);
    expect(await late).toMatchObject({ webhook_verification: { provider: "github" } });
  });

  it("are forgotten when their remote was not read for long", async () => {
    await modules.get(id, request, ["saml"]);
    await clock.advance(3000);
    await modules.get("edghts_1/other", request, ["saml"]);
    expect(modules.allCached().map((row) => row.id)).toEqual([id, "edghts_1/other"]);
    await clock.advance(2000);
    await modules.get("edghts_1/third", request, ["saml"]);
    expect(modules.allCached().map((row) => row.id)).toEqual(["edghts_1/other", "edghts_1/third"]);
  });

  it("are kept together as long as one of them was read", async () => {
    await modules.get(id, request, ["saml"]);
    await clock.advance(3000);
    await modules.get(id, request, ["oidc"]);
    await clock.advance(3000);
    await modules.get("edghts_1/other", request, ["saml"]);
    expect(modules.cached(id)).toEqual({ id, saml: null, oidc: null });
  });

  it("date from the request, not from the wait for its turn", async () => {
    const budget = new RequestBudget({ perMinute: 0, clock });
    modules = new Modules({ ...options, turns: new Turns(budget, clock) });
    budget.pauseAfter429(10);
    const read = modules.get(id, request, ["saml"]);
    await clock.advance(10_000);
    await read;
    reads();
    await modules.getSince(id, 10_000, request, ["saml"]);
    expect(reads()).toEqual([]);
  });

  it("do not count as unset when the service fails", async () => {
    gateway.refuse("getModule", 500);
    await expect(modules.get(id, request, ["saml"])).rejects.toMatchObject({ status: 500 });
    expect(modules.cached(id)).toBeUndefined();
  });

  it("are known from answers to own requests, without secrets", async () => {
    const row = await modules.update(id, { webhook_verification: webhook, saml: { idp_metadata: "<x/>" } }, request);
    expect(row).toMatchObject({ id, webhook_verification: { provider: "github" }, saml: { idp_metadata: "<x/>" } });
    expect(JSON.stringify(row)).not.toContain("hush");
    expect(gateway.remote(resource, route)?.["webhook_verification"]).toMatchObject({ secret: "hush" });
    expect(modules.cached(id)).toEqual(row);
    expect(await modules.get(id, request, ["saml", "webhook_verification"])).toEqual(row);
    expect(reads()).toEqual(["putModule route_webhook_verification", "putModule route_saml"]);
    const read = await modules.read(id, request, ["webhook_verification"]);
    expect(JSON.stringify(read)).not.toContain("hush");
  });

  it("are set in order, until one is refused", async () => {
    gateway.refuse("putModule", 400);
    const bodies = { ip_restriction: { ip_policy_ids: [] }, webhook_verification: webhook };
    await expect(modules.update(id, bodies, request)).rejects.toMatchObject({ status: 400 });
    expect(reads()).toEqual(["putModule route_ip_restriction"]);
    expect(modules.cached(id)).toBeUndefined();
  });

  it("may be set later if their answer was lost, and not if they were refused", async () => {
    let unanswered = 0;
    const asked = { ...request, onUnanswered: () => void unanswered++ };
    gateway.refuse("putModule", 400);
    await expect(modules.update(id, { webhook_verification: webhook }, asked)).rejects.toMatchObject({ status: 400 });
    expect(unanswered).toBe(0);
    gateway.loseAnswer("putModule");
    await expect(modules.update(id, { webhook_verification: webhook }, asked)).rejects.toThrow();
    expect(unanswered).toBe(1);
  });

  it("cannot be set on a remote that does not exist", async () => {
    await expect(modules.update("edghts_1/none", { saml: {} }, request)).rejects.toMatchObject({ status: 404 });
  });

  it("count as unset after their removal, whether they were set or not", async () => {
    await modules.update(id, { webhook_verification: webhook }, request);
    const module = HTTPSEdgeRoute.modules["webhook_verification"] as never;
    expect(await modules.deleteModule(id, "webhook_verification", module, request)).toBe(true);
    expect(modules.cached(id)).toEqual({ id, webhook_verification: null });
    gateway.refuse("deleteModule", 404);
    expect(await modules.deleteModule(id, "webhook_verification", module, request)).toBe(false);
    expect(gateway.remote(resource, route)?.["webhook_verification"]).toBeNull();
  });

  it("are known only if an answer has shown them", async () => {
    await modules.listed();
    expect(modules.allCached()).toEqual([]);
    await modules.get(id, request, ["oidc"]);
    expect(modules.allCached()).toEqual([{ id, oidc: null }]);
    expect([modules.isMissing(), modules.markedFor()]).toEqual([false, []]);
  });

  describe("of many routes with large texts", () => {
    const large = { idp_metadata: "x".repeat(1_000_000) };
    const routes = () =>
      Array.from({ length: 1000 }, () => {
        const { id } = gateway.seed(resource, {});
        gateway.change(resource, id, { saml: large });
        return `edghts_1/${id}`;
      });
    const get = (id: string) => modules.get(id, request, ["saml"]);
    const keptBytes = () => JSON.stringify(modules.allCached()).length;

    it("are kept as far as there is room, and the others say why", async () => {
      const all = routes();
      const answers = await Promise.allSettled(all.map(get));
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
      expect(keptBytes()).toBeLessThan(ROOM / 2);
      await expect(get(all.at(-1) ?? "")).rejects.toMatchObject({
        reason: "UnexpectedResponse",
        message: "Do this: there is no room for the modules of each HTTPS edge route",
      });
    });

    it("are read again, and give room when they are short again, set, or not read for long", async () => {
      const [first = "", ...others] = routes();
      await Promise.allSettled([first, ...others].map(get));
      const after = others.at(-1) ?? "";
      await clock.advance(1000);
      expect(await get(first)).toMatchObject({ saml: large });
      await expect(get(after)).rejects.toThrow("there is no room");
      await modules.update(first, { saml: { idp_metadata: "<x/>" } }, request);
      expect(await get(after)).toMatchObject({ saml: large });
      await expect(get(others.at(-2) ?? "")).rejects.toThrow("there is no room");
      await clock.advance(5000);
      expect(await get(others.at(-2) ?? "")).toMatchObject({ saml: large });
      expect(modules.allCached()).toHaveLength(1);
    });

    it("take no room once the account is no longer used", async () => {
      await Promise.allSettled(routes().map(get));
      end.abort();
      modules = new Modules({ ...options, signal: new AbortController().signal });
      const [one = ""] = routes();
      expect(await get(one)).toMatchObject({ saml: large });
    });
  });

  it("can be updated, but not created", () => {
    expect([isCreatable(modules), isUpdatable(modules)]).toEqual([false, true]);
  });
});

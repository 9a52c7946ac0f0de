import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Route } from "./http/route.ts";
import { routes } from "./routes.ts";
import type { Members } from "./shape/members.ts";
import { type Account, openAccount } from "./testing/account.ts";
import { sampleBodies, sampleModules } from "./testing/samples.ts";

const page = readFileSync(new URL("../../docs/gateway-api.md", import.meta.url), "utf8");
const nameOf = ({ method, path }: Pick<Route, "method" | "path">) => `${method} ${path}`;
const documented = routes.filter((route) => !route.undocumented);

describe("the route table", () => {
  it("has each operation once", () => {
    expect(new Set(routes.map(nameOf)).size).toBe(routes.length);
  });

  it("documents exactly the operations of docs/gateway-api.md", () => {
    const rows = page.matchAll(/^\| (GET|POST|PUT|PATCH|DELETE) \| `([^`]+)` \|/gm);
    const shown = [...rows].map(([, method, path]) => `${method} ${path}`);
    expect(shown.length).toBeGreaterThan(100);
    expect(documented.map(nameOf).sort()).toEqual(shown.sort());
  });
});

const success: Record<Route["method"], number> = { POST: 201, GET: 200, PATCH: 200, PUT: 200, DELETE: 204 };
const moduleOf = ({ path }: Pick<Route, "path">): string | undefined => /\{id\}\/(\w+)$/.exec(path)?.[1];

describe("every route", () => {
  let account: Account;
  let bodies: Record<string, Members>;
  let modules: Record<string, Members>;

  beforeAll(async () => {
    account = await openAccount();
    bodies = sampleBodies(account.control);
    modules = sampleModules(account.control);
  });
  afterAll(() => account[Symbol.asyncDispose]());

  /** Creates what the route needs, and returns its path with the ids filled in. */
  function prepare(route: Route): string {
    const { path } = route;
    if (path.startsWith("/edges/https/")) return routePath(route);
    if (path.startsWith("/tunnel_sessions")) return path.replace("{id}", String(account.control.addSession().id));
    if (path.includes("{subscription_id}")) return sourcePath(path);
    return path.includes("{id}") ? objectPath(route) : path;
  }

  function routePath({ path, method }: Route): string {
    const { edgeId, routeId } = account.control.addRoute();
    const name = moduleOf({ path }) ?? "";
    if (method !== "PUT") account.control.patch(routeId, { [name]: modules[name] });
    return path.replace("{edge_id}", edgeId).replace("{id}", routeId);
  }

  function sourcePath(path: string): string {
    const type = "ip_policy_updated.v0";
    const { id } = account.control.insert("event_subscriptions", { sources: [{ type }] });
    return path.replace("{subscription_id}", String(id)).replace("{type}", type);
  }

  function objectPath({ path }: Route): string {
    const collection = path.slice(1, path.indexOf("/{id}"));
    const module = moduleOf({ path });
    const members = { ...bodies[collection], ...(module && { [module]: modules[module] }) };
    if ("domain" in members) members.domain = unique();
    return path.replace("{id}", String(account.control.insert(collection, members).id));
  }

  let made = 0;
  const unique = () => `host${++made}.example.org`;

  function bodyFor(route: Route): unknown {
    if (route.takes === "nothing") return undefined;
    if (route.path.startsWith("/tunnel_sessions")) return {};
    if (route.path.endsWith("/sources")) return { type: "ip_policy_created.v0" };
    if (route.path.endsWith("/sources/{type}")) return {};
    if (route.method === "PATCH") return { description: "changed" };
    return modules[moduleOf(route) ?? ""] ?? bodies[route.path.slice(1)];
  }

  it.each(routes.map((route) => [nameOf(route), route] as const))("%s succeeds", async (_, route) => {
    const { status, body } = await account.send(route.method, prepare(route), bodyFor(route));
    const isCommand = route.path.startsWith("/tunnel_sessions") && route.method === "POST";
    expect([status, body]).toEqual([
      isCommand ? 204 : success[route.method],
      status === 204 ? undefined : expect.anything(),
    ]);
  });
});

describe("without undocumented operations", () => {
  it("answers 405 to each of them, and serves the others", async () => {
    await using account = await openAccount({ undocumented: false });
    const ids = (path: string) => path.replace(/\{\w+\}/g, "x_1");
    for (const route of routes) {
      const { status } = await account.send(route.method, ids(route.path), route.takes === "nothing" ? undefined : {});
      expect([nameOf(route), status === 405]).toEqual([nameOf(route), route.undocumented === true]);
    }
  });

  it("hides what the page does not show", () => {
    const hidden = routes.filter((route) => route.undocumented).map(nameOf);
    expect(hidden).toEqual(
      expect.arrayContaining([
        "PATCH /reserved_domains/{id}",
        "PATCH /edges/tls/{id}",
        "DELETE /edges/tls/{id}",
        "PATCH /certificate_authorities/{id}",
        "PATCH /tls_certificates/{id}",
        "DELETE /edges/https/{edge_id}/routes/{id}/saml",
        "DELETE /edges/tls/{id}/policy",
        "DELETE /edges/tls/{id}/mutual_tls",
      ]),
    );
  });
});

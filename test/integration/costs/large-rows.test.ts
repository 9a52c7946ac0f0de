import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { tunnelSessions } from "../../../src/gateway/resources/index.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { conditionOf, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { json, type Seen, serve } from "../../support/gateway-service.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { useWorld } from "../../support/world.ts";

/** Together they do not fit into the heap below. */
const ROWS = 1000;
const PAGE = 100;
/** The heap that Node takes in a container with the memory limit of the chart. */
const HEAP_MIB = 256;

const world = useWorld({ startOperator: false });

const row = (index: number) => ({ id: `ipp_x${index}`, uri: `/ip_policies/ipp_x${index}`, metadata: "" });

/** An operator with the memory of the chart, for the service at this address. */
async function startedFor(url: string): Promise<OperatorProcess> {
  const operator = new OperatorProcess({
    kubeconfig: world.cluster.kubeconfig,
    gateway: { url, apiKey: "key" },
    namespaces: [world.namespace],
    env: { NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` },
  });
  onTestFinished(() => operator.stop("SIGKILL").then(() => undefined));
  await operator.started();
  return operator;
}

test("rows of 300 KB, most of it in members that the API page does not have, fit into the memory limit", async () => {
  const large = "x".repeat(300_000);
  const { url, seen } = await serve((response, { method, url: path, body }) => {
    if (method === "POST") return json(response, 201, { ...row(ROWS), ...JSON.parse(body) });
    const at = Number(new URL(path, "http://gateway").searchParams.get("at"));
    const next = at + PAGE < ROWS ? `/ip_policies?at=${at + PAGE}` : null;
    const rows = Array.from({ length: PAGE }, (_, index) => ({ ...row(at + index), new_member: large }));
    return json(response, 200, { ip_policies: rows, uri: "/ip_policies", next_page_uri: next });
  });
  // Otherwise the next operator would ask its service, which is another one, for the id in the status first.
  onTestFinished(async () => {
    await world.kube.patch("IPPolicy", "office", { metadata: { finalizers: null } });
    await world.kube.delete("IPPolicy", "office");
  });
  const operator = await startedFor(url);
  await world.kube.apply(manifest("IPPolicy", "office", {}));
  await world.until("the object is created", async () => {
    expect(operator.isRunning).toBe(true);
    return seen.some(({ method }) => method === "POST");
  });
});

test("what does not fit is told, and stops neither the process nor other kinds", async () => {
  const metadata = "x".repeat(1_000_000);
  const large: Readonly<Record<string, string>> = {
    "/ip_policies": "ip_policies",
    "/backends/tunnel_group": "backends",
    "/backends/http_response": "backends",
  };
  const { url, seen } = await serve((response, { method, url: path, body }) => {
    const { pathname, searchParams } = new URL(path, "http://gateway");
    if (method === "POST") return json(response, 201, { id: "ra_1", addr: "a:1", ...JSON.parse(body) });
    const key = large[pathname];
    if (!key) return json(response, 200, { reserved_addrs: [], tcp_edges: [], uri: pathname, next_page_uri: null });
    const at = Number(searchParams.get("at"));
    const rows = Array.from({ length: 20 }, (_, index) => ({ ...row(at + index), metadata }));
    const next = at + 20 < ROWS ? `${pathname}?at=${at + 20}` : null;
    return json(response, 200, { [key]: rows, uri: pathname, next_page_uri: next });
  });
  const operator = await startedFor(url);
  const labels = { app: "web" };
  await world.apply(
    manifest("IPPolicy", "large", {}),
    manifest("TunnelGroupBackend", "large", { labels }),
    manifest("HTTPResponseBackend", "large", {}),
    manifest("ReservedAddress", "small", {}),
  );
  await world.ready("ReservedAddress", "small");
  for (const kind of ["IPPolicy", "TunnelGroupBackend", "HTTPResponseBackend"]) {
    const object = await world.condition(kind, "large", { type: "Ready", reason: "UnexpectedResponse" });
    expect(conditionOf(object, "Ready")?.message).toMatch(
      /^Raise the memory limit of the operator, or shorten large texts/,
    );
  }
  expect(operator.isRunning).toBe(true);
  expect(seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});

describe("a command in an account with large texts", () => {
  const commands = [
    ["tree", "-A", "-o", "json"],
    ["users", "ipp_x1"],
    ["orphans", "--unmanaged", "--delete", "--yes"],
    ["import", "--all"],
  ];
  const empty = Object.fromEntries(
    [...kinds, { resource: tunnelSessions }].map(({ resource }) => [resource.listKey, []]),
  );
  const policy = (id: string) => ({ id, uri: `/ip_policies/${id}`, metadata: "x".repeat(10_000_000) });
  /** Only the IP policies have rows, of ten megabytes each, two to a page. */
  const accountOf = (rows: number) => {
    const ids = new Set(Array.from({ length: rows }, (_, index) => `ipp_x${index}`));
    const page = (after: string) => {
      const left = [...ids].filter((id) => after === "" || Number(id.slice(5)) > Number(after.slice(5)));
      const listed = left.slice(0, 2);
      const next = left.length > 2 ? `/ip_policies?after=${listed.at(-1)}` : null;
      return { ...empty, ip_policies: listed.map(policy), uri: "/ip_policies", next_page_uri: next };
    };
    return (response: ServerResponse, { method, url: path }: Seen) => {
      const { pathname, searchParams } = new URL(path, "http://gateway");
      const id = pathname.replace("/ip_policies/", "");
      if (method === "DELETE" && ids.delete(id)) return response.writeHead(204).end();
      if (ids.has(id)) return json(response, 200, policy(id));
      if (pathname === "/ip_policies") return json(response, 200, page(searchParams.get("after") ?? ""));
      return json(response, 200, { ...empty, uri: pathname, next_page_uri: null });
    };
  };
  const run = (url: string, args: readonly string[]) =>
    command(world, args, { GATEWAY_BASE_URL: url, NODE_OPTIONS: `--max-old-space-size=${HEAP_MIB}` });

  test.for(commands)("%s says in one line that they have no room", async (args) => {
    const { url, seen } = await serve(accountOf(100));
    const { code, stderr } = await run(url, args);
    expect({ code, signs: stderr.match(/heap|Error|\n {4}at /g) }).toEqual({ code: 1, signs: null });
    expect(stderr).toMatch(
      /Give the command more memory.*shorten large texts.*: there is no room for the list of each IP policy/,
    );
    expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  /** What each of the commands says, and how it ends. */
  const ends: Readonly<Record<string, { says: string; code: number }>> = {
    tree: { says: "ipp_x4", code: 0 },
    users: { says: "Nothing that is known uses IPPolicy ipp_x1", code: 0 },
    orphans: { says: "Deleted IPPolicy ipp_x4", code: 0 },
    // the texts are longer than a spec may have, and it says so
    import: { says: "ipp_x4", code: 1 },
  };

  test.for(commands)("%s goes on where they just fit", async ([name = "", ...args]) => {
    const { url, seen } = await serve(accountOf(5));
    const { code, stdout, stderr } = await run(url, [name, ...args]);
    expect(stderr).not.toMatch(/heap|no room/);
    expect(`${stdout}${stderr}`).toContain(ends[name]?.says);
    expect(code).toBe(ends[name]?.code);
    expect(seen.filter(({ method }) => method === "DELETE")).toHaveLength(name === "orphans" ? 5 : 0);
  });
});

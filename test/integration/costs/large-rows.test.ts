import { readFile } from "node:fs/promises";
import type { ServerResponse } from "node:http";
import { describe, expect, onTestFinished, test } from "vitest";
import { tunnelSessions } from "../../../src/gateway/resources/index.ts";
import { kinds } from "../../../src/kinds/index.ts";
import { OWNER_KEY } from "../../../src/schema/contract.ts";
import { heapLimit, imageEnvironment, imageFlags } from "../../../tools/bench/image.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { command } from "../../support/command.ts";
import { json, type Seen, serve } from "../../support/gateway-service.ts";
import { OperatorProcess } from "../../support/operator-process.ts";
import { useWorld } from "../../support/world.ts";

// An account of 3,000 rows, in the memory that the chart gives the operator. What fits and what does not depends on how
// many of the rows are large.

const ROWS = 3000;
const PAGE = 100;
const large = "x".repeat(300_000);

const world = useWorld({ startOperator: false });
/** How node is started in the container of the chart. */
const flags = [await heapLimit(), ...(await imageFlags())];
/** The memory limit of the chart: node takes half of it for its heap. */
const LIMIT_MIB = 2 * Number(flags[0]?.split("=")[1]);

const row = (index: number) => ({ id: `ipp_x${index}`, uri: `/ip_policies/ipp_x${index}`, metadata: "" });

/** The page of a list at `url`. `rowOf`: its rows, by their place in the list; undefined where one is gone. */
function pageOf(url: string, key: string, rowOf: (index: number) => object | undefined): object {
  const { pathname, searchParams } = new URL(url, "http://gateway");
  const at = Number(searchParams.get("at"));
  const rows = Array.from({ length: PAGE }, (_, index) => rowOf(at + index)).filter((one) => one !== undefined);
  return { [key]: rows, uri: pathname, next_page_uri: at + PAGE < ROWS ? `${pathname}?at=${at + PAGE}` : null };
}

/** An operator as the container of the chart runs it, for the service at this address. */
async function startedFor(url: string): Promise<OperatorProcess> {
  const operator = new OperatorProcess({
    kubeconfig: world.cluster.kubeconfig,
    gateway: { url, apiKey: "key" },
    namespaces: [world.namespace],
    nodeFlags: flags,
    env: await imageEnvironment(),
  });
  onTestFinished(() => operator.stop("SIGKILL").then(() => undefined));
  await operator.started();
  return operator;
}

/** Otherwise the next operator would ask its service, which is another one, for the ids in their statuses first. */
function forgetAtEnd(kind: string, ...names: string[]): void {
  onTestFinished(async () => {
    await Promise.all(names.map((name) => world.kube.patch(kind, name, { metadata: { finalizers: null } })));
    await Promise.all(names.map((name) => world.kube.delete(kind, name)));
  });
}

/** The most memory that a process has had. The container of the chart would be killed beyond its limit. */
async function peakMiB({ pid }: OperatorProcess): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
}

test("300 KB in each of many rows, most of it in members that the API page does not have, fit into the memory limit", async () => {
  const { url, seen } = await serve((response, { method, url: path, body }) => {
    if (method === "POST") return json(response, 201, { ...row(ROWS), ...JSON.parse(body) });
    // ten pages of 30 MB, and twenty small ones
    const rowOf = (index: number) => ({ ...row(index), new_member: index < 1000 ? large : "" });
    const page = pageOf(path, "ip_policies", rowOf);
    return json(response, 200, page);
  });
  forgetAtEnd("IPPolicy", "office");
  const operator = await startedFor(url);
  await world.kube.apply(manifest("IPPolicy", "office", {}));
  await world.until("the object is created", async () => {
    expect(operator.isRunning).toBe(true);
    return seen.some(({ method }) => method === "POST");
  });
  expect(await peakMiB(operator)).toBeLessThan(LIMIT_MIB);
});

test("what does not fit is told, and stops neither the process nor other kinds", async () => {
  const keys: Readonly<Record<string, string>> = {
    "/ip_policies": "ip_policies",
    "/backends/tunnel_group": "backends",
    "/backends/http_response": "backends",
  };
  const { url, seen } = await serve((response, { method, url: path, body }) => {
    const { pathname } = new URL(path, "http://gateway");
    if (method === "POST") return json(response, 201, { id: "ra_1", addr: "a:1", ...JSON.parse(body) });
    const key = keys[pathname];
    if (!key) return json(response, 200, { reserved_addrs: [], tcp_edges: [], uri: pathname, next_page_uri: null });
    return json(response, 200, pageOf(path, key, tenthIsLarge));
  });
  for (const kind of ["IPPolicy", "TunnelGroupBackend", "HTTPResponseBackend"]) forgetAtEnd(kind, "large");
  forgetAtEnd("ReservedAddress", "small");
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
  expect(await peakMiB(operator)).toBeLessThan(LIMIT_MIB);
  expect(seen.filter(({ method }) => method === "POST")).toHaveLength(1);
});

test("modules of 300 routes, of a megabyte each, do not end the process, and those that do not fit say so", async () => {
  const idpMetadata = "<EntityDescriptor/>";
  const saml = {
    enabled: true,
    idp_metadata: idpMetadata,
    options_passthrough: false,
    force_authn: false,
    allow_idp_initiated: false,
    nameid_format: "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
    // nobody can set it in a spec
    entity_id: "x".repeat(1_000_000),
  };
  const { url, seen } = await serve((response) => json(response, 200, saml));
  const names = Array.from({ length: 300 }, (_, index) => `r${index}`);
  forgetAtEnd("HTTPSEdgeRoute", ...names);
  const operator = await startedFor(url);
  const spec = (name: string) => ({ edgeId: "edghts_1", routeId: `edghtsrt_${name}`, saml: { idpMetadata } });
  await world.kube.apply(...names.map((name) => manifest("HTTPSEdgeRoute", name, spec(name))));
  const isRefused = (one: KubeJSON) =>
    conditionOf(one, "Ready")?.message.includes("there is no room for the modules of each HTTPS edge") === true;
  const isKept = (one: KubeJSON) => conditionOf(one, "Ready")?.status === "True";
  const kept = async () => (await world.kube.list("HTTPSEdgeRoute")).filter(isKept);
  // a request that takes too long on a busy machine is sent again: that is told meanwhile
  const others = async () => {
    expect(operator.isRunning).toBe(true);
    const all = await world.kube.list("HTTPSEdgeRoute");
    expect(all).toHaveLength(names.length);
    return all.filter((one) => !isKept(one) && !isRefused(one)).map((one) => conditionOf(one, "Ready")?.message);
  };
  await expect.poll(others, { interval: 1_000 }).toEqual([]);
  // half of a quarter of the heap
  expect((await kept()).length).toBeGreaterThan(20);
  expect((await kept()).length).toBeLessThan(40);
  expect(await peakMiB(operator)).toBeLessThan(LIMIT_MIB);
  expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
});

/** 300 rows of 300 KB. */
const tenthIsLarge = (index: number): object => ({ ...row(index), metadata: index % 10 === 0 ? large : "" });

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
  /** How many nobody manages. The others have the mark of another cluster. */
  const UNMANAGED = 2;
  /** Only the IP policies have rows. The first ones are large, `count` of them. */
  const accountWith = (count: number) => {
    const gone = new Set<string>();
    const policy = (index: number) => {
      const text = index < count ? large : "";
      const marked = JSON.stringify({ [OWNER_KEY]: `elsewhere/team/x${index}`, text });
      return { ...row(index), metadata: index < UNMANAGED ? text : marked };
    };
    const listed = (index: number) => (gone.has(row(index).id) ? undefined : policy(index));
    return (response: ServerResponse, { method, url: path }: Seen) => {
      const { pathname } = new URL(path, "http://gateway");
      const [, id] = /^\/ipp_x(\d+)$/.exec(pathname.replace("/ip_policies", "")) ?? [];
      if (method === "DELETE" && id && gone.add(row(Number(id)).id)) return response.writeHead(204).end();
      if (id && listed(Number(id))) return json(response, 200, policy(Number(id)));
      if (pathname === "/ip_policies") return json(response, 200, { ...empty, ...pageOf(path, "ip_policies", listed) });
      return json(response, 200, { ...empty, uri: pathname, next_page_uri: null });
    };
  };
  /** The flags of the image that NODE_OPTIONS may have. */
  const options = flags.filter((flag) => /-size=/.test(flag)).join(" ");
  const run = (url: string, args: readonly string[]) =>
    command(world, args, { GATEWAY_BASE_URL: url, NODE_OPTIONS: options });

  test.for(commands)("%s says in one line that they have no room", async (args) => {
    const { url, seen } = await serve(accountWith(300));
    const { code, stderr } = await run(url, args);
    expect({ code, signs: stderr.match(/heap|Error|\n {4}at /g) }).toEqual({ code: 1, signs: null });
    expect(stderr).toMatch(
      /Give the command more memory.*shorten large texts.*: there is no room for the list of each IP policy/,
    );
    expect(seen.filter(({ method }) => method !== "GET")).toEqual([]);
  });

  /** What each of the commands says, and how it ends. */
  const ends: Readonly<Record<string, { says: string; code: number }>> = {
    tree: { says: "ipp_x2999", code: 0 },
    users: { says: "Nothing that is known uses IPPolicy ipp_x1", code: 0 },
    orphans: { says: "Deleted IPPolicy ipp_x1", code: 0 },
    // the texts are longer than a spec may have, and it says so
    import: { says: "ipp_x1", code: 1 },
  };

  test.for(commands)("%s goes on where they just fit", async ([name = "", ...args]) => {
    const { url, seen } = await serve(accountWith(100));
    const { code, stdout, stderr } = await run(url, [name, ...args]);
    expect(stderr).not.toMatch(/heap|no room/);
    expect(`${stdout}${stderr}`).toContain(ends[name]?.says);
    expect(code).toBe(ends[name]?.code);
    expect(seen.filter(({ method }) => method === "DELETE")).toHaveLength(name === "orphans" ? UNMANAGED : 0);
  });
});

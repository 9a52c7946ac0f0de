import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { Fault } from "../../test/fakes/cli/fixed-services.ts";
import { useFixedServices } from "../../test/fakes/cli/run.ts";
import { type Lines, printed } from "./terminal/line.ts";

// What each command says where the cluster has no CRDs, where the user has no rights, and where the API key may not list
// one resource: a line for each, exit code 1, and what could be read is shown all the same.

const { run, failing, altering } = useFixedServices();

const refusal = { kind: "Status", status: "Failure", reason: "Forbidden", code: 403, message: "user is forbidden" };
const forbidden = { status: 403, body: refusal };

const GROUP = "/apis/tunnelgateway.dev/";

const withoutCRDs: Fault = ({ path }) =>
  path.startsWith(GROUP) || path.startsWith("/openapi/") ? { status: 404, body: "404 page not found" } : undefined;

const withoutRights: Fault = ({ path }) => {
  if (path.endsWith("selfsubjectaccessreviews")) return { status: 201, body: { status: { allowed: false } } };
  return path.startsWith(GROUP) ? forbidden : undefined;
};

/** Of one kind in all namespaces but the user's own. */
const withoutOtherNamespaces: Fault = ({ path }) => (path === `${GROUP}v1/ippolicies` ? forbidden : undefined);

const withoutOneKind: Fault = ({ path }) => (/\/ippolicies$/.test(path) ? forbidden : undefined);

const withoutOneList: Fault = ({ path }) =>
  path === "/ip_policies" ? { status: 403, body: { error_code: "ERR_9", status_code: 403, msg: "no" } } : undefined;

const PART = "This is only a part:";
const ALL_RIGHTS = "In namespace shop you need the right to list all resources of tunnelgateway.dev";

describe("a cluster without CRDs", () => {
  test.each([
    "plan",
    "plan -f edge.yaml",
    "diff tcpedge/db",
    "tree",
    "why tcpedge/db",
    "users ippolicy/office",
    "orphans",
    "status",
    "move ippolicy office headquarters",
  ])("%s says what to install", async (line) => {
    failing(withoutCRDs);
    const stderr = "Install the CRDs: the cluster has no tunnelgateway.dev/v1";
    expect(await run(line)).toEqual({ code: 1, stdout: "", stderr });
  });

  test("doctor reports what to install, and which checks pass", async () => {
    failing(withoutCRDs);
    const { code, stdout } = await run("doctor");
    expect(code).toBe(1);
    expect(stdout).toMatch(/^failed {2}definitions: .*CRDs/m);
    expect(stdout).toMatch(/^ok {6}Kubernetes API/m);
  });

  test.each(["import --all", "uninstall --policy retain"])("%s works without the CRDs", async (line) => {
    failing(withoutCRDs);
    // Of the account, one remote cannot be an object.
    expect(await run(line)).toMatchObject({
      code: line === "import --all" ? 1 : 0,
      stdout: expect.stringMatching(/./),
    });
  });
});

describe("an object that does not exist", () => {
  test.each([
    ["tree --kubeconfig /none/config", "There is no kubeconfig /none/config"],
    ["tree --context nope", 'The kubeconfig has nothing named "nope" among its contexts'],
    ["tree --api-key-file /none/key", /^Give another file with the API key: ENOENT: .*\/none\/key/],
    ["plan -f /none", "Give another -f: there is no file or folder /none"],
    ["import --terraform /none", "Give another --terraform: the file /none cannot be read"],
    ["import --all -o edge.yaml", /^Give another -o: EEXIST: /],
    ["users nothing", 'There is no object "nothing" in namespace shop, and no remote with this id'],
    [
      "why tcpedge",
      'There is no object "tcpedge" in namespace shop, and no remote with this id: tcpedge is a kind, so add a name',
    ],
    ["ui -n nowhere --port 0", "There is no namespace nowhere: name another one with -n, or see -A"],
    ["why tcpedge/nothing", 'There is no TCPEdge "nothing" in namespace shop'],
    ["plan -n nowhere", "There is no namespace nowhere: name another one with -n, or see -A"],
    ["tree -n nowhere", "There is no namespace nowhere: name another one with -n, or see -A"],
    ["status -n nowhere", "There is no namespace nowhere: name another one with -n, or see -A"],
    ["plan -n other", "There are no objects in namespace other: name another one with -n, or see -A"],
    ["move ippolicy nothing other", "There is no IPPolicy shop/nothing"],
  ])("%s reports it in one line", async (line, said) => {
    const { code, stdout, stderr } = await run(line);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.split("\n")[0]).toMatch(said);
    expect(stderr.split("\n")).toHaveLength(1);
  });
});

test.each(["plan", "tree", "status", "orphans", "why tcpedge/db", "import --all", "move ippolicy office headquarters"])(
  "%s reports in one line that the API server fails",
  async (line) => {
    failing(({ path }) => (path.startsWith("/apis/") ? { status: 503, body: "etcd is away" } : undefined));
    const { code, stderr } = await run(line);
    const failure = "The cluster answers with status 503: etcd is away";
    // It needs the cluster only to know which names are taken.
    if (line === "import --all") expect(stderr.split("\n")).toContainEqual(expect.stringContaining(`: ${failure}`));
    else expect(stderr).toBe(failure);
    expect(code).toBe(1);
  },
);

/** The service refuses the key. Notes the paths of further requests. */
function refusedKey(requests: string[]): Fault {
  return ({ path }) => {
    if (path.startsWith("/api")) return path === "/api_keys" ? { status: 401, body: {} } : undefined;
    if (path.startsWith("/openapi") || path === "/version") return undefined;
    requests.push(path);
    return { status: 401, body: {} };
  };
}

test.each(["plan", "plan -f edge.yaml", "orphans", "import --all"])(
  "%s reports once that the account cannot be reached, or refuses the key",
  async (line) => {
    const away = await run(`${line} --base-url http://127.0.0.1:1`);
    expect(away).toEqual({ code: 1, stdout: "", stderr: expect.stringMatching(/^The account cannot be reached: .*$/) });
    const requests: string[] = [];
    failing(refusedKey(requests));
    expect(await run(line)).toEqual({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(/^Replace the API key: .*$/),
    });
    expect(requests).toEqual([]);
  },
);

describe("what the cluster knows is shown", () => {
  test.each([
    ["tree", "warehouse-of-the-second-region"],
    ["users ippolicy/office", "TCPEdge/db"],
  ])("by %s, where the account cannot be reached, refuses the key, or has none", async (line, shown) => {
    const away = await run(`${line} --base-url http://127.0.0.1:1`);
    expect(away).toMatchObject({ code: 1, stdout: expect.stringContaining(shown) });
    expect(away.stderr).toContain(`${PART}\nThe account cannot be reached: `);
    const requests: string[] = [];
    failing(refusedKey(requests));
    const refused = await run(line);
    expect(refused).toMatchObject({ code: 1, stdout: expect.stringContaining(shown) });
    expect(refused.stderr).toContain(`${PART}\nReplace the API key: `);
    expect(requests).toEqual([]);
    vi.stubEnv("GATEWAY_API_KEY", undefined);
    const none = await run(line);
    expect(none).toMatchObject({ code: 1, stdout: expect.stringContaining(shown) });
    expect(none.stderr).toContain(`${PART}\nSay which account is meant: `);
  });

  test("by why and status, which need no account", async () => {
    vi.stubEnv("GATEWAY_API_KEY", undefined);
    expect(await run("why tcpedge/db")).toMatchObject({ code: 0, stderr: "" });
    expect(await run("status")).toMatchObject({ code: 0, stderr: "" });
  });
});

test.each([
  [404, 'namespaces "b" not found'],
  [409, "the object has been modified"],
  [422, 'metadata.name: Invalid value: "headquarters"'],
])("what the API server refuses with %i is one line", async (status, message) => {
  failing(({ method }) =>
    method === "POST" ? { status, body: { kind: "Status", code: status, message } } : undefined,
  );
  const stderr = `The cluster refuses this: ${message}`;
  expect(await run("move ippolicy office headquarters")).toEqual({ code: 1, stdout: "", stderr });
});

test.each([
  ["move ippolicy office BAD_NAME", "BAD_NAME"],
  ["move ippolicy Office headquarters", "Office"],
  ["move ippolicy office Team/office", "Team"],
])("%s says which name is none", async (line, name) => {
  const rule = "names have lower-case letters, digits, - and ., with a letter or digit at both ends";
  const { code, stdout, stderr } = await run(line);
  expect({ code, stdout, first: stderr.split("\n")[0] }).toEqual({
    code: 2,
    stdout: "",
    first: `Give another name than ${name}: ${rule} (kubectl tunnelgateway ${line})`,
  });
});

test("no progress is left behind a failure", async () => {
  const shown: string[] = [];
  const show = (text: string) => void shown.push(text);
  const terminal = { progress: show, warn: (lines: Lines) => show(printed(lines, false)) };
  await run("plan --base-url http://127.0.0.1:1", terminal);
  expect(shown.slice(-2)).toEqual([expect.stringMatching(/^The account cannot be reached/), ""]);
});

describe("two files with the same object", () => {
  test("are reported, also if only one of them names the namespace", async () => {
    const folder = await mkdtemp(join(tmpdir(), "twice-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const policy = (metadata: string) =>
      `apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\nmetadata: ${metadata}\nspec: {description: New}\n`;
    await writeFile(join(folder, "a.yaml"), policy("{name: new}"));
    await writeFile(join(folder, "b.yaml"), policy("{name: new, namespace: shop}"));
    const { code, stdout, stderr } = await run(`plan -f ${folder}`);
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: `6 other objects change or wait, whatever these manifests say: see --all\n${PART}\n${join(folder, "b.yaml")}:1: Remove one of two: ${join(folder, "a.yaml")}:1 has the same object`,
    });
    expect(stdout).toContain("IPPolicy shop/new");
  });
});

describe("manifests of a namespace that does not exist", () => {
  const policy = `apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\nmetadata: {name: new, namespace: nowhere}\nspec: {}\n`;
  const planned = async (text: string) => {
    const folder = await mkdtemp(join(tmpdir(), "nowhere-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    await writeFile(join(folder, "a.yaml"), text);
    return await run(`plan -f ${folder}`);
  };
  const note = "Create namespace nowhere first: there is none, and these manifests make none";

  test("say so below the plan", async () => {
    const { code, stdout, stderr } = await planned(policy);
    expect({ code, first: stderr.split("\n")[0] }).toEqual({ code: 1, first: note });
    expect(stdout).toContain("IPPolicy nowhere/new");
  });

  test("do not, where they make it, or where the user may not read it", async () => {
    const namespace = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: nowhere}\n";
    expect((await planned(policy + namespace)).stderr).not.toContain("Create");
    failing(({ path }) => (path === "/api/v1/namespaces/nowhere" ? forbidden : undefined));
    expect((await planned(policy)).stderr).not.toContain("Create");
  });

  test("are none, if they are of another API, and one of several is named", async () => {
    const other = policy.replace("tunnelgateway.dev", "tunnelgateway.io").replace("nowhere", "shop");
    const line =
      /a\.yaml:\d+: IPPolicy\/new is left out: it is of tunnelgateway\.io\/v1, not of tunnelgateway\.dev\/v1/;
    expect(await planned(other)).toMatchObject({ code: 1, stderr: expect.stringMatching(line) });
    const both = await planned(`${policy.replace("nowhere", "shop")}---\n${other}`);
    expect(both).toMatchObject({ code: 0, stderr: expect.stringMatching(line) });
  });

  test("are none, if they make the namespace alone", async () => {
    const { stderr } = await planned("apiVersion: v1\nkind: Namespace\nmetadata: {name: nowhere}\n");
    expect(stderr).toBe("Give other files: there are no manifests of tunnelgateway.dev/v1 in these");
  });
});

test("who may only read is told what the API server would refuse, with its rules across fields", async () => {
  const folder = await mkdtemp(join(tmpdir(), "reader-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const edge = (name: string, hostports: string) =>
    `apiVersion: tunnelgateway.dev/v1\nkind: TCPEdge\nmetadata: {name: ${name}}\nspec: {hostports: ${hostports}}\n`;
  const account =
    "apiVersion: tunnelgateway.dev/v1\nkind: GatewayAccount\nmetadata: {name: own}\n" +
    "spec: {apiKeySecretRef: {name: k, key: k}, baseURL: http://api.gateway.example}\n";
  const twice = edge("twice", "['a.example:1', 'A.example:1']");
  await writeFile(join(folder, "a.yaml"), [edge("good", "['a.example:2']"), twice, account].join("---\n"));
  failing(({ method, path }) => (method === "POST" && path.startsWith(GROUP) ? forbidden : undefined));
  const { code, stdout, stderr } = await run(`plan -f ${folder}`);
  expect(code).toBe(1);
  expect(stdout).toContain("TCPEdge shop/good");
  expect(stderr).toMatch(/a\.yaml:6: TCPEdge\/twice: spec\.hostports: /);
  expect(stderr).toMatch(/a\.yaml:11: GatewayAccount\/own: spec\.baseURL: must begin with https:\/\//);
});

describe("a namespace without rights", () => {
  test.each([
    ["plan", "Nothing to do"],
    ["plan -f edge.yaml", "TCPEdge shop/ssh"],
    ["tree -A", "IPPolicy Left behind"],
    ["status", "operator-0"],
    // Objects that cannot be read may still have these remotes.
    ["orphans", ""],
    ["orphans --unmanaged", "ipp_nobody"],
  ])("%s names the missing right in one line, and shows the rest", async (line, shown) => {
    failing(withoutRights);
    const { code, stdout, stderr } = await run(line);
    expect({ code, lines: stderr.split("\n").filter((one) => !one.includes("gatewayaccounts")) }).toEqual({
      code: 1,
      lines: [PART, ALL_RIGHTS],
    });
    expect(stdout).toContain(shown);
    expect(stdout).not.toContain("no object shop/");
  });

  test.each(["diff tcpedge/db", "why tcpedge/db", "users ippolicy/office"])(
    "%s does not report that there is no such object",
    async (line) => {
      failing(withoutRights);
      const { code, stderr } = await run(line);
      const name = line.split(" ")[1];
      expect({ code, lines: stderr.split("\n") }).toEqual({
        code: 1,
        lines: [`What could be read has no object and no remote called ${name}:`, ALL_RIGHTS],
      });
    },
  );

  test.each(["move ippolicy office headquarters", "uninstall --policy retain"])(
    "%s reports the refusal",
    async (line) => {
      failing(withoutRights);
      const stderr = "You need a right in the cluster: user is forbidden";
      expect(await run(line)).toEqual({ code: 1, stdout: "", stderr });
    },
  );

  test("doctor names the missing rights", async () => {
    failing(withoutRights);
    expect(await run("doctor")).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^failed {2}rights: (.*\n)+ +list ippolicies\.tunnelgateway\.dev/m),
    });
  });

  test.each(["plan", "tree", "why tcpedge/db", "users tcpedge/db", "orphans", "status"])(
    "%s names the one kind that may not be listed",
    async (line) => {
      failing(withoutOneKind);
      const { code, stdout, stderr } = await run(line);
      expect(code).toBe(1);
      expect(stderr).toContain(`${PART}\nIn namespace shop you need the right to list ippolicies.tunnelgateway.dev`);
      expect(stdout).not.toContain("no object shop/");
    },
  );

  test.each(["why tcpedge/db", "status", "diff tcpedge/db"])(
    "%s needs no other namespace than its own",
    async (line) => {
      failing(withoutOtherNamespaces);
      expect(await run(line)).toMatchObject({ code: 0 });
      expect((await run(`${line} -A`)).stderr).toContain("Only objects in namespace shop are known");
    },
  );

  test.each(["plan", "tree", "users ippolicy/office", "orphans"])(
    "%s reads the user's own namespace if no other may be read",
    async (line) => {
      failing(withoutOtherNamespaces);
      const { code, stdout, stderr } = await run(line);
      expect(code).toBe(1);
      const words = "Only objects in namespace shop are known: to see all, get the right to list";
      expect(stderr).toContain(`${PART}\n${words} ippolicies.tunnelgateway.dev`);
      expect(stdout).toMatch(/shop|TCPEdge\/db/);
    },
  );
});

describe("remotes, for orphans, when objects cannot be read", () => {
  test("are not reported as having no object", async () => {
    failing(withoutOneKind);
    expect((await run("orphans --unmanaged -o name")).stdout).not.toContain("ipp_left");
    expect((await run("orphans --unmanaged -o name")).stdout).toContain("ipp_nobody");
  });

  test("of a namespace that can be read are reported", async () => {
    failing(withoutOtherNamespaces);
    expect((await run("orphans -o name")).stdout).toContain("ipp_left");
  });

  test("are imported in part, with a message", async () => {
    failing(withoutOneKind);
    const { code, stdout, stderr } = await run("orphans --unmanaged --import");
    expect({ code, last: stderr.split("\n").slice(-2)[0] }).toEqual({ code: 1, last: PART });
    expect(stdout).toContain("ipp_nobody");
    expect(stdout).not.toContain("ipp_left");
  });
});

describe("an API key without the right to list one resource", () => {
  const right = "Use an API key with the right to list /ip_policies: ";

  test.each([
    ["plan", "shop/warehouse-of-the-second-region"],
    ["plan -f edge.yaml", "TCPEdge shop/ssh"],
    ["tree", "TCPEdge/db"],
    ["users ippolicy/office", "TCPEdge/db"],
    ["orphans --unmanaged", "agin_9"],
    ["import --all", "agin_9"],
  ])("%s names the missing right, and shows the rest", async (line, shown) => {
    failing(withoutOneList);
    const { code, stdout, stderr } = await run(line);
    expect(code).toBe(1);
    expect(stdout).toContain(shown);
    expect(stderr.split("\n").filter((one) => one.startsWith(right))).toHaveLength(1);
    expect(stderr).toMatch(/This is only a part:|this is not all:/);
  });

  test("doctor names the refused request", async () => {
    failing(({ path }) =>
      path.startsWith("/apis/") || path.startsWith("/api/") ? undefined : withoutOneList({ method: "GET", path }),
    );
    expect(await run("doctor")).toMatchObject({ code: 1, stdout: expect.stringMatching(/^failed {2}service: /m) });
  });

  test.each(["diff tcpedge/db", "status", "why tcpedge/db", "move ippolicy office headquarters --dry-run"])(
    "%s does not list it",
    async (line) => {
      failing(withoutOneList);
      expect(await run(line)).toMatchObject({ code: 0 });
    },
  );
});

test("a plan takes an annotation of kubectl that is no manifest for none", async () => {
  const folder = await mkdtemp(join(tmpdir(), "applied-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const policy =
    "apiVersion: tunnelgateway.dev/v1\nkind: IPPolicy\nmetadata: {name: office}\nspec: {description: New}\n";
  await writeFile(join(folder, "a.yaml"), policy);
  altering((body, { path }) => {
    const { items } = body as { items?: { metadata: object }[] };
    if (!path.endsWith("/ippolicies") || !items) return body;
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": "{" };
    return { ...body, items: items.map((one) => ({ ...one, metadata: { ...one.metadata, annotations } })) };
  });
  failing(({ method, path }) => (method === "PATCH" && path.startsWith(GROUP) ? forbidden : undefined));
  const { code, stdout } = await run(`plan -f ${folder}`);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("~   IPPolicy shop/office") });
});

import { expect, test, vi } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { json, serve } from "../../../test/support/gateway-service.ts";

const { run, failing, altering } = useFixedServices();

const account = {
  apiVersion: "tunnelgateway.dev/v1",
  kind: "GatewayAccount",
  metadata: { namespace: "shop", name: "default" },
  spec: { apiKeySecretRef: { name: "team", key: "key" } },
};

test.each([
  [403, /^You need the right to get the Secret "team" in namespace shop/],
  [404, /^Create Secret "team" in this namespace: .* \(GatewayAccount "default" in namespace shop\)$/],
  [503, /^The cluster answers with status 503/],
])(
  "a GatewayAccount whose Secret answers %i does not give way to the account of the environment",
  async (status, said) => {
    const answered: string[] = [];
    failing(({ path }) => {
      if (path.endsWith("/gatewayaccounts/default")) return { status: 200, body: account };
      if (path.endsWith("/secrets/team")) return { status, body: { kind: "Status", code: status, message: "no" } };
      answered.push(path);
      return undefined;
    });
    for (const line of ["import --all", "plan", "orphans --delete --yes"]) {
      const { code, stderr } = await run(line);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(said) });
    }
    expect(answered).toEqual([]);
  },
);

const commands = [
  ...["tree", "users ippolicy/office", "plan", "diff ippolicy/office", "import --all"],
  ...["orphans", "orphans --delete --yes", "orphans --unmanaged --delete --yes"],
];

/** A service of somebody who may write GatewayAccounts in one namespace, and wants the Secrets of it. */
async function stranger(status?: (url: string) => object) {
  const { url, seen } = await serve((response) => json(response, 200, {}));
  const reads: string[] = [];
  failing(({ path }) => {
    const named = { ...account, spec: { ...account.spec, baseURL: url }, ...(status && { status: status(url) }) };
    if (path.endsWith("/gatewayaccounts/default")) return { status: 200, body: named };
    if (!path.endsWith("/secrets/team")) return undefined;
    reads.push(path);
    return {
      status: 200,
      body: { kind: "Secret", metadata: {}, data: { key: Buffer.from("hunter2").toString("base64") } },
    };
  });
  return { url, seen, reads };
}

test.each(commands)("%s sends no key to a host that the operator has not allowed", async (line) => {
  for (const status of [undefined, () => ({ conditions: [] }), () => ({ baseURL: "https://api.example" })]) {
    const { seen, reads } = await stranger(status);
    const { code, stdout, stderr } = await run(line);
    expect(code).toBe(1);
    expect(stderr.split("\n").at(-1)).toBe(
      "Give --account default and a --base-url at fixed to have the API key sent there: " +
        'GatewayAccount "default" in namespace shop names this host, and the operator has not allowed it',
    );
    expect([seen, reads]).toEqual([[], []]);
    expect(stdout).not.toContain("hunter2");
  }
});

test.each([
  ["the operator has", (url: string) => ({ baseURL: url }), () => ""],
  ["a flag has", undefined, (url: string) => ` --account default --base-url ${url}`],
])("the key goes to a host that %s allowed", async (_, status, flags) => {
  const { url, seen } = await stranger(status);
  await run(`orphans${flags(url)}`);
  expect(seen[0]?.headers.authorization).toBe("Bearer hunter2");
});

test("the key goes to a host of ALLOWED_GATEWAY_HOSTS", async () => {
  const { url, seen } = await stranger();
  vi.stubEnv("ALLOWED_GATEWAY_HOSTS", new URL(url).host);
  await run("orphans");
  expect(seen[0]?.headers.authorization).toBe("Bearer hunter2");
});

test("a key that cannot be sent is told as such", async () => {
  vi.stubEnv("GATEWAY_API_KEY", "два\nслова");
  expect((await run("orphans")).stderr).toMatch(/^Give another API key: .* has characters that cannot be sent/);
});

/** The objects of the account name the GatewayAccount `second`, whose Secret has this key. */
function withSecond(key: string | undefined) {
  const second = { ...account, metadata: { namespace: "shop", name: "second" } };
  failing(({ path }) => {
    if (path.endsWith("/gatewayaccounts")) return { status: 200, body: { metadata: {}, items: [second] } };
    if (!path.endsWith("/secrets/team")) return undefined;
    if (key === undefined) return { status: 403, body: { kind: "Status", code: 403, message: "no" } };
    const data = { key: Buffer.from(key).toString("base64") };
    return { status: 200, body: { kind: "Secret", metadata: {}, data } };
  });
  altering((body) => {
    const { items } = body as { items?: { status?: object; kind?: string }[] };
    if (!items?.some(({ kind }) => kind === "IPPolicy")) return body;
    return { ...body, items: items.map((one) => ({ ...one, status: { ...one.status, account: "second" } })) };
  });
}

test.each([
  ["which is that of the account", "key"],
  ["which is another", "other"],
  ["which may not be read", undefined],
])("an object of a GatewayAccount with a key %s: diff and plan decide by it as the operator does", async (_, key) => {
  withSecond(key);
  const compared = await run("diff ippolicy/office");
  if (key === "key") expect(compared.stdout).toContain("IPPolicy shop/office");
  else expect(compared.stderr).toMatch(/is in another account: name it with --account/);
  const { stdout, stderr } = await run("plan");
  // where a key cannot be told, an id tells of which account an object is
  expect(stdout).toContain("IPPolicy shop/office");
  expect(stdout + stderr).not.toContain("IPPolicy/office is in another account");
});

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { isOurs } from "../../support/kube.ts";
import { authorityPem, secret, tlsSecret } from "../../support/samples.ts";
import { useWorld } from "../../support/world.ts";
import { Page } from "../support/page.ts";
import { pluginShell } from "../support/plugin-shell.ts";

/** Does what the pages for every day say, in one namespace: each in the state that the ones before have left. */
const world = useWorld({ process: true, env: { SESSION_SYNC_INTERVAL: "1s" } });

let shell: Awaited<ReturnType<typeof pluginShell>>;

const domain = "shop.example.com";
const documentsIn = (block: string): KubeJSON[] => parseAllDocuments(block).map((one) => one.toJS());

beforeAll(async () => {
  await world.kube.apply(
    tlsSecret("shop-tls", { commonName: domain, dnsNames: [domain] }),
    secret("clients-ca", { "tls.crt": authorityPem("clients of the shop") }),
    manifest("TCPEdge", "ssh", { description: "SSH" }),
    manifest("TunnelGroupBackend", "shop", { labels: { app: "shop" } }),
    manifest("ReservedDomain", "shop", { domain }),
  );
  const edge = await world.ready("TCPEdge", "ssh");
  const { status } = await world.ready("ReservedDomain", "shop");
  shell = await pluginShell(world, {
    env: { GATEWAY_BASE_URL: world.simulator.url, GATEWAY_API_KEY: world.simulator.apiKey },
    substitutions: new Map([
      ["edgtcp_ty9v8qQqC6n0f8nVhQthWfxrVVX", edge.status.id],
      ["2xk4.cname.gateway.example", status.cnameTarget],
    ]),
  });
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
});

/** Blocks of a page that nobody has run or applied. Texts that the operator writes are compared in test/docs.test.ts. */
const left = ({ unused }: Page): string[] => unused.filter((block) => !block.endsWith("(text)"));

test("troubleshooting", async () => {
  const page = await Page.read("docs/troubleshooting.md", shell);
  expect(await page.run("Troubleshooting")).toContain("Exists in the account as specified");
  const lookedAt = async () => (await world.get("TCPEdge", "ssh"))?.status.lastHandledReconcileAt;
  await page.run("Force a look now");
  await world.until("the operator has looked", async () => (await lookedAt()) !== undefined);
  await page.run("Pause");
  await world.ready("TCPEdge", "ssh");
  const { status } = await world.ready("TCPEdge", "ssh");
  expect(await page.run("See what the operator would own")).toContain(status.id);
  expect(await page.run("Find the object of a remote id")).toMatch(/ ssh /);
  await page.run("Stuck deletion");
  await world.delete("TCPEdge", "ssh");
  expect(world.simulator.control.get(status.id)).not.toBeNull();
  page.take("See each request to the service", "json");
  expect(left(page)).toEqual([]);
});

describe("with k9s", () => {
  /** As k9s puts values in the place of its variables, before it runs the command of a key. */
  const pressed = async (name: string, values: Record<string, string>): Promise<string> => {
    const { plugins } = parse(await readFile(join(import.meta.dirname, "../../../examples/k9s/plugins.yaml"), "utf8"));
    const [flag, script] = plugins[name].args as [string, string];
    expect([plugins[name].command, flag]).toEqual(["sh", "-c"]);
    return shell.run(script.replace(/\$([\w-]+)/g, (_, variable) => values[variable] ?? `no ${variable}`));
  };
  let values: Record<string, string>;

  beforeAll(async () => {
    const context = (await shell.run("kubectl config current-context")).trim();
    values = {
      RESOURCE_GROUP: "tunnelgateway.dev",
      RESOURCE_NAME: "reserveddomains",
      NAME: "shop",
      NAMESPACE: world.namespace,
      CONTEXT: context,
    };
  });

  test("Shift-R makes the operator look at the account", async () => {
    await pressed("tunnelgateway-reconcile", values);
    await world.until("the operator has looked", async () => {
      const { metadata, status } = await world.ready("ReservedDomain", "shop");
      const asked = metadata.annotations["tunnelgateway.dev/reconcile-requested-at"];
      return asked !== undefined && status.lastHandledReconcileAt === asked;
    });
  });

  test("Shift-W shows why an object is not Ready", async () => {
    expect(await pressed("tunnelgateway-why", values)).toContain("shop");
  });
});

describe("DNS records with external-dns", () => {
  test("what the service says about records is shown", async () => {
    await (await Page.read("docs/how-to/external-dns.md", shell)).run("DNS records with external-dns");
  });

  // the rest of the page needs a DNS server, and runs in test/integration/objects/dns.test.ts
  test("its manifests are accepted", async () => {
    const page = await Page.read("docs/how-to/external-dns.md", shell);
    for (const heading of ["Set it up", "See whether the records are there"])
      await world.cluster.kubectlRun(["apply", "--dry-run=server", "-n", world.namespace, "-f", "-"], {
        input: page.take(heading, "yaml"),
      });
    expect(page.unused.filter((block) => block.endsWith("(yaml)"))).toEqual([]);
  });
});

test("certificates with cert-manager: all that refers to its Secrets becomes Ready", async () => {
  const page = await Page.read("docs/how-to/cert-manager.md", shell);
  for (const heading of ["A domain with your own certificate", "Mutual TLS at a TLSEdge"]) {
    const documents = documentsIn(page.take(heading, "yaml"));
    const [certificate, ...ours] = documents;
    // cert-manager is not here: the Secret is made as it would make it
    expect(certificate).toMatchObject({ apiVersion: "cert-manager.io/v1", kind: "Certificate" });
    expect(await world.kube.get("Secret", certificate?.["spec"].secretName)).toBeDefined();
    expect(ours.filter((object) => !isOurs(object))).toEqual([]);
    await world.kube.apply(...ours);
    await world.allReady(ours);
  }
  expect(left(page)).toEqual([]);
});

test("tunnel sessions, and a command to their agents", async () => {
  const page = await Page.read("docs/sessions.md", shell);
  const { id } = world.simulator.control.addSession({ region: "eu" });
  await world.kube.apply(secret("gateway-account", { key: world.simulator.apiKey }));
  await world.apply(page.take("The mirror", "yaml"));
  const sessions = () => world.kube.list("TunnelSession");
  // that of the operator's own account, and that of the GatewayAccount
  await world.until("the session is shown twice", async () => (await sessions()).length === 2);
  await world.apply(page.take("Commands", "yaml"));
  const command = await world.condition("AgentCommand", "update-europe", { type: "Complete", status: "True" });
  expect(command.status.sessions).toMatchObject([{ id }]);
  const printed = await page.runUntil("Tunnel sessions and commands to agents", "update-europe");
  for (const { metadata } of await sessions()) expect(printed).toContain(metadata.name);
  expect(left(page)).toEqual([]);
  await world.delete("GatewayAccount", "default");
});

describe("disaster recovery", () => {
  let page: Page;
  beforeAll(async () => {
    page = await Page.read("docs/disaster-recovery.md", shell);
  });

  test("remotes that have no object any more are listed", async () => {
    await world.kube.apply(manifest("IPPolicy", "later", { deletionPolicy: "Retain" }));
    const { status } = await world.ready("IPPolicy", "later");
    await world.delete("IPPolicy", "later");
    expect(await page.run("A backup of the cluster was restored")).toContain(status.id);
  });

  test("objects of an account whose key is lost are let go of", async () => {
    const { apiKeys } = world.simulator.control;
    apiKeys.accept("of-staging");
    await world.kube.apply(
      secret("staging", { key: "of-staging" }),
      manifest("GatewayAccount", "staging", { apiKeySecretRef: { name: "staging", key: "key" } }),
      manifest("IPPolicy", "lost", { accountRef: { name: "staging" } }),
    );
    const { status } = await world.ready("IPPolicy", "lost");
    apiKeys.revoke("of-staging");
    await page.run("The account is closed, or its key is lost for good");
    await world.delete("IPPolicy", "lost", "--timeout=60s");
    expect(world.simulator.control.get(status.id)).not.toBeNull();
    await world.delete("GatewayAccount", "staging", "--timeout=60s");
  });

  test("objects are released, and nothing is sent to the service", async () => {
    const before = world.changesSent().length;
    await page.run("The account is closed, or its key is lost for good");
    const objects = (await world.kube.all()).filter(isOurs);
    expect(objects).toEqual([]);
    expect(world.changesSent()).toHaveLength(before);
    expect(world.simulator.control.accountIsEmpty()).toBe(false);
    expect(left(page)).toEqual([]);
  });
});

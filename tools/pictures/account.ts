import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import type { Cluster } from "../cluster/cluster.ts";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { Child } from "../shared/child.ts";
import { exampleRoutes, examples } from "../shared/examples.ts";
import { manifest } from "../shared/objects.ts";
import { OPERATOR, Operator } from "../shared/operator.ts";
import { type Simulator, startSimulator } from "../simulator/simulator.ts";
import type { Browser, Look } from "./browser.ts";
import { isOurs } from "./story.ts";

/** That of the demo, of which the pages tell. */
const NAMESPACE = "demo";
/** So that the plot of requests has something to show. */
const SHOWN_MS = 8_000;

const LOOK: Look = { width: 1280, height: 860, dark: false, scripts: true };
/** As wide as what has five columns. */
const WIDE: Look = { ...LOOK, width: 1480 };

type Picture = readonly [name: string, path: string, look: Look];

/** Pictures by the names of their files. While all is well: */
const wellLooks: readonly Picture[] = [
  ["ui-edge", `/topology?from=TLSEdge/${NAMESPACE}/shop`, { ...WIDE, height: 660 }],
];

/** With the troubles. */
const looks: readonly Picture[] = [
  ["ui-topology", "/topology", { ...WIDE, height: 1500 }],
  ["ui-overview", "/", LOOK],
  ["ui-overview-dark-phone", "/", { ...LOOK, width: 390, dark: true }],
  ["ui-object", `/node?key=IPPolicy/${NAMESPACE}/office`, LOOK],
  ["ui-drift", "/drift", { ...LOOK, height: 460 }],
];

/** What needs a person, what waits, what is paused, what has drifted. */
const troubles: readonly object[] = [
  manifest("ReservedAddress", "warehouse", { region: "eu" }),
  manifest("TCPEdge", "warehouse", {
    addressRefs: [{ name: "warehouse" }],
    backend: { backendRef: { kind: "TunnelGroupBackend", name: "warehouse" } },
  }),
  manifest("ReservedDomain", "taken", { domain: "shop.example.com" }),
  manifest("IPPolicy", "old-office", { description: "The old office", driftPolicy: "Report" }),
];

/** Draws the pages of the command `ui`, of the examples and of some trouble. */
export async function drawAccount(browser: Browser, fileOf: (name: string) => string, say: (line: string) => void) {
  await using started = new AsyncDisposableStack();
  const cluster = await startCluster({ onProgress: say });
  started.defer(() => cluster.stop());
  await installKinds(cluster);
  const kubectl = (args: string[], input?: string) =>
    cluster.kubectlRun([...args, "--namespace", NAMESPACE], input === undefined ? {} : { input });
  await cluster.kubectlRun(["create", "namespace", NAMESPACE]);
  const simulator = await startSimulator({ routes: await exampleRoutes() });
  started.defer(() => simulator.stop());
  const env = { REQUESTS_PER_MINUTE: "600", RESYNC_INTERVAL: "10s", LEADER_ELECTION: "true", POD_NAMESPACE: NAMESPACE };
  const operator = new Operator({ kubeconfig: cluster.kubeconfig, gateway: simulator, namespaces: [], env });
  started.defer(async () => void (await operator.stop("SIGKILL")));
  await operator.started();
  const draw = async (pictures: readonly Picture[]) => {
    const address = await startPage({ cluster, simulator }, started);
    await browser.load(address, LOOK);
    await sleep(SHOWN_MS);
    for (const [name, path, look] of pictures) {
      await browser.load(new URL(path, address).href, look);
      await writeFile(fileOf(name), await browser.picture());
      say(fileOf(name));
    }
  };
  const streamOf = (objects: readonly object[]) => objects.map((one) => stringify(one)).join("---\n");
  await kubectl(["apply", "-f", "-"], streamOf(await examples()));
  const ours = streamOf((await examples()).filter(isOurs));
  await kubectl(["wait", "--for=condition=Ready", "-f", "-", "--timeout=60s"], ours);
  await draw(wellLooks);

  await kubectl(["apply", "-f", "-"], streamOf(troubles));
  await kubectl(["delete", "ippolicy", "office", "--wait=false"]);
  await kubectl(["wait", "--for=condition=Ready", "reservedaddress/warehouse", "ippolicy/old-office", "--timeout=60s"]);
  const policies = simulator.control.objects("ip_policies");
  const drifted = policies.find((one) => one["description"] === "The old office");
  simulator.control.patch(String(drifted?.["id"]), { description: "Somebody's office" });
  await kubectl(["wait", "--for=condition=Drifted", "ippolicy", "old-office", "--timeout=60s"]);
  await draw(looks);
}

interface Seen {
  cluster: Cluster;
  simulator: Simulator;
}

/** Starts the command `ui`. Resolves with the address of its page. */
async function startPage({ cluster, simulator }: Seen, started: AsyncDisposableStack): Promise<string> {
  const { PATH, HOME } = process.env;
  const account = { GATEWAY_BASE_URL: simulator.url, GATEWAY_API_KEY: simulator.apiKey };
  const page = new Child(OPERATOR, {
    args: ["ui", "--port", "0"],
    env: { PATH, HOME, KUBECONFIG: cluster.kubeconfig, ...account },
  });
  started.defer(async () => void (await page.stop("SIGKILL")));
  return page.said("?token=");
}

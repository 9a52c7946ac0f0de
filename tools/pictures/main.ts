// Draws the dashboard of the chart, as a real Prometheus has seen a real operator, and the page of the account:
// npm run docs:pictures, or npm run docs:pictures -- ui for the page alone
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parse } from "yaml";
import { installKinds } from "../cluster/install-kinds.ts";
import { startCluster } from "../cluster/start.ts";
import { prometheusPrograms, withoutPrometheus } from "../prometheus/programs.ts";
import { Prometheus } from "../prometheus/prometheus.ts";
import { howToGet } from "../shared/debian.ts";
import { exampleRoutes } from "../shared/examples.ts";
import { Operator } from "../shared/operator.ts";
import { startSimulator } from "../simulator/simulator.ts";
import { drawAccount } from "./account.ts";
import { Browser, chromiumProgram } from "./browser.ts";
import { type Row, rowsOf, type Span } from "./dashboard.ts";
import { HEIGHT_OF_A_LINE, pageOf, WIDTH_OF_A_PAGE } from "./page.ts";
import { story } from "./story.ts";

const root = join(import.meta.dirname, "../..");
const files = join(root, "charts/tunnel-gateway-operator/files");
const pictures = join(root, "docs/pictures");

const NAMESPACE = "pictures";
/** A page that readers load with other pictures. */
const LARGEST_BYTES = 150_000;
/** Rates look back so far: the story takes minutes, not days. */
const RATE_WINDOW = "10s";
const LABELS = { namespace: NAMESPACE, container: "operator", pod: "tunnel-gateway-operator-0" };

const say = (line: string) => console.error(`pictures: ${line}`);

/** The alerts of the chart. They fire at once: what the pictures show lasts for a minute. */
async function rules(): Promise<object[]> {
  const text = await readFile(join(files, "alerts.yaml"), "utf8");
  const selector = `namespace="${NAMESPACE}",container="operator"`;
  const all = parse(text.replaceAll("$SELECTOR", selector)) as { for?: string }[];
  return all.map(({ for: _, ...rule }) => rule);
}

async function seen(): Promise<{ row: Row; picture: string }[]> {
  const programs = await prometheusPrograms();
  if (!programs) throw new Error(withoutPrometheus);
  await using started = new AsyncDisposableStack();
  const cluster = await startCluster({ onProgress: say });
  started.defer(() => cluster.stop());
  await installKinds(cluster);
  await cluster.kubectlRun(["create", "namespace", NAMESPACE]);
  const simulator = await startSimulator({ latencyMs: 60, routes: await exampleRoutes() });
  started.defer(() => simulator.stop());
  const prometheus = await Prometheus.start(programs, { groups: [{ name: "operator", rules: await rules() }] });
  started.defer(() => prometheus.stop());
  const operator = new Operator({
    kubeconfig: cluster.kubeconfig,
    gateway: simulator,
    namespaces: [NAMESPACE],
    env: {
      REQUESTS_PER_MINUTE: "600",
      RESYNC_INTERVAL: "10s",
      SESSION_SYNC_INTERVAL: "10s",
      ADOPTION_NAMESPACES: "*",
      LEADER_ELECTION: "true",
      POD_NAMESPACE: NAMESPACE,
    },
  });
  started.defer(async () => void (await operator.stop("SIGKILL")));
  await operator.started();
  await prometheus.scrape([{ url: await operator.url(), labels: LABELS }]);
  const from = Date.now() / 1000;
  await story({ kubectl: cluster.kubectlRun, control: simulator.control, namespace: NAMESPACE }, say);
  const span: Span = { from, to: Date.now() / 1000, stepSeconds: 1 };
  const dashboard = JSON.parse(await readFile(join(files, "dashboard.json"), "utf8"));
  const rows = await rowsOf(dashboard, prometheus, span, { namespace: NAMESPACE, rateWindow: RATE_WINDOW });
  return rows.map((row) => ({ row, picture: `${row.title.toLowerCase().replaceAll(" ", "-")}.png` }));
}

async function draw(browser: Browser, folder: string, row: Row, file: string): Promise<void> {
  const page = join(folder, "page.html");
  await writeFile(page, pageOf(row));
  const height = Math.ceil(row.charts.length / 3) * HEIGHT_OF_A_LINE + 50;
  await browser.load(pathToFileURL(page).href, { width: WIDTH_OF_A_PAGE, height, dark: false, scripts: false });
  await writeFile(file, await browser.picture());
  const bytes = (await stat(file)).size;
  say(`${file}: ${Math.round(bytes / 1000)} kB`);
  if (bytes > LARGEST_BYTES) throw new Error(`${file} has more than ${LARGEST_BYTES} bytes`);
}

const chromium = await chromiumProgram();
if (!chromium) throw new Error(`Chromium draws the pictures: ${howToGet("chromium")}`);
const folder = await mkdtemp(join(tmpdir(), "pictures-"));
try {
  await mkdir(pictures, { recursive: true });
  const rows = process.argv[2] === "ui" ? [] : await seen();
  await using browser = await Browser.start(chromium);
  await drawAccount(browser, (name) => join(pictures, `${name}.png`), say);
  for (const { row, picture } of rows) await draw(browser, folder, row, join(pictures, `dashboard-${picture}`));
} finally {
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}

/** Which test file belongs to which part of the suite. A file on a cluster that no list names is in the part `rest`. */

// these need a Kubernetes API server, which global-setup.ts starts once for all of them
export const clusterTests: readonly string[] = [
  "test/{integration,e2e,chaos}/**/*.test.ts",
  "tools/cluster/{cluster,lifecycle}.test.ts",
];

// these build the documentation site, which has packages of its own
export const siteTests: readonly string[] = ["test/site/**/*.test.ts"];

// these test the programs of other people more than this one, or take too long to build
export const nightlyTests: readonly string[] = ["test/nightly/**/*.test.ts"];

// these need a browser, and no cluster
export const looks: readonly string[] = ["test/nightly/site/**/*.test.ts"];

/**
 * What a person waits for, on a real API server: a file for each promise of docs/promises.md and of
 * docs/architecture/safety.md, kills in the middle of a create, an update and a deletion, a run of the chart, one of the
 * demo, and one of each command.
 */
export const quickTests: readonly string[] = [
  ...["kill-create", "kill-delete", "kill-update"].map((name) => `test/chaos/${name}.test.ts`),
  ...["chart", "demo", "namespaced", "wait"].map((name) => `test/e2e/${name}.test.ts`),
  ...["account-keys", "forged-intents", "identity", "key-at-start", "other-account", "shared-account", "tenancy"].map(
    (name) => `test/integration/accounts/${name}.test.ts`,
  ),
  ...[
    "diff",
    "graph",
    "import",
    "manifest-numbers",
    "manifest-text",
    "move",
    "orphans",
    "plan",
    "status",
    "ui",
    "uninstall",
  ].map((name) => `test/integration/commands/${name}.test.ts`),
  ...["brakes", "fair", "quiet"].map((name) => `test/integration/costs/${name}.test.ts`),
  ...["disaster", "npm-start", "rollback", "unread-namespace"].map(
    (name) => `test/integration/installations/${name}.test.ts`,
  ),
  ...["account-sessions", "certificates", "https-edge-routes", "kinds", "token-secrets"].map(
    (name) => `test/integration/kinds/${name}.test.ts`,
  ),
  ...["admission", "first", "lifecycle", "messages", "order", "secrets"].map(
    (name) => `test/integration/objects/${name}.test.ts`,
  ),
  ...[
    "answered-create",
    "interrupted-create",
    "refused-once",
    "service",
    "service-clock",
    "unlisted",
    "unshown-operations",
  ].map((name) => `test/integration/service/${name}.test.ts`),
];

/** The longest files on a cluster, longest first. They start first: one of them that came last would run alone. */
export const longest: readonly string[] = [
  ...["namespaced", "failing-route", "monitoring", "api-server", "demo", "sessions", "dns", "pages", "install"],
  ...["large-rows", "replicas", "bench", "connections", "two-installations", "upgrade", "answers", "clock"],
  ...["lifecycle", "admission", "kill-delete", "chart", "brakes", "kill-create", "kinds", "graph"],
  ...["unread-namespace", "take-over", "kill-replace", "kill-again"],
];

/** The files on a cluster that a run in this mode has. Without one of the two modes, it has all of them. */
export function clusterFiles(mode: string): { include: string[]; exclude: string[] } {
  if (mode === "quick") return { include: [...quickTests], exclude: [] };
  return { include: [...clusterTests], exclude: mode === "rest" ? [...quickTests] : [] };
}

export interface Part {
  readonly name: string;
  /** What vitest runs. */
  readonly project: string;
  readonly mode?: "quick" | "rest";
}

const quick: readonly Part[] = [
  { name: "unit", project: "unit" },
  { name: "site", project: "site" },
  { name: "quick", project: "cluster", mode: "quick" },
];
const rest: readonly Part[] = [{ name: "rest", project: "cluster", mode: "rest" }];

/** The parts of each command, in the order in which they run. */
export const runs: Readonly<Record<string, readonly Part[]>> = {
  test: quick,
  "test:rest": rest,
  "test:all": [...quick, ...rest],
};

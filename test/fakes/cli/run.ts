import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { stringify } from "yaml";
import { dispatch } from "../../../src/cli/dispatch.ts";
import { type Terminal, terminalOn } from "../../../src/cli/terminal/terminal.ts";
import { commit, version } from "../../../src/cli/version.ts";
import { type Alteration, type Fault, type FixedServices, startFixedServices, type Writes } from "./fixed-services.ts";

const now = "2026-01-10T12:00:00Z";

const edge = {
  apiVersion: "tunnelgateway.dev/v1",
  kind: "TCPEdge",
  metadata: { name: "ssh" },
  spec: { description: "SSH", ipRestriction: { enabled: true, ipPolicyRefs: [{ name: "office" }] } },
};

const kubeconfig = (server: string): string =>
  stringify({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "fixed",
    clusters: [{ name: "fixed", cluster: { server } }],
    users: [{ name: "fixed", user: { token: "token" } }],
    contexts: [{ name: "fixed", context: { cluster: "fixed", user: "fixed", namespace: "shop" } }],
  });

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

export interface FixedRun {
  /** Runs a command line against the fixed account, at a fixed time. `edge.yaml` stands for a file with an edge. */
  run: (line: string, terminal?: Partial<Terminal>) => Promise<Ended>;
  /** From now on, until the end of the test, requests are answered with this in place of the fixed account. */
  failing: (fault: Fault) => void;
  /** From now on, until the end of the test, the bodies of answers are changed. */
  altering: (alteration: Alteration) => void;
  /** What happens to writes until the end of the test. Default: they are refused. */
  writing: (how: Writes) => void;
}

/** Serves the fixed account and its cluster to the tests of a file. */
export function useFixedServices(): FixedRun {
  let services: FixedServices;
  let folder: string;

  beforeAll(async () => {
    services = await startFixedServices();
    folder = await mkdtemp(join(tmpdir(), "goldens-"));
    await writeFile(join(folder, "kubeconfig"), kubeconfig(services.url));
    await writeFile(join(folder, "edge.yaml"), stringify(edge));
  });
  afterAll(async () => {
    await services[Symbol.asyncDispose]();
    await rm(folder, { recursive: true });
  });

  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.parse(now) });
    vi.stubEnv("KUBECONFIG", join(folder, "kubeconfig"));
    vi.stubEnv("GATEWAY_BASE_URL", services.url);
    vi.stubEnv("GATEWAY_API_KEY", "key");
    vi.stubEnv("REQUESTS_PER_MINUTE", "0");
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllEnvs();
    services.fault = undefined;
    services.alteration = undefined;
    services.restore();
  });

  async function run(line: string, terminal: Partial<Terminal> = {}): Promise<Ended> {
    const out: string[] = [];
    const err: string[] = [];
    const streams = {
      out: (text: string) => out.push(text),
      err: (text: string) => err.push(text),
      errColumns: terminal.columns,
    };
    const args = line.split(" ").map((word) => (word === "edge.yaml" ? join(folder, word) : word));
    const code = await dispatch(
      args,
      {
        ...terminalOn(streams, terminal.hasColours),
        ...terminal,
      },
      async () => 0,
      "kubectl tunnelgateway",
    );
    const [ours, from] = [await version(), await commit()];
    // Leaves out text that each release or each new right changes.
    const fixed = (texts: string[]) =>
      texts
        .join("")
        .replace(/\n$/, "")
        .replaceAll(services.url, "http://fixed")
        .replaceAll(/127\.0\.0\.1:\d+/g, "fixed")
        .replaceAll(/all \d+ are granted/g, "all are granted")
        .replaceAll(ours, "VERSION")
        .replaceAll(from ?? "COMMIT", "COMMIT");
    return { code, stdout: fixed(out), stderr: fixed(err) };
  }

  const failing = (fault: Fault): void => {
    services.fault = fault;
  };
  const writing = (how: Writes): void => {
    services.writes = how;
  };
  const altering = (alteration: Alteration): void => {
    services.alteration = alteration;
  };
  return { run, failing, altering, writing };
}

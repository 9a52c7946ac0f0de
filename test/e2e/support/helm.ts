import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll } from "vitest";
import { parseDocument } from "yaml";
import { helmBinary } from "../../../tools/cluster/build/build.ts";
import type { KubeJSON } from "../../../tools/shared/objects.ts";
import { type Ended, run } from "../../../tools/shared/run.ts";

export const chart = join(import.meta.dirname, "../../../charts/tunnel-gateway-operator");

export type Helm = (...args: string[]) => Promise<Ended>;

/** A real Helm, untouched by the user's own settings. Failures are answers; see `succeeded`. */
export async function helmFor({
  home,
  kubeconfig = "/dev/null",
}: {
  home: string;
  kubeconfig?: string;
}): Promise<Helm> {
  const binary = await helmBinary();
  const env = {
    PATH: process.env["PATH"] ?? "",
    KUBECONFIG: kubeconfig,
    HOME: home,
    HELM_CACHE_HOME: home,
    HELM_CONFIG_HOME: home,
    HELM_DATA_HOME: home,
  };
  return (...args) => run(binary, args, { env });
}

/** For the top of a test file: a Helm with a home of its own, which is removed after the tests. Reaches no cluster. */
export function useHelm(): Helm {
  let home: string;
  let helm: Helm;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), "helm-"));
    helm = await helmFor({ home });
  });
  afterAll(() => rm(home, { recursive: true }));
  return (...args) => helm(...args);
}

/** What it printed; throws with what it complained of. */
export async function succeeded(answer: Promise<Ended>): Promise<string> {
  const { code, stdout, stderr } = await answer;
  if (code !== 0) throw new Error(`helm failed (exit ${code}): ${stderr.trim()}`);
  return stdout;
}

/** The objects by their texts. The definitions are most of what a chart renders, and nearly always the same. */
const parsed = new Map<string, KubeJSON>();

export const objectsIn = (manifests: string): KubeJSON[] =>
  manifests
    .split(/^---$/m)
    .map((text) => {
      if (!parsed.has(text)) parsed.set(text, parseOne(text));
      return structuredClone(parsed.get(text));
    })
    .filter(Boolean);

function parseOne(text: string): KubeJSON {
  const document = parseDocument(text);
  const [error] = document.errors;
  if (error) throw error;
  return document.toJS();
}

/** Values as flags, as a user would write them. */
export const set = (values: Readonly<Record<string, string | number | boolean>>): string[] =>
  Object.entries(values).flatMap(([name, value]) => ["--set", `${name}=${value}`]);

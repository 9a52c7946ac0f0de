import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { text } from "node:stream/consumers";

export interface KubectlOptions {
  /** The standard input of kubectl. */
  readonly input?: string;
  /** Resolve even if the exit code is not 0, instead of throwing. */
  readonly allowFailure?: boolean;
}

export interface KubectlResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export type KubectlRun = (args: string[], options?: KubectlOptions) => Promise<KubectlResult>;

/** Runs kubectl for one cluster, without the settings and caches of the user. */
export function kubectlFor({ kubectl, kubeconfig }: { kubectl: string; kubeconfig: string }): KubectlRun {
  // with a cache, kubectl would not find a CRD that was created a moment ago
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: "/dev/null", KUBERC: "off" };

  return async (args, { input, allowFailure = false } = {}) => {
    const child = spawn(kubectl, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    // kubectl may exit before it has read everything
    child.stdin.on("error", () => undefined);
    child.stdin.end(input ?? "");
    const exit = new Promise<number>((resolve, reject) => {
      child.once("error", reject);
      child.once("close", (code) => resolve(code ?? 1));
    });
    const [code, stdout, stderr] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
    // other arguments may contain secrets
    if (code !== 0 && !allowFailure) throw new Error(`kubectl ${args[0]} failed (exit ${code}): ${stderr.trim()}`);
    return { stdout, stderr, code };
  };
}

/** The kubectl on the PATH, if there is one. */
export async function kubectlOnPath(path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const directory of path.split(delimiter).filter(Boolean)) {
    const candidate = join(directory, "kubectl");
    if (await isExecutable(candidate)) return candidate;
  }
  return undefined;
}

export const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { type Ended, run } from "../shared/run.ts";

export interface KubectlOptions {
  /** The standard input of kubectl. */
  readonly input?: string;
  /** Resolve even if the exit code is not 0, instead of throwing. */
  readonly allowFailure?: boolean;
}

export type KubectlRun = (args: string[], options?: KubectlOptions) => Promise<Ended>;

/** Runs kubectl for one cluster, without the settings and caches of the user. */
export function kubectlFor({ kubectl, kubeconfig }: { kubectl: string; kubeconfig: string }): KubectlRun {
  // with a cache, kubectl would not find a CRD that was created a moment ago
  const env = { ...process.env, KUBECONFIG: kubeconfig, KUBECACHEDIR: "/dev/null", KUBERC: "off" };

  return async (args, { input, allowFailure = false } = {}) => {
    const ended = await run(kubectl, args, { env, ...(input !== undefined && { input }) });
    // other arguments may contain secrets
    if (ended.code !== 0 && !allowFailure)
      throw new Error(`kubectl ${args[0]} failed (exit ${ended.code}): ${ended.stderr.trim()}`);
    return ended;
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

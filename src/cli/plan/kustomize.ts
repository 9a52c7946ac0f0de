import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { CommandError } from "../terminal/terminal.ts";

/** The manifests that `kubectl apply -k` would apply. kubectl builds them, so that both understand a folder alike. */
export async function kustomize(folder: string): Promise<string> {
  const child = spawn("kubectl", ["kustomize", folder], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = once(child, "close").catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT") throw error;
    throw new CommandError(
      "Install kubectl: -k needs it. Or build the manifests in another way: kustomize build DIR | plan -f -",
    );
  });
  const [[code], manifests, problem] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
  if (code === 0) return manifests;
  throw new CommandError(`Correct -k: kubectl kustomize ${folder} says: ${problem.trim().split("\n").at(0)}`);
}

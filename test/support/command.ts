import { spawn } from "node:child_process";
import { once } from "node:events";
import { OPERATOR } from "../../tools/shared/operator.ts";
import type { World } from "./world.ts";

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/**
 * Runs a command of the program, in a pipe, for the account and cluster of a world. `killAt`: it is killed as soon as it
 * has said this, with code -1.
 */
export async function command(
  world: World,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  killAt?: string,
): Promise<Ended> {
  const child = spawn(process.execPath, [OPERATOR, ...args], {
    env: {
      PATH: process.env["PATH"] ?? "",
      KUBECONFIG: world.cluster.kubeconfig,
      GATEWAY_BASE_URL: world.simulator.url,
      GATEWAY_API_KEY: world.simulator.apiKey,
      REQUESTS_PER_MINUTE: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended: Ended = { code: 0, stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    ended.stdout += chunk;
    if (killAt !== undefined && ended.stdout.includes(killAt)) child.kill("SIGKILL");
  });
  child.stderr.on("data", (chunk) => {
    ended.stderr += chunk;
  });
  const [code] = await once(child, "close");
  return { ...ended, code: code ?? -1 };
}

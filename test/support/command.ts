import { runCommand } from "../../tools/shared/operator.ts";
import type { Ended } from "../../tools/shared/run.ts";
import type { World } from "./world.ts";

/** Runs a command of the program with its output in a pipe, for the account and cluster of a world. `killAt`: see `run`. */
export const command = (
  { cluster, simulator }: World,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  killAt?: string,
): Promise<Ended> => {
  const { url, apiKey } = simulator;
  const own = { KUBECONFIG: cluster.kubeconfig, GATEWAY_BASE_URL: url, GATEWAY_API_KEY: apiKey };
  return runCommand(args, { ...own, REQUESTS_PER_MINUTE: "0", ...env }, killAt);
};

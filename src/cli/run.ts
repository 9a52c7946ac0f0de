import type { Config } from "../config.ts";
import { loadConnection } from "../runtime/connection/kubeconfig.ts";
import type { Terminal } from "./terminal/terminal.ts";

/**
 * Says which cluster and account an operator outside of a cluster is about to manage. Where a person can be asked, it
 * only starts once they agree. False: it does not.
 */
export async function mayRun(config: Config, terminal: Terminal, isAgreed: boolean): Promise<boolean> {
  const { server, context } = loadConnection(config);
  const { watchNamespaces: namespaces, baseURL } = config;
  const where = namespaces.length > 0 ? `namespace ${namespaces.join(", ")}` : "all namespaces";
  terminal.warn([
    "This process is about to be an operator, and to manage:",
    `  cluster  ${context ? `${context} at ` : ""}${server}, ${where}`,
    `  account  ${baseURL}`,
  ]);
  return isAgreed || !terminal.ask || (await terminal.ask("Run it?"));
}

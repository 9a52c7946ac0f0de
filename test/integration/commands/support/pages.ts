import { expect } from "vitest";
import { Child } from "../../../../tools/shared/child.ts";
import { OPERATOR } from "../../../../tools/shared/operator.ts";
import type { World } from "../../../support/world.ts";

/** The command `ui`, as a person has it open. */
export interface Pages {
  /** With the token of this start. */
  readonly address: string;
  /** Loads a page, with the cookie. */
  load(path: string): Promise<Response>;
}

/** Runs `ui` for the namespace of the world while the work is done. */
export async function withPages(
  { cluster, simulator, namespace }: Pick<World, "cluster" | "simulator" | "namespace">,
  work: (pages: Pages) => Promise<void>,
): Promise<void> {
  const { PATH, HOME } = process.env;
  const account = { GATEWAY_BASE_URL: simulator.url, GATEWAY_API_KEY: simulator.apiKey, REQUESTS_PER_MINUTE: "0" };
  const env = { PATH, HOME, KUBECONFIG: cluster.kubeconfig, ...account };
  const command = new Child(OPERATOR, { args: ["ui", "--port", "0", "-n", namespace], env });
  try {
    const address = await command.said("?token=");
    const first = await fetch(address, { redirect: "manual" });
    const headers = { cookie: String(first.headers.get("set-cookie")).split(";")[0] ?? "" };
    await work({ address, load: (path) => fetch(new URL(path, address), { headers }) });
  } finally {
    expect(await command.stop("SIGTERM")).toBe(0);
  }
}

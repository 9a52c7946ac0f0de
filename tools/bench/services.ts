import { join } from "node:path";
import { Child } from "../shared/child.ts";
import { connectControl } from "../simulator/simulator.ts";
import type { Service } from "./service.ts";

const PROGRAM = join(import.meta.dirname, "services-main.ts");

/** Services, all in one process of their own. */
export interface Services extends AsyncDisposable {
  readonly all: readonly Pick<Service, "url" | "apiKey" | "control">[];
}

export async function startServices(count: number, latencyMs: number): Promise<Services> {
  const child = new Child(PROGRAM, { args: [String(count), String(latencyMs)], stderr: "inherit" });
  const started = JSON.parse(await child.said("apiKey")) as { url: string; apiKey: string }[];
  return {
    all: started.map(({ url, apiKey }) => ({ url, apiKey, control: connectControl(url) })),
    async [Symbol.asyncDispose]() {
      await child.stop();
    },
  };
}

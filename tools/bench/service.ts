import { join } from "node:path";
import { Child } from "../shared/child.ts";
import { connectControl, type RemoteControl } from "../simulator/simulator.ts";

const SIMULATOR = join(import.meta.dirname, "../simulator/main.ts");

/** The simulator, in a process of its own. */
export interface Service {
  readonly url: string;
  readonly apiKey: string;
  readonly control: RemoteControl;
  stop(): Promise<unknown>;
}

/** `requestsPerMinute`: how many it answers; 0 is no limit. */
export async function startService(latencyMs: number, requestsPerMinute = 0): Promise<Service> {
  const args = ["--latency-ms", String(latencyMs), "--rate-limit", String(requestsPerMinute)];
  const child = new Child(SIMULATOR, { args, stderr: "inherit" });
  const { url, apiKey } = JSON.parse(await child.said("apiKey"));
  return { url, apiKey, control: connectControl(url), stop: () => child.stop() };
}

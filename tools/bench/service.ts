import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { LogFilter, LoggedRequest } from "../simulator/control/request-log.ts";
import { connectControl, type RemoteControl } from "../simulator/simulator.ts";
import { ended, endWithThisProcess } from "./child.ts";

const MAIN = join(import.meta.dirname, "../simulator/main.ts");

/** The simulator, in a process of its own. */
export class Service {
  readonly url: string;
  readonly apiKey: string;
  readonly control: RemoteControl;
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess, { url, apiKey }: { url: string; apiKey: string }) {
    this.#child = child;
    this.url = url;
    this.apiKey = apiKey;
    this.control = connectControl(url);
  }

  static async start(latencyMs: number): Promise<Service> {
    const child = spawn(process.execPath, [MAIN, "--latency-ms", String(latencyMs)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    endWithThisProcess(child);
    if (!child.stdout) throw new Error("The simulator has no output");
    const [line] = await once(createInterface({ input: child.stdout }), "line");
    return new Service(child, JSON.parse(line));
  }

  /** What went to the management API; control is not logged. */
  requests(filter: LogFilter): Promise<LoggedRequest[]> {
    return this.control.requests(filter);
  }

  count(): Promise<number> {
    return this.control.count();
  }

  stop(): Promise<void> {
    return ended(this.#child, "SIGTERM");
  }
}

import type { AddressInfo } from "node:net";
import type { Control } from "./control/control.ts";
import { createControl } from "./control/create-control.ts";
import { Faults } from "./control/faults.ts";
import { Outage } from "./control/outage.ts";
import { RequestLog } from "./control/request-log.ts";
import { RateLimit } from "./http/rate-limit.ts";
import { createRouter } from "./http/router.ts";
import { createHTTPServer } from "./http/server.ts";
import { routes } from "./routes.ts";
import { type SimulatorOptions, settingsOf } from "./settings.ts";
import { createWorld } from "./world.ts";

export { connectControl, type RemoteControl } from "./control/connect.ts";
export type { Control } from "./control/control.ts";
export type { SimulatorOptions } from "./settings.ts";

export interface Simulator {
  /** Without a trailing slash. */
  readonly url: string;
  readonly apiKey: string;
  readonly control: Control;
  /** Also closes open connections. */
  stop(): Promise<void>;
}

/** Resolves when it listens. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = settingsOf(options);
  const world = createWorld(settings);
  const apiKey = options.apiKey ?? `${world.random.text(27)}_${world.random.text(21)}`;
  const service = { world, router: createRouter(routes), rateLimit: new RateLimit(settings.rateLimitPerMinute) };
  const parts = {
    service,
    log: new RequestLog(settings.logLimit),
    faults: new Faults(world.random),
    outage: new Outage(),
  };
  let url = "";
  const control = createControl({ ...parts, apiKey, origin: () => url });
  const server = createHTTPServer({ ...parts, control });

  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port ?? 0, host, resolve);
  });
  url = `http://${host === "0.0.0.0" ? "127.0.0.1" : host}:${(server.address() as AddressInfo).port}`;
  return {
    url,
    apiKey,
    control,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

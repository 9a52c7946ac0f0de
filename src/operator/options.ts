import type { Config } from "../config.ts";
import type { Clock } from "../runtime/clock.ts";
import type { KubeClient } from "../runtime/connection/client.ts";
import type { ControllerOptions } from "../runtime/controller/controller.ts";
import type { Logger } from "../runtime/log.ts";
import type { EventRecorder } from "../runtime/process/events.ts";
import type { Kind } from "../schema/define.ts";
import type { SessionMetrics } from "../sessions/metrics.ts";
import type { InstallationClaim } from "./installations/claim.ts";
import type { OperatorMetrics } from "./metrics/metrics.ts";
import type { IsOurs } from "./object-controller.ts";
import type { Tracing } from "./tracing.ts";

export interface OperatorOptions {
  config: Config;
  kinds: readonly Kind[];
  client: KubeClient;
  recorder: EventRecorder;
  log: Logger;
  clock?: Clock;
  /** Whether this process holds the lease and so may send requests. Default: always. */
  leads?: () => boolean;
  /** The leader waits for this claim before it starts its controllers. */
  claim?: InstallationClaim | undefined;
  controllerMetrics?: ControllerOptions["metrics"];
  metrics?: OperatorMetrics;
  sessionMetrics?: SessionMetrics;
  tracing?: Tracing | undefined;
}

/** The options, with what all parts of the operator share. */
export interface CommonOptions extends OperatorOptions {
  clock: Clock;
  leads: () => boolean;
  /** The operator also sees objects of other installations in its namespaces: they may use remotes of its own objects. */
  isOurs: IsOurs;
}

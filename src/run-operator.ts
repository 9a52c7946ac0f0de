import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import { version } from "./cli/version.ts";
import { type Config, ConfigError } from "./config.ts";
import { kinds } from "./kinds/index.ts";
import { InstallationClaim } from "./operator/installations/claim.ts";
import { createTelemetry, type Telemetry } from "./operator/metrics/telemetry.ts";
import { createOperator, type Operator } from "./operator/operator.ts";
import type { OperatorOptions } from "./operator/options.ts";
import { startTracing, type Tracing } from "./operator/tracing.ts";
import { systemClock } from "./runtime/clock.ts";
import { KubeClient } from "./runtime/connection/client.ts";
import { loadConnection } from "./runtime/connection/kubeconfig.ts";
import { Transport } from "./runtime/connection/transport.ts";
import { createLogger, type Logger, type LogOptions } from "./runtime/log.ts";
import { type ElectionOptions, LeaderElector } from "./runtime/process/election.ts";
import { eventLoopCheck } from "./runtime/process/event-loop.ts";
import { EventRecorder } from "./runtime/process/events.ts";
import { HealthServer } from "./runtime/process/health.ts";
import { type Parts, type RunOptions, run } from "./runtime/process/runner.ts";
import { API_VERSION, GROUP, leaseNameOf, OPERATOR_NAME, VERSION_LABEL } from "./schema/contract.ts";

/** A request to the service is sent only if no other replica can take the lease for so long. */
const LEASE_MARGIN_SECONDS = 5;

/** Where the operator writes its log, and what stands for the process. Default: those of this process. */
export type Surroundings = Pick<LogOptions, "destination"> & Pick<RunOptions, "process">;

/**
 * Runs the operator with these settings until it is told to stop, and resolves with its exit code. A process can run
 * several, one after the other or at once: they share nothing but its metrics.
 */
export async function runOperator(
  config: Config,
  { destination, ...surroundings }: Surroundings = {},
): Promise<number> {
  const log = createLogger({ level: config.logLevel, ...(destination && { destination }) });
  const own = await version();
  const telemetry = createTelemetry({ ...config, version: own });
  const { client, recorder, close, ...leading } = connect(config, log, telemetry, () => ({
    labels: { [VERSION_LABEL]: own },
    annotations: operator.leaseAnnotations(),
  }));
  const tracing = config.traces && (await startTracing(own, config.traces));
  const operator = createOperator({
    config,
    kinds,
    client,
    recorder,
    log,
    tracing,
    ...metricsOf(telemetry, tracing),
    ...leading.mayLead,
  });
  const eventLoop = eventLoopCheck();
  const health = healthOf(config, telemetry, operator, eventLoop);

  log.info({ apiVersion: API_VERSION, gateway: new URL(config.baseURL).origin }, "Starting");
  return run(
    {
      health: {
        async listen() {
          const { host, port } = await health.listen();
          log.info({ host, port }, "Serving metrics and health");
        },
        close: () => health.close(),
      },
      informers: operator.informers,
      ...(leading.elector && { elector: leading.elector }),
      preparations: operator.preparations,
      controllers: operator.controllers,
      background: [operator.background],
      recorder,
      close: [() => operator.close(), close, async () => tracing?.close(), async () => eventLoop[Symbol.dispose]()],
    },
    { log, ...surroundings },
  );
}

interface Connected {
  client: KubeClient;
  recorder: EventRecorder;
  /** Undefined where this process leads without a Lease. */
  elector: NonNullable<Parts["elector"]> | undefined;
  mayLead: Pick<OperatorOptions, "leads" | "claim">;
  close: () => Promise<void>;
}

/** Everything that sends to the API server. `shown`: facts that the leader shows on its Lease. */
function connect(
  config: Config,
  log: Logger,
  { runtime: metrics }: Telemetry,
  shown: () => { labels: Record<string, string>; annotations: Record<string, string> },
): Connected {
  const connection = loadConnection(config);
  const options = { userAgent: OPERATOR_NAME, onAnswer: metrics.onAnswer };
  const transport = new Transport(connection, options);
  const client = new KubeClient(transport, { fieldManager: OPERATOR_NAME });
  const instance = `${hostname()}_${randomUUID()}`;
  const recorder = new EventRecorder({ client, controller: `${GROUP}/operator`, instance, log });
  if (!config.leaderElection)
    return { client, recorder, elector: undefined, mayLead: {}, close: () => transport.close() };

  const leaseName = leaseNameOf(config.installation);
  // its own transport, so that a renewal never waits behind other requests
  const electionTransport = new Transport(connection, options);
  const electionClient = new KubeClient(electionTransport, { fieldManager: OPERATOR_NAME });
  const elector = electorOf(electionClient, config, instance, {
    log,
    onChange: (leading) => metrics.leading(leaseName, leading),
    marks() {
      const { labels, annotations } = claim.marks();
      const more = shown();
      return { labels: { ...labels, ...more.labels }, annotations: { ...annotations, ...more.annotations } };
    },
  });
  const claim = new InstallationClaim({ client, config, elector: () => elector, clock: systemClock, log });
  // set for each process that may lead, so that an alert can tell when none does
  metrics.leading(leaseName, false);
  return {
    client,
    recorder,
    elector: withClaim(elector, claim),
    mayLead: {
      leads: () => elector.holdsFor(LEASE_MARGIN_SECONDS) && claim.holdsFor(LEASE_MARGIN_SECONDS),
      claim,
    },
    async close() {
      await transport.close();
      await electionTransport.close();
    },
  };
}

const metricsOf = (
  { runtime, operator, sessions }: Telemetry,
  tracing: Tracing | undefined,
): Pick<OperatorOptions, "controllerMetrics" | "metrics" | "sessionMetrics"> => ({
  controllerMetrics: runtime,
  metrics: {
    ...operator,
    onExchange(event) {
      operator.onExchange(event);
      tracing?.onExchange(event);
    },
  },
  sessionMetrics: sessions,
});

const healthOf = (
  { metricsAddress }: Config,
  telemetry: Telemetry,
  operator: Operator,
  eventLoop: () => string | undefined,
): HealthServer =>
  new HealthServer({
    address: metricsAddress,
    metrics: telemetry.registry,
    liveness: {
      "event-loop": eventLoop,
      workers: () => operator.controllers.find(({ problem }) => problem)?.problem,
    },
    readiness: {
      informers: () => operator.unreadProblem() ?? operator.informers.find(({ reason }) => reason)?.reason,
      preparations: () => operator.preparations.find(({ problem }) => problem)?.problem,
    },
  });

function electorOf(
  client: KubeClient,
  { podNamespace, installation }: Config,
  identity: string,
  options: Pick<ElectionOptions, "log" | "onChange" | "marks">,
): LeaderElector {
  if (!podNamespace)
    throw new ConfigError("POD_NAMESPACE must be set where LEADER_ELECTION is true: the Lease lives there");
  return new LeaderElector({ client, namespace: podNamespace, name: leaseNameOf(installation), identity, ...options });
}

/** An installation that has to give way to another one stops as one that has lost its Lease. */
const withClaim = (elector: LeaderElector, claim: InstallationClaim): NonNullable<Parts["elector"]> => ({
  start: () => elector.start(),
  elected: elector.elected,
  lost: Promise.race([elector.lost, claim.lost]),
  async release() {
    await claim.release();
    await elector.release();
  },
  stop: () => elector.stop(),
});

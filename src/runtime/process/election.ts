import type { Random } from "../backoff.ts";
import { type Clock, sleep, systemClock } from "../clock.ts";
import type { KubeClient } from "../connection/client.ts";
import { isAlreadyExists, isConflict, isNotFound } from "../connection/errors.ts";
import type { Logger } from "../log.ts";
import type { KubeObject } from "../object.ts";
import { heldBy, type Lease, leases, released } from "./lease.ts";
import { microTime } from "./micro-time.ts";
import { elapsed, type Moment, momentOf } from "./moment.ts";

export interface ElectionOptions {
  /** Give it a transport of its own, so that a renewal never waits behind other requests. */
  client: KubeClient;
  namespace: string;
  name: string;
  /** Unique to this process. */
  identity: string;
  log: Logger;
  /** How long others wait after the last renewal; default 15. */
  leaseSeconds?: number;
  /** How long failing renewals are repeated before the lease counts as lost; default 10. */
  renewSeconds?: number;
  /**
   * Time from one renewal to the next, both as they are sent; default 2. One that takes longer is followed at once. A
   * process that does not lead waits up to 2.2 times as long after each attempt.
   */
  retrySeconds?: number;
  onChange?: (leading: boolean) => void;
  /** Labels and annotations for the Lease. Called at each write, every two seconds. */
  marks?: () => Pick<KubeObject["metadata"], "labels" | "annotations">;
  clock?: Clock;
  random?: Random;
}

/**
 * Elects a leader through a Lease. The lease of another process has expired when it did not change for its duration,
 * measured here. The times written in it do not count, so that clocks may differ.
 *
 * A process that loses the lease must stop at once, since another may lead already. Call `holdsFor` right before every
 * change outside Kubernetes.
 */
export class LeaderElector {
  /** Resolves when this process leads. */
  readonly elected: Promise<void>;
  /** Resolves with the reason when this process was the leader and has lost the lease. */
  readonly lost: Promise<Error>;

  readonly #options: Required<Omit<ElectionOptions, "onChange">> & Pick<ElectionOptions, "onChange">;
  readonly #log: Logger;
  readonly #elected = Promise.withResolvers<void>();
  readonly #lost = Promise.withResolvers<Error>();
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  /** The Lease as last seen, whoever holds it. */
  #lease: Lease | undefined;
  #seenSpec = "";
  #changedAt = 0;
  /** The Lease as it was before this process took it. */
  #former: Lease | undefined;
  /** When the last successful renewal was sent; undefined while not leading. */
  #renewedAt: Moment | undefined;
  #interruptions = 0;

  constructor(options: ElectionOptions) {
    this.#options = {
      leaseSeconds: 15,
      renewSeconds: 10,
      retrySeconds: 2,
      clock: systemClock,
      random: Math.random,
      marks: () => ({}),
      ...options,
    };
    const { leaseSeconds, renewSeconds, retrySeconds, namespace, name, identity } = this.#options;
    if (leaseSeconds <= renewSeconds || renewSeconds <= retrySeconds * 1.2) {
      throw new RangeError("leaseSeconds must be more than renewSeconds, and that more than 1.2 times retrySeconds");
    }
    this.#log = options.log.child({ logger: "leader-election", lease: `${namespace}/${name}`, identity });
    this.elected = this.#elected.promise;
    this.lost = this.#lost.promise;
  }

  start(): void {
    this.#running ??= this.#run(this.#stop.signal).catch((error) => {
      if (!this.#stop.signal.aborted) this.#lose(error);
    });
  }

  /** The Lease as this process has written it last; undefined while it does not lead. */
  get ownLease(): Lease | undefined {
    return this.isLeading ? this.#lease : undefined;
  }

  /** The Lease as another process left it. Undefined: this process does not lead yet, or there was no Lease. */
  get formerLease(): Lease | undefined {
    return this.#former;
  }

  /**
   * How often the lease had expired before this process renewed it, as after a suspension. No other replica has led
   * meanwhile, but whoever watches the Lease may have taken this one for dead.
   */
  get interruptions(): number {
    return this.#interruptions;
  }

  get isLeading(): boolean {
    return this.#renewedAt !== undefined;
  }

  /**
   * Whether nobody else can take the lease within this time.
   */
  holdsFor(seconds: number): boolean {
    const since = this.#renewedAt;
    return since !== undefined && elapsed(since, this.#options.clock) + seconds * 1000 < this.#duration;
  }

  /** Ends the election without giving up the lease, which then expires. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    this.#lead(undefined);
  }

  /** Gives up the lease, so that another can take it at once. Call it when all work that needs the lease has ended. */
  async release(): Promise<void> {
    const held = this.holdsFor(1) ? this.#lease : undefined;
    await this.stop();
    if (!held) return;
    try {
      if (await this.#writeReleased(this.#lease ?? held)) this.#log.info({}, "Released the lease");
    } catch (error) {
      this.#log.warn({ error }, "Could not release the lease, it will expire");
    }
  }

  /**
   * A renewal that `stop` has cut off may have been carried out. Then the Lease is newer than this process knows. Resolves
   * with false if another process holds the lease.
   */
  async #writeReleased(lease: Lease): Promise<boolean> {
    const { client, namespace, name, identity, clock, renewSeconds } = this.#options;
    const call = { deadlineSeconds: renewSeconds / 2 };
    const write = (one: Lease) =>
      client.update<Lease>(leases, { ...one, spec: released(microTime(clock.date()), one.spec) }, call);
    if (await write(lease).catch(unlessConflict)) return true;
    const found = await client.get<Lease>(leases, { namespace, name }, call);
    if (found.spec?.holderIdentity !== identity) return false;
    await write(found);
    return true;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, retrySeconds } = this.#options;
    while (!(await this.#try(signal))) await sleep(clock, this.#untilNextTry(), signal);
    this.#log.info({}, "Became the leader");
    this.#elected.resolve();
    for (let sentAt = this.#renewedAt?.monotonic ?? clock.now(); ; ) {
      await sleep(clock, sentAt + retrySeconds * 1000 - clock.now(), signal);
      sentAt = clock.now();
      await this.#renew(signal);
    }
  }

  /** Milliseconds; at most until the lease of another process expires. */
  #untilNextTry(): number {
    const { random, retrySeconds, leaseSeconds, clock } = this.#options;
    const usual = retrySeconds * 1000 * (1 + 1.2 * random());
    const { leaseDurationSeconds = leaseSeconds } = this.#lease?.spec ?? {};
    const left = this.#changedAt + leaseDurationSeconds * 1000 - clock.now();
    return left > 0 && left < usual ? left + 1 : usual;
  }

  async #renew(signal: AbortSignal): Promise<void> {
    const { clock, renewSeconds } = this.#options;
    if (await this.#try(signal)) return;
    const { holderIdentity } = this.#lease?.spec ?? {};
    if (holderIdentity && holderIdentity !== this.#options.identity)
      throw new Error(`The lease is held by ${holderIdentity}`);
    const since = clock.now() - (this.#renewedAt?.monotonic ?? 0);
    if (since >= renewSeconds * 1000) throw new Error(`The lease could not be renewed for ${renewSeconds} s`);
  }

  /** Tries once to take or renew the lease. False when that failed or another process holds it. */
  async #try(signal: AbortSignal): Promise<boolean> {
    const sent = momentOf(this.#options.clock);
    try {
      const written = this.isLeading ? await this.#update(signal).catch(unlessConflict) : undefined;
      const lease = written ?? (await this.#take(signal));
      if (!lease) return false;
      this.#observe(lease);
      this.#lead(sent);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      this.#log.warn({ error }, "Leader election attempt failed");
      return false;
    }
  }

  async #take(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name, identity } = this.#options;
    const call = this.#call(signal);
    const found = await client.get<Lease>(leases, { namespace, name }, call).catch(unlessNotFound);
    if (!found) return this.#create(signal);
    this.#observe(found);
    const { holderIdentity, leaseDurationSeconds = this.#options.leaseSeconds } = found.spec ?? {};
    const alive = this.#options.clock.now() - this.#changedAt <= leaseDurationSeconds * 1000;
    if (holderIdentity && holderIdentity !== identity && alive) return undefined;
    if (!this.isLeading) this.#former = found;
    return this.#update(signal).catch(unlessConflict);
  }

  #create(signal: AbortSignal): Promise<Lease | undefined> {
    const { client, namespace, name, identity, leaseSeconds, clock } = this.#options;
    const spec = heldBy(identity, leaseSeconds, microTime(clock.date()));
    const lease: Lease = {
      apiVersion: "coordination.k8s.io/v1",
      kind: "Lease",
      metadata: this.#marked({ namespace, name }),
      spec,
    };
    return client.create(leases, lease, this.#call(signal)).catch(unlessConflict);
  }

  /** Rejects with a conflict when somebody has written the Lease since it was last seen. */
  #update(signal: AbortSignal): Promise<Lease> {
    const { client, identity, leaseSeconds, clock } = this.#options;
    const lease = this.#lease as Lease;
    const spec = { ...lease.spec, ...heldBy(identity, leaseSeconds, microTime(clock.date()), lease.spec) };
    return client.update(leases, { ...lease, metadata: this.#marked(lease.metadata), spec }, this.#call(signal));
  }

  #marked(metadata: KubeObject["metadata"]): KubeObject["metadata"] {
    const { labels, annotations } = this.#options.marks();
    return {
      ...metadata,
      ...(labels && { labels: { ...metadata.labels, ...labels } }),
      ...(annotations && { annotations: { ...metadata.annotations, ...annotations } }),
    };
  }

  #call(signal: AbortSignal) {
    const { renewSeconds, clock } = this.#options;
    const whole = Math.max(1, renewSeconds / 2);
    if (!this.#renewedAt) return { signal, deadlineSeconds: whole };
    // all attempts to renew together must not take longer than renewSeconds
    const left = renewSeconds - (clock.now() - this.#renewedAt.monotonic) / 1000;
    return { signal, deadlineSeconds: Math.min(whole, Math.max(left, 0.1)) };
  }

  #observe(lease: Lease): void {
    const spec = JSON.stringify(lease.spec);
    if (spec !== this.#seenSpec) this.#changedAt = this.#options.clock.now();
    this.#seenSpec = spec;
    this.#lease = lease;
  }

  #lead(renewedAt: Moment | undefined): void {
    const before = this.isLeading;
    // Measured to now, since others see the renewal between the moment it was sent and now.
    if (renewedAt && before && !this.holdsFor(0)) this.#interruptions += 1;
    this.#renewedAt = renewedAt;
    if (before !== this.isLeading) this.#options.onChange?.(this.isLeading);
  }

  #lose(error: Error): void {
    this.#lead(undefined);
    this.#log.error({ error }, "Lost the lease");
    this.#lost.resolve(error);
  }

  /** Milliseconds. */
  get #duration(): number {
    return this.#options.leaseSeconds * 1000;
  }
}

function unlessConflict(error: unknown): undefined {
  if (!isConflict(error) && !isAlreadyExists(error)) throw error;
}

function unlessNotFound(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}

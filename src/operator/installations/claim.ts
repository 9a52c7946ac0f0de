import { isDeepStrictEqual } from "node:util";
import { type Clock, sleep } from "../../runtime/clock.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import { type Logger, textOf } from "../../runtime/log.ts";
import type { LeaderElector } from "../../runtime/process/election.ts";
import type { Lease } from "../../runtime/process/lease.ts";
import { leaseCopyNameOf, leaseNameOf } from "../../schema/contract.ts";
import { StartStep } from "../kubernetes/start-step.ts";
import { LeaseCopies } from "./lease-copies.ts";
import {
  ageOf,
  type Claim,
  type Installation,
  installationOf,
  marksOf,
  messageOf,
  namespacesOf,
  type Scope,
  shareOf,
} from "./record.ts";
import { Rivals, type SeenRival } from "./rivals.ts";

export interface InstallationClaimOptions {
  client: Pick<KubeClient, "listAll" | "apply" | "delete">;
  config: Scope;
  /** Holds the Lease of this installation. */
  elector: () => Pick<LeaderElector, "ownLease" | "formerLease" | "interruptions"> | undefined;
  clock: Clock;
  log: Logger;
  random?: () => number;
}

/** How often the operator checks whether its own Lease is written, or another installation has given way. */
const CHECK_MS = 500;
/** After this time an installation says that a younger one does not give way. */
const GIVE_WAY_MS = 30_000;
/** How often an installation that works looks for others. */
const LOOK_MS = 4_000;
/** How long an installation with listed namespaces waits for those that see it to write copies of their Leases. */
const ANSWER_MS = 2.5 * LOOK_MS;

const WHAT = "claiming the objects of this installation";

/**
 * Succeeds when no other installation that is alive has the same objects. The leader does it before its controllers
 * start.
 *
 * Each installation writes its claim to its Lease, and with listed namespaces to a copy in each of them, before it lists
 * those of the others. So of two that start at the same time at least one sees the other. One that is active goes on. Of
 * two that claim, the one whose Lease is younger waits, and the older one goes on when it sees that.
 *
 * An installation of all namespaces sees the Leases of all. One with listed namespaces sees no Lease outside of them, so
 * the others write a copy of theirs into its own namespace. Before its first start it waits for that.
 *
 * After success it goes on looking until it is stopped, and renews the copies. If this installation has to give way,
 * `lost` resolves: the process must stop at once.
 */
export class InstallationClaim {
  /** Resolves with the reason when another installation has the objects. */
  readonly lost: Promise<Error>;

  readonly #options: InstallationClaimOptions;
  readonly #step: StartStep<void>;
  readonly #rivals: Rivals;
  readonly #copies: LeaseCopies;
  readonly #lost = Promise.withResolvers<Error>();
  readonly #stop = new AbortController();
  #keeping: Promise<void> | undefined;
  #claim: Claim = "claiming";
  #attempt = 1;
  /** Whether installations that see this one have had the time to answer. */
  #isAnswered = false;
  /** The namespaces of copies that others rely on. */
  #relied: readonly string[];
  /** Whether nobody can have taken this installation for dead since it last looked everywhere. */
  #isSure = false;
  #interruptions = 0;
  /** Why the last look after success failed. */
  #failure: string | undefined;

  constructor(options: InstallationClaimOptions) {
    const { config, client, clock, log, random } = options;
    const { installation, podNamespace: home = "" } = config;
    this.#options = options;
    this.lost = this.#lost.promise;
    this.#rivals = new Rivals({ client, config, clock, log });
    const holder = `${home}/${leaseNameOf(installation)}`;
    this.#copies = new LeaseCopies({ client, name: leaseCopyNameOf(installation, home), holder, clock, log });
    this.#relied = namespacesOf(config).filter((namespace) => namespace !== home);
    const run = (signal: AbortSignal) => this.#run(signal);
    this.#step = new StartStep({ what: WHAT, where: this.#where, run, clock, log, random });
  }

  get synced(): Promise<void> {
    return this.#step.synced;
  }

  get reason(): string | undefined {
    return this.#step.reason;
  }

  /** Why this installation does nothing: it has not succeeded yet, or its claim has ended and cannot be renewed. */
  get problem(): string | undefined {
    const isEnded = this.#failure !== undefined && !this.holdsFor(0);
    return isEnded ? `${this.#where}: ${this.#failure}` : this.#step.problem;
  }

  get isWaiting(): boolean {
    return this.#claim === "waiting";
  }

  /**
   * Whether no other installation can have taken over the objects within this time. Call it, as the elector's, before
   * every change outside Kubernetes.
   */
  holdsFor(seconds: number): boolean {
    const isUninterrupted = this.#options.elector()?.interruptions === this.#interruptions;
    return this.#isSure && isUninterrupted && this.#copies.hold(this.#relied, seconds);
  }

  start(): void {
    this.#step.start();
    this.#keeping ??= this.synced.then(() => this.#keep(this.#stop.signal)).catch(() => {});
  }

  /** Ends the looks. The claim holds until `release`, or until its copies expire. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#step.stop();
    await this.#keeping;
  }

  /** Deletes the copies, so that another installation need not wait. Call it when all work has ended. */
  async release(): Promise<void> {
    await this.stop();
    this.#isSure = false;
    await this.#copies.deleteAll();
  }

  /** The labels and annotations for the Lease. */
  readonly marks = () => marksOf(this.#said);

  get #said(): Installation {
    const { config } = this.#options;
    const { ended } = this.#rivals;
    return {
      name: config.installation,
      ...shareOf(config),
      claim: this.#claim,
      attempt: this.#attempt,
      ...(ended.length > 0 && { ended }),
    };
  }

  get #where(): string {
    return `installation ${this.#options.config.installation}`;
  }

  get #home(): string {
    return this.#options.config.podNamespace ?? "";
  }

  get #seesAll(): boolean {
    return this.#options.config.watchNamespaces.length === 0;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const { clock, elector } = this.#options;
    if (this.#claim === "waiting") await this.#claimAgain(signal);
    const own = await this.#written(signal);
    const interruptions = elector()?.interruptions ?? 0;
    await this.#writeCopies(own, signal);
    await this.#answered(signal);
    const begin = clock.now();
    for (let found = await this.#look(signal); found[0]; found = await this.#look(signal)) {
      const first = found.find((rival) => rival.installation.claim === "active" || this.#isOlder(rival, own));
      if (first) await this.#wait(first, own, signal);
      if (clock.now() - begin > GIVE_WAY_MS) throw new Error(messageOf(found[0]));
      await sleep(clock, CHECK_MS, signal);
    }
    if (elector()?.interruptions !== interruptions) throw new Error("The Lease expired meanwhile");
    this.#interruptions = interruptions;
    this.#isSure = true;
    this.#claim = "active";
  }

  /**
   * A waiting installation claims again only after the others are gone: they may be waiting until its Lease says that it
   * waits.
   */
  async #claimAgain(signal: AbortSignal): Promise<void> {
    const [rival] = await this.#look(signal);
    if (rival) throw new Error(messageOf(rival));
    this.#claim = "claiming";
    this.#attempt += 1;
  }

  async #wait(rival: SeenRival, own: Lease, signal: AbortSignal): Promise<never> {
    this.#claim = "waiting";
    await this.#writeCopies(own, signal);
    throw new Error(messageOf(rival));
  }

  /** Resolves when the own Lease says that the installation claims its objects. */
  async #written(signal: AbortSignal): Promise<Lease> {
    const { clock, elector } = this.#options;
    for (;;) {
      const lease = elector()?.ownLease;
      const said = lease && installationOf(lease);
      if (said?.attempt === this.#attempt && said.claim === this.#claim) return lease as Lease;
      await sleep(clock, CHECK_MS, signal);
    }
  }

  /**
   * An installation of all namespaces sees this one, and then writes a copy of its Lease where this one may read. It has
   * done so already if this one has claimed the same objects before.
   */
  async #answered(signal: AbortSignal): Promise<void> {
    const { elector, config, clock, log } = this.#options;
    if (this.#isAnswered) return;
    const lease = elector()?.formerLease;
    const { namespaces, selector, claim, ended = [] } = (lease && installationOf(lease)) ?? {};
    this.#rivals.remember(ended);
    const hasClaimed = claim !== "claiming" && isDeepStrictEqual({ namespaces, selector }, shareOf(config));
    if (!this.#seesAll && !hasClaimed) {
      log.info({ seconds: ANSWER_MS / 1000 }, "Waiting for installations that have the same objects to say so");
      await sleep(clock, ANSWER_MS, signal);
    }
    this.#isAnswered = true;
  }

  /** Resolves with whether one of them was not there before. */
  #writeCopies(own: Lease, signal: AbortSignal, namespaces = this.#relied): Promise<boolean> {
    const { ended: _, ...said } = this.#said;
    return this.#copies.write(namespaces, marksOf({ ...said, home: this.#home, born: ageOf(own) }), signal);
  }

  /** Other installations that have the same objects, are alive, and do not wait; without `namespaces`, all. */
  async #look(signal: AbortSignal, namespaces = namespacesOf(this.#options.config)): Promise<SeenRival[]> {
    const seen = this.#seesAll ? await this.#lookAndAnswer(signal) : await this.#list(namespaces, signal);
    return seen.filter(({ installation, isAlive }) => isAlive && installation.claim !== "waiting");
  }

  async #list(namespaces: readonly string[] | undefined, signal: AbortSignal): Promise<SeenRival[]> {
    return (await this.#rivals.list(namespaces, signal)).rivals;
  }

  /**
   * Writes a copy of the Lease for each installation that cannot see the Lease. It does so for one that has ended too, as
   * that one may start at this moment, but then it does not renew the copy.
   */
  async #lookAndAnswer(signal: AbortSignal): Promise<SeenRival[]> {
    const { rivals, ownCopies } = await this.#rivals.list(undefined, signal);
    // The Leases of all are seen, so their copies say nothing new.
    const seen = rivals.filter(({ installation }) => installation.home === undefined);
    const blind = seen.filter(({ installation, home }) => installation.namespaces.length > 0 && home !== this.#home);
    const homes = [...new Set(blind.map(({ home }) => home))];
    const lasting = new Set(blind.filter(({ isAlive }) => isAlive).map(({ home }) => home));
    const own = this.#options.elector()?.ownLease;
    if (!own) return seen;
    const unanswered = homes.filter((home) => lasting.has(home) || !this.#copies.in(home));
    const isNew = await this.#writeCopies(own, signal, unanswered);
    this.#relied = [...lasting];
    await Promise.all(ownCopies.filter((at) => !homes.includes(at)).map((at) => this.#copies.delete(at)));
    if (!isNew) return seen;
    // An installation that started before it could see the copy had written its Lease by then, so list once more.
    const { rivals: again } = await this.#rivals.list(undefined, signal);
    return again.filter(({ installation }) => installation.home === undefined);
  }

  async #keep(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#options;
    for (;;) {
      try {
        const rival = await this.#check(signal);
        if (rival) return this.#lose(rival);
        this.#failure = undefined;
      } catch (error) {
        signal.throwIfAborted();
        this.#failure = textOf(error);
        log.warn({ error }, "Could not look for other installations");
      }
      await sleep(clock, LOOK_MS, signal);
    }
  }

  /**
   * Resolves with the installation to which this one has to give way. If others may have taken this one for dead, that is
   * any that has begun meanwhile. Otherwise it is one that is older, and that this one has not seen at its start.
   */
  async #check(signal: AbortSignal): Promise<SeenRival | undefined> {
    const { elector } = this.#options;
    const { ownLease: own, interruptions = 0 } = elector() ?? {};
    if (!own) return undefined;
    this.#isSure &&= interruptions === this.#interruptions && this.#copies.hold(this.#relied, 0);
    const isNew = !this.#seesAll && (await this.#writeCopies(own, signal));
    if (isNew) this.#isSure = false;
    const found = await this.#look(signal, this.#isSure ? [this.#home] : undefined);
    const first = this.#isSure
      ? found.find((rival) => rival.installation.claim === "active" && this.#isOlder(rival, own))
      : found[0];
    if (first) return first;
    this.#interruptions = interruptions;
    this.#isSure = true;
    return undefined;
  }

  /**
   * Anybody who may write Leases in a watched namespace could claim any age there. So in other namespaces than the own
   * one, this compares the ages of the copies themselves, which the API server sets.
   */
  #isOlder(rival: SeenRival, own: Lease): boolean {
    const { namespace = "" } = rival.metadata;
    const { born } = rival.installation;
    if (born === undefined) return ageOf(rival) < ageOf(own);
    if (namespace === this.#home) return born < ageOf(own);
    return ageOf(rival) < ageOf(this.#copies.in(namespace) ?? own);
  }

  #lose(rival: SeenRival): void {
    const error = new Error(messageOf(rival));
    this.#isSure = false;
    this.#options.log.error({ error }, "Another installation has the objects of this one");
    this.#lost.resolve(error);
  }
}

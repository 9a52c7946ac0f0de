import { isDeepStrictEqual } from "node:util";
import type { Collection } from "../account/collection.ts";
import type { GatewayClient, CallOptions as GatewayOptions } from "../gateway/client.ts";
import { isGatewayError } from "../gateway/errors.ts";
import { reconcileErrorOf, retryAfterSeconds } from "../objects/map-error.ts";
import { Outdated, Waiting } from "../objects/reconcile-error.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { annotations } from "../schema/contract.ts";
import { type Answer, answerOf, type Request } from "./answer.ts";
import { type CommandObject, type CommandStatus, hasResult, restarts, type SessionResult } from "./command.ts";
import { commandStatus, type Standing } from "./conditions.ts";
import { advance, due, intend, isFinished, nextMoment, recordKey, recover, type View } from "./progress.ts";
import type { Session, SessionObject } from "./session.ts";
import { begin, NoTarget, targetsOf } from "./targets.ts";

/** What a command needs of the world. */
export interface CommandWorld {
  /** The namespace in which sessions are mirrored, and commands are obeyed. */
  namespace: string;
  clock: Clock;
  /** The tunnel sessions of the account. */
  collection: Pick<Collection, "listedAt" | "listed" | "allCached" | "read" | "admit" | "perform">;
  mirror: { readonly isOn: boolean; readonly isSynced: boolean };
  /** All objects that stand for sessions. */
  sessions: () => readonly SessionObject[];
  /** As last known, with own writes. */
  command: (key: string) => CommandObject | undefined;
  /** Guarded by the object's resourceVersion. Throws Outdated when somebody wrote first. */
  write: (command: CommandObject, status: CommandStatus) => Promise<CommandObject>;
  remove: (command: CommandObject) => Promise<void>;
  onSent?: ((request: Request, answer: Answer["got"]) => void) | undefined;
}

type Results = readonly SessionResult[];

/** Where nobody mirrors, a command lists by itself, at most so often. */
const OWN_LIST_MS = 10_000;
/** When to look again for what a list will tell, in case nobody does. */
const LOOK_SECONDS = 60;

const calls: Record<Request, (client: GatewayClient, id: string, options: GatewayOptions) => Promise<void>> = {
  restart: (client, id, options) => client.restartSession(id, options),
  stop: (client, id, options) => client.stopSession(id, options),
  update: (client, id, options) => client.updateSession(id, options),
};

/**
 * Carries out commands, a few requests at each visit. Every request is recorded in the status before it is sent, under
 * the resourceVersion of the object, so that it is sent at most once: whoever finds a record without an answer, in
 * this process or the next, takes the outcome for unknown.
 */
export class CommandVisits {
  readonly #world: CommandWorld;
  /** Answers that could not be written yet, by uid of the command and key of the record. */
  readonly #answers = new Map<string, ReadonlyMap<string, Answer>>();

  constructor(world: CommandWorld) {
    this.#world = world;
  }

  /** The command is no more. */
  forget(uid: string): void {
    this.#answers.delete(uid);
  }

  async visit(key: string, signal: AbortSignal): Promise<Result> {
    try {
      return await this.#visit(key, signal);
    } catch (error) {
      if (error instanceof Outdated) return { stale: true };
      throw error;
    }
  }

  async #visit(key: string, signal: AbortSignal): Promise<Result> {
    const command = this.#world.command(key);
    if (!command || command.metadata.deletionTimestamp) return {};
    if (command.status?.completedAt) return this.#expire(command);
    try {
      return await this.#proceed(command, signal);
    } catch (error) {
      return this.#hold(this.#world.command(key) ?? command, error);
    }
  }

  async #proceed(given: CommandObject, signal: AbortSignal): Promise<Result> {
    const command = given.status?.sessions ? given : await this.#choose(given, signal);
    const { spec, metadata } = command;
    const chosen = command.status?.sessions ?? [];
    await this.#look(command, chosen);
    const answers = this.#answers.get(metadata.uid) ?? new Map<string, Answer>();
    const sessions = advance(recover(spec, chosen, answers, this.#now()), this.#view());

    const paused = isPaused(command);
    const batch = paused ? [] : due(spec, sessions, this.#now());
    if (batch.length === 0) {
      const written = await this.#record(command, { sessions, paused });
      return isFinished(sessions) ? this.#expire(written) : this.#again(sessions);
    }
    for (const _ of batch) await this.#world.collection.admit({ lane: "edit", signal });
    const intended = intend(spec, sessions, batch, this.#view());
    const recorded = await this.#record(command, { sessions: intended });
    const got = await this.#sendAll(
      intended.filter(({ id }) => batch.some((one) => one.id === id)),
      signal,
    );
    this.#answers.set(metadata.uid, got);
    return this.#settle(recorded, intended, got);
  }

  async #settle(command: CommandObject, intended: Results, got: ReadonlyMap<string, Answer>): Promise<Result> {
    const sessions = advance(recover(command.spec, intended, got, this.#now()), this.#view());
    const error = [...got.values()].find((answer) => answer.got === "nothing")?.error;
    const trouble = isGatewayError(error) ? reconcileErrorOf(error) : undefined;
    await this.#record(command, { sessions, trouble });
    if (trouble) return later(retryAfterSeconds(trouble));
    if (error !== undefined) throw error;
    return { requeueAfterSeconds: 0 };
  }

  async #choose(command: CommandObject, signal: AbortSignal): Promise<CommandObject> {
    const { namespace, collection, sessions } = this.#world;
    const { spec, metadata } = command;
    if (metadata.namespace !== namespace) {
      throw new NoTarget(`Create it in namespace "${namespace}", where the sessions are: it is not obeyed elsewhere`);
    }
    const online = await this.#online(command);
    const found = { objects: sessions(), mirrored: this.#world.mirror.isOn, online };
    const chosen: SessionResult[] = [];
    for (const id of targetsOf(spec, found)) {
      const session = online.get(id) ?? (await collection.read(id, { lane: "edit", signal }));
      if (!session) throw new NoTarget(`Correct spec.sessionRef.id: session ${id} is not online`);
      chosen.push(begin(spec, session as Session));
    }
    return this.#record(command, { sessions: chosen });
  }

  /** What the mirror listed last, by id. */
  async #online({ spec }: CommandObject): Promise<ReadonlyMap<string, Session>> {
    const { mirror, collection } = this.#world;
    if (mirror.isOn && !mirror.isSynced && !spec.sessionRef?.id) throw notListed();
    return new Map((collection.allCached() as Session[]).map((session) => [session.id, session]));
  }

  /** Makes sure that it is known which sessions there are, where a restart has to be told from the session before. */
  async #look({ spec }: CommandObject, sessions: Results): Promise<void> {
    const { mirror, collection, clock } = this.#world;
    if (!restarts(spec) || sessions.every(hasResult)) return;
    if (!mirror.isOn) await collection.listed(clock.now() - OWN_LIST_MS, "sync");
    else if (collection.listedAt === undefined) throw notListed();
  }

  #view(): View {
    const { collection, clock } = this.#world;
    const now = this.#now();
    const { listedAt } = collection;
    if (listedAt === undefined) return { now };
    return { now, online: { sessions: collection.allCached() as Session[], listedAt: now - (clock.now() - listedAt) } };
  }

  async #sendAll(sessions: Results, signal: AbortSignal): Promise<Map<string, Answer>> {
    const answers = sessions.map(async (one): Promise<[string, Answer]> => {
      const request = one.sending as Request;
      const answer = await this.#send(request, one.id, signal);
      this.#world.onSent?.(request, answer.got);
      return [recordKey(one), answer];
    });
    return new Map(await Promise.all(answers));
  }

  async #send(request: Request, id: string, signal: AbortSignal): Promise<Answer> {
    try {
      await this.#world.collection.perform((client, options) => calls[request](client, id, options), signal);
      return { got: "done" };
    } catch (error) {
      return answerOf(request, error);
    }
  }

  /** What was known of answers is in the status afterwards. */
  async #record(command: CommandObject, standing: Standing): Promise<CommandObject> {
    // as the API server will answer it: without members that are undefined
    const status = JSON.parse(JSON.stringify(commandStatus(command, standing, this.#now()))) as CommandStatus;
    const written = isDeepStrictEqual(status, command.status) ? command : await this.#world.write(command, status);
    this.#answers.delete(command.metadata.uid);
    return written;
  }

  async #hold(command: CommandObject, error: unknown): Promise<Result> {
    if (error instanceof Outdated) throw error;
    if (error instanceof NoTarget) return this.#expire(await this.#record(command, { refusal: error.message }));
    const trouble = reconcileErrorOf(error);
    const status = commandStatus(command, { sessions: command.status?.sessions, trouble }, this.#now());
    const plain = JSON.parse(JSON.stringify(status));
    if (!isDeepStrictEqual(plain, command.status)) await this.#world.write(command, plain);
    return later(trouble && retryAfterSeconds(trouble));
  }

  async #expire(command: CommandObject): Promise<Result> {
    const { ttlSecondsAfterFinished: ttl } = command.spec;
    if (ttl === undefined) return {};
    const left = (Date.parse(command.status?.completedAt ?? "") - this.#now()) / 1000 + ttl;
    if (left > 0) return { requeueAfterSeconds: waited(left) };
    await this.#world.remove(command);
    return {};
  }

  #again(sessions: Results): Result {
    const moment = nextMoment(sessions);
    const look = this.#world.mirror.isOn ? LOOK_SECONDS : OWN_LIST_MS / 1000;
    if (moment === undefined) return { requeueAfterSeconds: look };
    return { requeueAfterSeconds: Math.min(look, waited((moment - this.#now()) / 1000)) };
  }

  #now = (): number => this.#world.clock.date().getTime();
}

const isPaused = ({ metadata }: CommandObject): boolean => metadata.annotations?.[annotations.paused] === "true";

const notListed = () => new Waiting("Pending", "Waiting for the first list of tunnel sessions, no action is needed");

/** The queue may be a tenth early. */
const waited = (seconds: number): number => Math.max(0, seconds) / 0.9 + 0.05;

const later = (atLeastSeconds: number | undefined): Result => ({
  backoff: true,
  ...(atLeastSeconds !== undefined && { atLeastSeconds }),
});

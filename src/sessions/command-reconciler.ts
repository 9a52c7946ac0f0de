import { isDeepStrictEqual } from "node:util";
import type { Collection } from "../account/remotes/collection.ts";
import { isGatewayError } from "../gateway/errors.ts";
import type { Remote } from "../gateway/resource.ts";
import type { SessionCommand } from "../gateway/resources/index.ts";
import { commandWithoutAccount, sessionsUnlisted } from "../objects/errors/account.ts";
import { reconcileErrorOf, retryAfterSeconds } from "../objects/map-error.ts";
import { isPaused } from "../objects/object.ts";
import { Outdated } from "../objects/reconcile-error.ts";
import type { Clock } from "../runtime/clock.ts";
import type { Result } from "../runtime/controller/controller.ts";
import { type Answer, answerOf } from "./answer.ts";
import { type CommandObject, type CommandStatus, hasResult, restarts, type SessionResult } from "./command.ts";
import { type CommandState, commandStatus } from "./conditions.ts";
import { CountedSessions } from "./counted-sessions.ts";
import {
  isFinished,
  markSending,
  nextBatch,
  nextRestartAt,
  type Observation,
  recordKey,
  settleReturning,
  settleSending,
} from "./progress.ts";
import type { MirrorScope, Session, SessionObject } from "./session.ts";
import { initialResult, NoTargetError, noneOnline, targetsOf } from "./targets.ts";

/** The account that a command is for. */
export interface CommandAccount extends MirrorScope {
  /** Its tunnel sessions. */
  collection: Pick<
    Collection,
    "listedAt" | "absenceProvedAt" | "listed" | "allCached" | "hidden" | "read" | "admit" | "command"
  >;
  mirror: { readonly isEnabled: boolean; readonly isSynced: boolean };
  /** All session objects. */
  objects: () => readonly SessionObject[];
}

export interface CommandReconcilerOptions {
  clock: Clock;
  /** Throws NoTargetError if the command has no account that it may command. */
  accountOf: (command: CommandObject, signal: AbortSignal) => Promise<CommandAccount>;
  /** The command in the cache, which has own writes. */
  command: (key: string) => CommandObject | undefined;
  /** All commands in the cache, of all accounts and installations. */
  commands: () => readonly CommandObject[];
  /** Writes the status, guarded by the object's resourceVersion. Throws Outdated if somebody wrote first. */
  write: (command: CommandObject, status: CommandStatus) => Promise<CommandObject>;
  delete: (command: CommandObject) => Promise<void>;
  onSent?: ((request: SessionCommand, answer: Answer["outcome"]) => void) | undefined;
}

type Results = readonly SessionResult[];

/** When sessions are not mirrored, commands list them, but not more often than this. */
const UNMIRRORED_LIST_MS = 10_000;
/** After a list of the mirror, unfinished commands are enqueued. They also come back by themselves after this long. */
const RECHECK_SECONDS = 60;

/**
 * Executes commands, a few requests in each reconcile. Each request is recorded in the status before it is sent, in a
 * write that is guarded by the object's resourceVersion, so that no other process sends it too. A recorded request
 * without an answer has an unknown outcome, in this process and in a later one.
 */
export class CommandReconciler {
  readonly #options: CommandReconcilerOptions;
  /** Answers that are not in the status yet, by uid of the command and `recordKey`. */
  readonly #answers = new Map<string, ReadonlyMap<string, Answer>>();
  readonly #counted = new CountedSessions();

  constructor(options: CommandReconcilerOptions) {
    this.#options = options;
  }

  /** Call it when the command is gone. */
  forget(uid: string): void {
    this.#answers.delete(uid);
  }

  async reconcile(key: string, signal: AbortSignal): Promise<Result> {
    try {
      return await this.#reconcile(key, signal);
    } catch (error) {
      if (error instanceof Outdated) return { stale: true };
      throw error;
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Result> {
    const command = this.#options.command(key);
    if (!command || command.metadata.deletionTimestamp) return {};
    if (command.status?.completedAt) return this.#deleteExpired(command);
    try {
      return await this.#continue(command, signal);
    } catch (error) {
      return this.#recordFailure(this.#options.command(key) ?? command, error);
    }
  }

  async #continue(given: CommandObject, signal: AbortSignal): Promise<Result> {
    const account = await this.#accountOf(given, signal);
    const command = given.status?.sessions ? given : await this.#chooseSessions(given, account, signal);
    const { spec, metadata } = command;
    const chosen = command.status?.sessions ?? [];
    await this.#ensureListed(command, chosen, account, signal);
    const unwritten = this.#answers.get(metadata.uid) ?? new Map<string, Answer>();
    const sessions = this.#settleReturning(command, settleSending(spec, chosen, unwritten, this.#now()), account);

    const paused = isPaused(command);
    const batch = paused ? [] : nextBatch(spec, sessions, this.#now());
    if (batch.length === 0) {
      const written = await this.#record(command, { sessions, paused });
      return isFinished(sessions) ? this.#deleteExpired(written) : this.#requeue(sessions, account);
    }
    for (const _ of batch) await account.collection.admit({ lane: "edit", signal });
    const sending = markSending(spec, sessions, batch, this.#observe(account));
    const recorded = await this.#record(command, { sessions: sending });
    const answers = await this.#sendAll(
      sending.filter(({ id }) => batch.some((one) => one.id === id)),
      account,
      signal,
    );
    this.#answers.set(metadata.uid, answers);
    return this.#recordAnswers(recorded, sending, answers, account);
  }

  async #recordAnswers(
    command: CommandObject,
    sending: Results,
    answers: ReadonlyMap<string, Answer>,
    account: CommandAccount,
  ): Promise<Result> {
    const settled = settleSending(command.spec, sending, answers, this.#now());
    const sessions = this.#settleReturning(command, settled, account);
    const cause = [...answers.values()].find((answer) => answer.outcome === "nothing")?.error;
    const error = isGatewayError(cause) ? reconcileErrorOf(cause) : undefined;
    await this.#record(command, { sessions, error });
    if (error) return backoffAfter(retryAfterSeconds(error));
    if (cause !== undefined) throw cause;
    return { requeueAfterSeconds: 0 };
  }

  /** A command that has begun waits for its account to come back. */
  async #accountOf(command: CommandObject, signal: AbortSignal): Promise<CommandAccount> {
    try {
      return await this.#options.accountOf(command, signal);
    } catch (error) {
      if (!(error instanceof NoTargetError) || !command.status?.sessions) throw error;
      throw commandWithoutAccount({ problem: error.message }, { cause: error });
    }
  }

  async #chooseSessions(command: CommandObject, account: CommandAccount, signal: AbortSignal): Promise<CommandObject> {
    const { collection, objects, mirror } = account;
    const { spec } = command;
    const listed = this.#listedSessions(command, account);
    const online = new Map([...byID(collection.hidden), ...listed]);
    const known = { scope: account, objects: objects(), mirrored: mirror.isEnabled, online };
    const chosen: SessionResult[] = [];
    for (const id of targetsOf(spec, known)) {
      const session = listed.get(id) ?? (await collection.read(id, { lane: "edit", signal }));
      if (session) chosen.push(initialResult(spec, session as Session, account.account));
    }
    if (chosen.length === 0) throw noneOnline(spec);
    return this.#record(command, { sessions: chosen });
  }

  /** By id. */
  #listedSessions({ spec }: CommandObject, { mirror, collection }: CommandAccount): ReadonlyMap<string, Session> {
    if (mirror.isEnabled && !mirror.isSynced && !spec.sessionRef?.id) throw notListedYet();
    return byID(collection.allCached());
  }

  /** A restart needs a list, to tell the session before the restart from the one after it. */
  async #ensureListed(
    { spec }: CommandObject,
    sessions: Results,
    { mirror, collection }: CommandAccount,
    signal: AbortSignal,
  ): Promise<void> {
    const { clock } = this.#options;
    if (!restarts(spec) || sessions.every(hasResult)) return;
    if (!mirror.isEnabled) await collection.listed(clock.now() - UNMIRRORED_LIST_MS, { lane: "sync", signal });
    else if (collection.listedAt === undefined) throw notListedYet();
  }

  /** Two commands may have restarted agents that cannot be told apart. Each new session counts for one of them. */
  #settleReturning({ metadata: { uid } }: CommandObject, sessions: Results, account: CommandAccount): SessionResult[] {
    const counted = this.#counted.ofOthers(uid, this.#options.commands(), this.#now());
    const settled = settleReturning(sessions, { ...this.#observe(account), counted });
    this.#counted.record(uid, settled, this.#now());
    return settled;
  }

  #observe({ collection, account }: CommandAccount): Observation {
    const { clock } = this.#options;
    const now = this.#now();
    const { listedAt, absenceProvedAt = Number.NEGATIVE_INFINITY } = collection;
    if (listedAt === undefined) return { now, account };
    const sessions = [...collection.allCached(), ...collection.hidden] as Session[];
    return { now, account, online: { sessions, listedAt: now - (clock.now() - absenceProvedAt) } };
  }

  async #sendAll(sessions: Results, account: CommandAccount, signal: AbortSignal): Promise<Map<string, Answer>> {
    const answers = sessions.map(async (one): Promise<[string, Answer]> => {
      const request = one.sending as SessionCommand;
      const answer = await this.#send(request, one.id, account, signal);
      this.#options.onSent?.(request, answer.outcome);
      return [recordKey(one), answer];
    });
    return new Map(await Promise.all(answers));
  }

  async #send(
    request: SessionCommand,
    id: string,
    { collection }: CommandAccount,
    signal: AbortSignal,
  ): Promise<Answer> {
    try {
      await collection.command(request, id, signal);
      return { outcome: "done" };
    } catch (error) {
      return answerOf(request, error);
    }
  }

  /** Writes the status with all answers that are known. */
  async #record(command: CommandObject, state: CommandState): Promise<CommandObject> {
    const written = await this.#write(command, state);
    this.#answers.delete(command.metadata.uid);
    return written;
  }

  async #recordFailure(command: CommandObject, cause: unknown): Promise<Result> {
    if (cause instanceof Outdated) throw cause;
    if (cause instanceof NoTargetError)
      return this.#deleteExpired(await this.#record(command, { refusal: cause.message }));
    const error = reconcileErrorOf(cause);
    await this.#write(command, { sessions: command.status?.sessions, error });
    return backoffAfter(error && retryAfterSeconds(error));
  }

  async #write(command: CommandObject, state: CommandState): Promise<CommandObject> {
    // without undefined members, as the API server returns it
    const status = JSON.parse(JSON.stringify(commandStatus(command, state, this.#now()))) as CommandStatus;
    return isDeepStrictEqual(status, command.status) ? command : this.#options.write(command, status);
  }

  async #deleteExpired(command: CommandObject): Promise<Result> {
    const { ttlSecondsAfterFinished: ttl } = command.spec;
    if (ttl === undefined) return {};
    const left = (Date.parse(command.status?.completedAt ?? "") - this.#now()) / 1000 + ttl;
    if (left > 0) return { requeueAfterSeconds: certainly(left) };
    await this.#options.delete(command);
    return {};
  }

  #requeue(sessions: Results, { mirror }: CommandAccount): Result {
    const restartAt = nextRestartAt(sessions);
    const recheck = mirror.isEnabled ? RECHECK_SECONDS : UNMIRRORED_LIST_MS / 1000;
    if (restartAt === undefined) return { requeueAfterSeconds: recheck };
    return { requeueAfterSeconds: Math.min(recheck, certainly((restartAt - this.#now()) / 1000)) };
  }

  #now = (): number => this.#options.clock.date().getTime();
}

const byID = (sessions: readonly Remote[]): ReadonlyMap<string, Session> =>
  new Map((sessions as Session[]).map((session) => [session.id, session]));

const notListedYet = () => sessionsUnlisted({});

/** The calendar and the queue's clock may differ slightly. By both, this delay is at least `seconds`. */
const certainly = (seconds: number): number => Math.max(0, seconds) + 0.05;

const backoffAfter = (atLeastSeconds: number | undefined): Result => ({
  backoff: true,
  ...(atLeastSeconds !== undefined && { atLeastSeconds }),
});

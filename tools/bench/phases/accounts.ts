import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject, ResourceType } from "../../../src/runtime/object.ts";
import { API_VERSION, GROUP, VERSION } from "../../../src/schema/contract.ts";
import { isReady } from "../../shared/objects.ts";
import { type Figures, percentile } from "../figures.ts";
import type { Subject } from "../objects.ts";
import { memoryOf } from "../processes.ts";
import { figuresOf, readingOf } from "../reading.ts";
import { type Services, startServices } from "../services.ts";
import { type Stage, WRITERS } from "../stage.ts";
import { preciseNow } from "../watcher.ts";
import { arrivals, percent } from "./big.ts";
import { concurrently } from "./concurrently.ts";
import type { Pace } from "./pace.ts";
import { observed } from "./restart.ts";

/** The objects of the quiet account, which is that of the operator's own credentials. */
const QUIET = 20;

const REQUESTS_PER_MINUTE = "100";

const secrets: ResourceType = { group: "", version: "v1", plural: "secrets", kind: "Secret" };
const gatewayAccounts: ResourceType = {
  group: GROUP,
  version: VERSION,
  plural: "gatewayaccounts",
  kind: "GatewayAccount",
};

export interface AccountsOptions {
  /** How many objects there are at each measurement, in ascending order. */
  sizes: readonly number[];
  objectsPerAccount: number;
  pace: Pace;
}

/**
 * Many accounts, with more objects at each measurement: what a start takes, what rest costs, and how long an edit in a
 * quiet account takes while all others are listed without end. Each account has a limit of 100 requests a minute.
 */
export async function accounts(
  stage: Stage,
  { sizes, objectsPerAccount, pace }: AccountsOptions,
  note: (figures: Figures) => void,
): Promise<void> {
  const counts = sizes.toSorted((one, other) => one - other);
  await using services = await startServices(
    Math.ceil((counts.at(-1) ?? 0) / objectsPerAccount),
    stage.settings.latencyMs,
  );
  const env = { ALLOWED_GATEWAY_HOSTS: services.all.map(({ url }) => new URL(url).host).join(",") };
  const all = stage.subjects(QUIET + (counts.at(-1) ?? 0));
  const quiet = all.slice(0, QUIET);
  let made = 0;
  for (const count of counts) {
    const used = Math.ceil(count / objectsPerAccount);
    await createAccounts(stage, services, Math.ceil(made / objectsPerAccount), used);
    const added = all.slice(made === 0 ? 0 : QUIET + made, QUIET + count);
    await fillAccounts(stage, { added, first: made === 0 ? -QUIET : made, objectsPerAccount, env });
    made = count;
    const rest = await atRest(stage, QUIET + count, pace, env);
    const edits = await editsBesideSweeps(stage, { quiet, count, services: services.all.slice(0, used), pace, env });
    note({ ...rest, objects: count, more: { accounts: used, ...rest.more, ...edits } });
  }
}

const keyOf = (index: number): string => `key-of-account-${index}`;
const accountOf = (index: number): string => `account-${index}`;

async function createAccounts({ client, namespace }: Stage, services: Services, from: number, to: number) {
  const indexes = Array.from({ length: to - from }, (_, index) => from + index);
  await concurrently(indexes, WRITERS, async (index) => {
    const service = services.all[index];
    if (!service) throw new Error(`There is no account ${index}`);
    const key = { name: keyOf(index), key: "key" };
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { namespace, name: keyOf(index) } };
    const account = {
      apiVersion: API_VERSION,
      kind: "GatewayAccount",
      metadata: { namespace, name: accountOf(index) },
    };
    await client.create(secrets, { ...secret, stringData: { key: service.apiKey } } as KubeObject);
    await client.create(gatewayAccounts, {
      ...account,
      spec: { apiKeySecretRef: key, baseURL: service.url },
    } as KubeObject);
  });
}

interface Filling {
  added: readonly Subject[];
  /** The place of the first of them among the objects of accounts; below 0: in the quiet account. */
  first: number;
  objectsPerAccount: number;
  env: Readonly<Record<string, string>>;
}

/** Creates objects, and waits until all are Ready. */
async function fillAccounts(stage: Stage, { added, first, objectsPerAccount, env }: Filling): Promise<void> {
  const placed = added.map(({ type, object }, index): Subject => {
    const place = first + index;
    if (place < 0) return { type, object };
    const accountRef = { name: accountOf(Math.floor(place / objectsPerAccount)) };
    return { type, object: { ...object, spec: { ...(object as { spec?: object }).spec, accountRef } } as KubeObject };
  });
  const ready = stage.watcher.until(placed, isReady, 3600);
  await stage.startOperator({ ...env, RESYNC_INTERVAL: "1h" });
  await concurrently(placed, WRITERS, ({ type, object }) => stage.client.create(type, object));
  await ready;
}

/** Restarts the operator, measures until it has looked at all objects, and then what it takes while nothing happens. */
async function atRest(stage: Stage, count: number, pace: Pace, env: Filling["env"]): Promise<Figures> {
  const operator = await stage.startOperator({ ...env, REQUESTS_PER_MINUTE, RESYNC_INTERVAL: "1h" });
  const seenAt = await observed(stage, count, 1800);
  await stage.quiet(2000);
  const before = await readingOf(stage);
  await sleep(pace.idle * 1000);
  const after = await readingOf(stage);
  const { rss } = await memoryOf(operator.pid);
  return figuresOf(stage, {
    phase: "accounts",
    objects: count,
    before,
    after,
    wallSeconds: (seenAt - operator.spawnedAt) / 1000,
    more: { rss, idlePercent: percent(before.operatorCPU, after.operatorCPU, pace.idle) },
  });
}

interface Edits extends Pick<Filling, "env"> {
  quiet: readonly Subject[];
  count: number;
  services: Services["all"];
  pace: Pace;
}

async function editsBesideSweeps(
  stage: Stage,
  { quiet, count, services, pace, env }: Edits,
): Promise<Record<string, number>> {
  await stage.startOperator({ ...env, REQUESTS_PER_MINUTE, RESYNC_INTERVAL: `${pace.accountsResync}s` });
  await observed(stage, QUIET + count, 1800);
  const requests = async () => (await Promise.all(services.map(({ control }) => control.count()))).reduce(sum, 0);
  await stage.service.control.clearRequests();
  const [before, begun] = [await requests(), preciseNow()];
  const sent = new Map<string, number>();
  for (let edit = 0; edit < pace.edits; edit++) {
    const { type, object } = quiet[edit % quiet.length] as Subject;
    const description = `Edited ${count} ${edit}`;
    sent.set(description, preciseNow());
    await stage.client.patchMerge(type, object.metadata, { spec: { description } });
    await sleep(pace.editEvery * 1000);
  }
  const minutes = (preciseNow() - begun) / 60_000;
  const sweeps = ((await requests()) - before) / services.length / minutes;
  const took = await arrivals(stage, sent);
  return {
    edits: sent.size,
    editP50: percentile(took, 0.5) as number,
    editP99: percentile(took, 0.99) as number,
    requestsPerAccountAndMinute: sweeps,
  };
}

const sum = (one: number, other: number): number => one + other;

import { setTimeout as sleep } from "node:timers/promises";
import { isAlreadyExists } from "../../src/runtime/connection/errors.ts";
import type { KubeObject } from "../../src/runtime/object.ts";
import type { Subject } from "../bench/objects.ts";
import type { Stage } from "../bench/stage.ts";
import type { Random } from "../shared/random.ts";
import type { FaultAction } from "../simulator/control/faults.ts";

/** The faults of the service, each with its probability. */
const faults: readonly { probability: number; action: FaultAction }[] = [
  { probability: 0.01, action: { cut: "before" } },
  { probability: 0.01, action: { cut: "after" } },
  { probability: 0.01, action: { truncate: true } },
  { probability: 0.01, action: { garbage: true } },
  { probability: 0.01, action: { status: 503, body: { msg: "Down for a moment" } } },
  { probability: 0.002, action: { rateLimit: { retryAfterSeconds: 1 } } },
  { probability: 0.002, action: { hang: true } },
  { probability: 0.02, action: { delayMs: 700 } },
];

/** How many people make changes, and how long each waits between two changes at most. */
const PEOPLE = 4;
const PAUSE_MS = 600;

const OUTAGE_EVERY_MS = 60_000;
const OUTAGE_MS = 5_000;

/** At the third drift of an object the operator stops correcting it, until the object is edited. */
const MOST_DRIFTS = 2;

interface Resident {
  readonly subject: Subject;
  isThere: boolean;
  drifts: number;
  /** Somebody is changing it now. */
  isBusy: boolean;
}

/** Edits, deletes and creates objects, changes remotes directly, and lets the service fail now and then. */
export class RandomWorkload {
  readonly #stage: Stage;
  readonly #random: Random;
  readonly #residents: readonly Resident[];
  #edits = 0;

  constructor(stage: Stage, subjects: readonly Subject[], random: Random) {
    this.#stage = stage;
    this.#random = random;
    this.#residents = subjects.map((subject) => ({ subject, isThere: true, drifts: 0, isBusy: false }));
  }

  async run(milliseconds: number): Promise<void> {
    const { control } = this.#stage.service;
    const end = Date.now() + milliseconds;
    for (const fault of faults) await control.fault({ ...fault, times: 1e9 });
    const people = Array.from({ length: PEOPLE }, () => this.#person(end));
    await Promise.all([...people, this.#outages(end)]);
    await control.clearFaults();
  }

  /** Creates all objects that were deleted. */
  async restore(): Promise<void> {
    for (const resident of this.#residents) {
      while (!resident.isThere) {
        await this.#create(resident);
        if (!resident.isThere) await sleep(100);
      }
    }
  }

  async #person(end: number): Promise<void> {
    while (Date.now() < end) {
      const resident = this.#random.of(this.#residents);
      if (!resident.isBusy) {
        resident.isBusy = true;
        await this.#change(resident);
        resident.isBusy = false;
      }
      await sleep(this.#random.below(PAUSE_MS));
    }
  }

  async #outages(end: number): Promise<void> {
    const { control } = this.#stage.service;
    while (Date.now() + OUTAGE_EVERY_MS < end) {
      await sleep(OUTAGE_EVERY_MS);
      await control.outage(true);
      await sleep(OUTAGE_MS);
      await control.outage(false);
    }
  }

  #change(resident: Resident): Promise<void> {
    if (!resident.isThere) return this.#create(resident);
    const chance = this.#random();
    if (chance < 0.6) return this.#edit(resident);
    if (chance < 0.8) return this.#delete(resident);
    return this.#interfere(resident, chance > 0.97);
  }

  async #edit(resident: Resident): Promise<void> {
    const { type, object } = resident.subject;
    resident.drifts = 0;
    const description = `Edit ${++this.#edits}`;
    await this.#stage.client.patchMerge(type, object.metadata, { spec: { description } });
  }

  async #delete(resident: Resident): Promise<void> {
    const { type, object } = resident.subject;
    resident.isThere = false;
    await this.#stage.client.delete(type, object.metadata);
  }

  async #create(resident: Resident): Promise<void> {
    const { type, object } = resident.subject;
    try {
      await this.#stage.client.create(type, object);
      Object.assign(resident, { isThere: true, drifts: 0 });
    } catch (error) {
      // the object of the same name still has its finalizer
      if (!isAlreadyExists(error)) throw error;
    }
  }

  async #interfere(resident: Resident, deletes: boolean): Promise<void> {
    if (resident.drifts >= MOST_DRIFTS) return;
    resident.drifts += 1;
    const { type, object } = resident.subject;
    const now = await this.#stage.client.get<KubeObject & { status?: { id?: string } }>(type, object.metadata);
    const id = now.status?.id;
    if (id === undefined) return;
    const { control } = this.#stage.service;
    // it may have been deleted in the meantime
    await (deletes ? control.remove(id) : control.patch(id, { description: "Somebody else's" })).catch(() => {});
  }
}

import { beforeAll, describe, expect, test } from "vitest";
import * as z from "zod";
import { kinds } from "../../../src/kinds/index.ts";
import { IPPolicy } from "../../../src/kinds/ip-policy.ts";
import { OWNER_KEY } from "../../../src/schema/contract.ts";
import { traitsOf } from "../../../src/schema/traits.ts";
import { type KubeJSON, nameOf } from "../../../tools/shared/objects.ts";
import { isOurs } from "../../support/kube.ts";
import { recordWrites } from "../../support/operator-in-worker.ts";
import {
  type Field,
  foreignRows,
  isChangeable,
  manifestOf,
  minimalSpecs,
  requiredObjects,
  type Sample,
  sampleObjects,
  samples,
} from "../../support/samples.ts";
import { waves } from "../../support/waves.ts";
import { useWorld } from "../../support/world.ts";

const world = useWorld();

const schemaOf = (kind: string, field: string): z.ZodType =>
  kinds.find((one) => one.kind === kind)?.spec.shape[field] as z.ZodType;

const changeable = (kind: (typeof kinds)[number]): string[] =>
  Object.keys(kind.spec.shape).filter((field) => isChangeable(schemaOf(kind.kind, field)));

const isOptional = (kind: string, field: string): boolean => schemaOf(kind, field) instanceof z.ZodOptional;

/** Whether the operator writes a Secret for an object with this spec. */
function writesSecret({ kind, spec }: Pick<Sample, "kind" | "spec">): boolean {
  const output = outputOf(kind);
  return output !== undefined && spec[output.field] !== undefined;
}

const outputOf = (kind: string) => kinds.find((one) => one.kind === kind)?.output;

/** Kinds whose remotes the operator creates; https-edge-routes.test.ts is about the others. */
const isWhole = ({ kind }: { kind: string }): boolean =>
  kinds.some((one) => one.kind === kind && one.location.type !== "modules");

const leastOf = Object.entries(minimalSpecs)
  .map(([kind, spec]) => ({ kind, name: "least", spec }))
  .filter(isWhole);

const statuses = new Map<string, KubeJSON>();
const statusOf = (kind: string, name: string): KubeJSON => statuses.get(`${kind}/${name}`);
const idOf = ({ kind, name }: Pick<Sample, "kind" | "name">): string => statusOf(kind, name).id;

const titled = <T extends { kind: string; name: string }>(list: readonly T[]) =>
  list.map((one) => [`${one.kind} ${one.name}`, one] as const);

/** A member of the remote as people mean it: the operator's own key in the metadata is not theirs. */
function shown(id: string, member: string): unknown {
  const value = world.simulator.control.get(id)?.[member];
  return member === "metadata" ? withoutOwner(value) : value;
}

function withoutOwner(metadata: unknown): unknown {
  if (typeof metadata !== "string" || !metadata.startsWith("{")) return metadata;
  const { [OWNER_KEY]: _, ...users } = JSON.parse(metadata);
  return Object.keys(users).length > 0 ? users : "";
}

/** Whether nothing is left of a value, in any of the ways a service says so. */
function isCleared(value: unknown): boolean {
  if (value === undefined || value === null || value === "") return true;
  if (typeof value !== "object") return false;
  return Object.keys(value).length === 0 || ("enabled" in value && value.enabled === false);
}

/** Somebody else sets the second value of a field, and keeps the owner mark: to put that back would be one more change. */
const meddle = (id: string, { request }: Field) =>
  world.simulator.control.patch(id, withOwnerOf(id, request(statusOf)));

function withOwnerOf(id: string, request: Record<string, unknown>): Record<string, unknown> {
  const [now, next] = [world.simulator.control.get(id)?.["metadata"], request["metadata"]].map(parsed);
  const owner = now?.[OWNER_KEY];
  return next && owner ? { ...request, metadata: JSON.stringify({ ...next, [OWNER_KEY]: owner }) } : request;
}

const parsed = (metadata: unknown): Record<string, unknown> | undefined =>
  typeof metadata === "string" && metadata.startsWith("{") ? JSON.parse(metadata) : undefined;

async function remember(objects: readonly KubeJSON[]): Promise<KubeJSON[]> {
  const ready = await world.allReady(objects);
  for (const { kind, metadata, status } of ready) statuses.set(`${kind}/${metadata.name}`, status);
  return ready;
}

test("every kind has samples with all of its fields, and a second value for each that can be changed", () => {
  for (const kind of kinds.filter(isWhole)) {
    const isOfKind = (one: { kind: string }) => one.kind === kind.kind;
    const all = sampleObjects.filter(isOfKind).flatMap(({ spec }) => Object.keys(spec));
    const changed = samples.filter(isOfKind).flatMap(({ fields }) => Object.keys(fields));
    expect(all, kind.kind).toEqual(expect.arrayContaining(Object.keys(kind.spec.shape)));
    expect(changed, kind.kind).toEqual(expect.arrayContaining(changeable(kind)));
  }
});

describe("objects of all kinds", () => {
  let everything: KubeJSON[] = [];

  beforeAll(async () => {
    for (const { collection, row } of foreignRows) world.simulator.control.insert(collection, row);
    await world.kube.apply(...requiredObjects);
    await remember(requiredObjects);
  });

  test("the minimal spec of each kind takes one request and two writes, and one for each Secret of the operator", async () => {
    const objects = leastOf.map(manifestOf);
    const before = await world.quiet();
    const reads = () => world.simulator.control.requests({ method: "GET" }).map(({ path }) => path);
    const earlier = reads().length;
    await world.kube.apply(...objects);
    await remember(objects);
    const after = await world.quiet();
    const read = reads().slice(earlier);
    const sent = after.requests - before.requests - read.length;
    // one list of each resource, in the life of a process
    expect(new Set(reads()).size).toBe(reads().length);
    const secrets = leastOf.filter(writesSecret);
    expect({ sent, writes: after.writes - before.writes }).toEqual({
      sent: objects.length,
      // The Secret of a value that is shown once is tried first, and the digest of the value is recorded before it.
      writes: 2 * objects.length + secrets.length + 2 * secrets.filter(({ kind }) => outputOf(kind)?.shownOnce).length,
    });
  });

  test("samples with every field, and the examples, are accepted and become Ready", async () => {
    await world.kube.apply(...sampleObjects);
    await remember(sampleObjects);
    everything = await world.kube.all();
    const objects = [...sampleObjects, ...requiredObjects, ...leastOf.map(manifestOf)].filter(isOurs);
    expect(everything).toHaveLength(new Set(objects.map(nameOf)).size);
    const creates = world.changesSent().filter(({ method }) => method === "POST");
    expect(creates).toHaveLength(everything.filter(isWhole).length);
  });

  test("a requested reconcile changes nothing, and writes only its answer", async () => {
    const before = await world.quiet();
    const sent = world.changesSent().length;
    await world.reconcileNow(...everything);
    const after = await world.quiet();
    expect(world.changesSent()).toHaveLength(sent);
    expect(after.writes - before.writes).toBe(everything.length);
  });

  test("a restart changes nothing and writes nothing", async () => {
    const sent = world.changesSent().length;
    await world.restartOperator();
    const { writes } = await world.quiet();
    expect(world.changesSent()).toHaveLength(sent);
    expect(writes).toBe(0);
  });

  describe("a field that another client changes in the account is corrected", () => {
    test.concurrent.each(titled(samples))("%s", async (_title, sample) => {
      const id = idOf(sample);
      for (const [field, how] of Object.entries(sample.fields)) {
        const { member } = how;
        const before = shown(id, member);
        expect(meddle(id, how)[member], field).not.toEqual(before);
        const [object] = await world.reconcileNow(manifestOf(sample));
        expect(shown(id, member), field).toEqual(before);
        expect(object.status.drift, field).toBeUndefined();
      }
      await toldOf(sample, "RemoteDiffers", Object.keys(sample.fields));
    });
  });

  describe("a field that is changed in the spec arrives with one request", () => {
    test.concurrent.each(titled(samples))("%s", async (_title, sample) => {
      const id = idOf(sample);
      let spec = sample.spec;
      const before = world.changesSent(id).length;
      for (const [field, how] of Object.entries(sample.fields)) {
        const { other, member } = how;
        const old = shown(id, member);
        spec = { ...spec, [field]: other };
        await applied({ ...sample, spec });
        const arrived = shown(id, member);
        expect(arrived, field).not.toEqual(old);
        // what is there is what the words of a request would have made
        meddle(id, how);
        expect(shown(id, member), field).toEqual(arrived);
      }
      await world.reconcileNow(manifestOf(sample));
      const sent = world.changesSent(id).slice(before);
      expect(sent.map(({ method }) => method)).toEqual(Object.keys(sample.fields).map(() => "PATCH"));
    });
  });

  describe("a field that is removed from the spec is cleared", () => {
    test.concurrent.each(titled(samples))("%s", async (_title, sample) => {
      const id = idOf(sample);
      const optional = Object.entries(sample.fields).filter(([field]) => isOptional(sample.kind, field));
      let spec = { ...sample.spec, ...Object.fromEntries(optional.map(([field, { other }]) => [field, other])) };
      const before = world.changesSent(id).length;
      for (const [field, { member }] of optional) {
        expect(isCleared(shown(id, member)), field).toBe(false);
        const { [field]: _removed, ...rest } = spec;
        spec = rest;
        await applied({ ...sample, spec });
        const { unset } = traitsOf(schemaOf(sample.kind, field));
        if (unset?.onCreate === undefined) expect(shown(id, member), field).toSatisfy(isCleared);
        else expect(shown(id, member), field).toEqual(unset.onCreate);
      }
      await world.reconcileNow(manifestOf(sample));
      expect(world.changesSent(id).length - before).toBe(optional.length);
    });
  });

  describe("a field that the spec never set stays as another client has set it", () => {
    test.concurrent.each(titled(leastOf))("%s", async (_title, object) => {
      const id = idOf(object);
      const fields = samples
        .filter(({ kind }) => kind === object.kind)
        .flatMap((sample) => Object.entries(sample.fields));
      for (const [field, how] of fields.filter(([name]) => isOptional(object.kind, name))) {
        meddle(id, how);
        const foreign = shown(id, how.member);
        const [now] = await world.reconcileNow(manifestOf(object));
        expect(shown(id, how.member), field).toEqual(foreign);
        expect(now.status.drift, field).toBeUndefined();
      }
      expect(world.changesSent(id)).toEqual([]);
    });
  });

  test("deletion takes one request and one write for each object and a few lists, and leaves nothing", async () => {
    // A certificate policy that another client has set may still wait for its certificate.
    await world.allReady(everything);
    const before = await world.quiet();
    const written = recordWrites();
    const retained = everything.filter(({ spec }) => spec.deletionPolicy === "Retain");
    // delete the needed objects last: modules that are switched off, or that others have set, still refer to them
    const isNeeded = ({ kind, metadata }: KubeJSON) =>
      requiredObjects.some((one) => one.kind === kind && one.metadata.name === metadata.name);
    const others = waves(everything.filter((object) => !isNeeded(object)));
    for (const wave of [...others, ...waves(everything.filter(isNeeded))]) {
      await Promise.all(wave.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
      await Promise.all(wave.map(({ kind, metadata }) => world.gone(kind, metadata.name)));
    }
    const after = await world.quiet();
    const sent = world.simulator.control
      .requests()
      .slice(-(after.requests - before.requests))
      .filter(({ path }) => !path.startsWith("/edges/https/"));
    const gone = everything
      .filter((object) => isWhole(object) && !retained.includes(object))
      .map(({ status }) => `DELETE ${status.id.split("/").at(-1)}`);
    const changes = sent.filter(({ method }) => method !== "GET");
    expect(changes.map(({ method, path }) => `${method} ${path.split("/").at(-1)}`).sort()).toEqual(gone.sort());
    // one list of each kind for each wave of deletions, to see what uses the remotes
    const lists = sent.filter(({ method }) => method === "GET").map(({ path }) => path);
    for (const path of new Set(lists)) {
      expect(lists.filter((one) => one === path).length, path).toBeLessThanOrEqual(others.length + 1);
    }
    // An event about each deleted policy tells that routes without an object may have used it.
    const policies = gone.filter((one) => one.startsWith(`DELETE ${IPPolicy.resource.idPrefix}`));
    expect(written.toSorted()).toEqual([...everything.map(finalized), ...policies.map(() => "POST events 201")].sort());
    expect(after.writes - before.writes).toBe(written.length);
    const left = [...retained.map(({ status }) => status.id), ...foreignRows.map(({ id }) => id)];
    for (const id of left) world.simulator.control.remove(id);
    expect(world.simulator.control.accountIsEmpty()).toBe(true);
  });
});

/** The write that removes the finalizer of an object. */
const finalized = ({ kind, metadata }: KubeJSON): string =>
  `PATCH ${kinds.find((one) => one.kind === kind)?.plural}/${metadata.name} 200`;

async function applied(sample: Sample): Promise<void> {
  await world.kube.apply(manifestOf(sample));
  await world.allReady([manifestOf(sample)]);
}

/** Waits until events of the object name each of these fields. */
async function toldOf({ kind, name }: Sample, reason: string, fields: readonly string[]): Promise<void> {
  await world.until(`events of ${kind} ${name} about ${fields.join(", ")}`, async () => {
    const events = (await world.kube.list("Event")).filter(
      (event) => event.reason === reason && event.regarding.kind === kind && event.regarding.name === name,
    );
    return fields.every((field) => events.some(({ note }) => note.includes(`spec.${field}`)));
  });
}

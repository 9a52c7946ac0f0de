import type * as z from "zod";
import { kinds } from "../../../src/kinds/index.ts";
import type { Kind } from "../../../src/schema/define.ts";
import { traitsOf } from "../../../src/schema/traits.ts";
import { targetKindsOf } from "../../../src/schema/wire/needs.ts";
import type { SceneOptions } from "./scene.ts";
import { Stage } from "./stage.ts";

export interface Scenario {
  options?: SceneOptions;
  /** The kinds for which there is such a thing. Default: all. */
  only?: (kind: Kind) => boolean;
  run: (stage: Stage) => Promise<void>;
}

export type Verb = "create" | "update" | "delete";

/** One kind, or two, for each way in which remotes are found, compared, used and deleted. */
export const isTypical = ({ kind }: Kind): boolean =>
  [
    ...["APIKey", "IPPolicy", "ReservedDomain", "TCPEdge", "HTTPSEdgeRoute"],
    ...["CertificateAuthority", "TLSCertificate", "EventDestination", "EventSubscription", "EventSource"],
  ].includes(kind);

export const isEditable = (kind: Kind): boolean => new Stage(kind).editable.length > 0;
export const isCollection = ({ location }: Kind): boolean => location.type === "collection";
export const isUpdated = (kind: Kind): boolean => isEditable(kind) && isCollection(kind);
export const hasNaturalKey = ({ naturalKey }: Kind): boolean => naturalKey !== undefined;
export const isReferredTo = (kind: Kind): boolean => kinds.some(({ spec }) => targetKindsOf(spec).includes(kind.kind));
export const readsSecrets = (kind: Kind): boolean => new Stage(kind).secretNames.length > 0;

/** Takes the first field that can be edited out of the spec. */
export const edit = (stage: Stage, change: Record<string, unknown> = {}): void => {
  stage.apply({ [stage.editable[0] ?? ""]: undefined, ...change });
};

/** Somebody else changes a field. */
export async function drift(stage: Stage): Promise<void> {
  const { kind, scene } = stage;
  const [member = ""] = kind.resource.update;
  const other = ["description", "metadata"].includes(member) ? "of somebody else" : null;
  scene.gateway.change(kind.resource, scene.idOf(stage.object), { [member]: other });
  await scene.resync(kind);
}

export async function drop({ kind, scene, object }: Stage): Promise<void> {
  scene.gateway.drop(kind.resource, scene.idOf(object));
  await scene.resync(kind);
}

export const remove = ({ scene, object }: Stage): void => scene.cluster.delete(object);

/** The object is deleted, and settles. `title`: of the line. */
export async function removed(stage: Stage, title = "deleted", limit?: number): Promise<void> {
  remove(stage);
  await stage.settle(title, limit);
}

export const annotate = ({ scene, object }: Stage, name: string, value = "true"): void =>
  scene.cluster.annotateByHand(object, name, value);

/** The object is restored without its status, and a new process reads it. */
export function loseStatus({ scene, object }: Stage): void {
  scene.cluster.loseStatus(object);
  scene.restart();
}

/** A remote that somebody else has made, as the object would have it, but with other metadata. */
export async function foreign(stage: Stage): Promise<string> {
  const { kind, scene, spec } = stage;
  const { naturalKey = "" } = kind;
  const { id } = scene.gateway.seed(kind.resource, { [naturalKey]: spec[naturalKey], metadata: "of somebody else" });
  await scene.clock.advance(600_000);
  return id;
}

export const refusals: Record<string, (scene: Stage["scene"], verb: Verb) => void> = {
  ...Object.fromEntries(
    [400, 401, 402, 403, 404, 405, 409, 422, 500].map((status) => [
      `is refused with ${status}`,
      ({ gateway }: Stage["scene"], verb: Verb) => gateway.refuse(verb, status),
    ]),
  ),
  "is refused with 429": ({ gateway }, verb) => gateway.refuse(verb, 429, { retryAfterSeconds: 7 }),
  "is redirected": ({ gateway }, verb) => gateway.refuse(verb, 302),
  "does not arrive": ({ gateway }, verb) => gateway.swallow(verb),
  "is not sent": ({ gateway }, verb) => gateway.swallow(verb, "unsent"),
  "gets no answer": ({ gateway }, verb) => gateway.loseAnswer(verb),
  "gets an answer that cannot be read": ({ gateway }, verb) => gateway.loseAnswer(verb, { kind: "unreadable" }),
};

export const begun: Record<Verb, (stage: Stage) => Promise<void> | void> = {
  create: async (stage) => {
    await stage.prepare();
    stage.apply();
  },
  update: async (stage) => {
    await stage.given();
    edit(stage);
  },
  delete: async (stage) => {
    await stage.given();
    remove(stage);
  },
};

export const refused = (verb: Verb, only: (kind: Kind) => boolean): Record<string, Scenario> =>
  Object.fromEntries(
    Object.entries(refusals).map(([title, refuse]) => [
      `the ${verb} ${title}`,
      {
        only,
        run: async (stage) => {
          await begun[verb](stage);
          refuse(stage.scene, verb);
          await stage.settle("first");
        },
      },
    ]),
  );

/** Kills the process before each request and write, one after the other, and starts another one. */
export const killed = (verb: Verb, only: (kind: Kind) => boolean): Record<string, Scenario> => ({
  [`the process is killed in the middle of: ${verb}`]: {
    only,
    run: async (stage) => {
      for (let count = 0; ; count += 1) {
        const one = new Stage(stage.kind);
        await begun[verb](one);
        one.killAfter(count);
        await one.look(`kill ${count + 1}`);
        if (one.isAlive) return;
        one.scene.restart();
        await one.settle("next process");
        stage.lines.push(...one.lines);
      }
    },
  },
});

/** Each step is done, and the object settles. Its title is that of the line. */
export const steps =
  (taken: Record<string, (stage: Stage) => Promise<unknown> | unknown>, given: Record<string, unknown> = {}) =>
  async (stage: Stage): Promise<void> => {
    await stage.given(given);
    for (const [title, step] of Object.entries(taken)) {
      await step(stage);
      await stage.settle(title);
    }
  };

/** A field that a create takes and an update does not, and that may be unset. */
export const createOnly = (kind: Kind): string | undefined =>
  new Stage(kind).optional.find((field) => traitsOf(kind.spec.shape[field] as z.ZodType).createOnly);

import type { Status } from "../../../src/objects/object.ts";
import type { KubeObject, ResourceType } from "../../../src/runtime/object.ts";
import { isReady } from "../../shared/objects.ts";
import { types } from "../objects.ts";
import { type MeasuredOperator, Stage, type StageSettings } from "../stage.ts";

/** A part of a schema in a definition. */
export interface Schema {
  properties?: Record<string, Schema>;
  default?: unknown;
  "x-kubernetes-validations"?: unknown;
  [member: string]: unknown;
}

export interface Definition extends KubeObject {
  spec: {
    group: string;
    names: { kind: string; plural: string; shortNames?: string[]; categories?: string[] };
    versions: { schema: { openAPIV3Schema: Schema }; selectableFields?: unknown }[];
    conversion?: unknown;
  };
}

/** What is written in the life of an object until it is Ready. Its name is that of the object everywhere in it. */
export interface Written {
  definition: Definition;
  /** Of the definition. */
  type: ResourceType;
  created: KubeObject;
  /** Added by the first patch of the operator. */
  metadata: { finalizers?: readonly string[]; annotations?: Record<string, string> };
  status: Status;
}

/** Lets an operator make an object of each kind, and resolves with what was written for them. */
export async function writtenBy(cluster: StageSettings["cluster"], operator: MeasuredOperator): Promise<Written[]> {
  const of = operator.types ?? types;
  await using stage = await Stage.open({ cluster, operator, latencyMs: 0 });
  const subjects = await stage.createSubjects(of.length);
  const ready = stage.watcher.until(subjects, isReady);
  await stage.startOperator();
  await ready;
  // the stage ends with this function
  return await Promise.all(
    subjects.map(async ({ type, object }): Promise<Written> => {
      const { metadata, status } = (await stage.client.get(type, object.metadata)) as KubeObject & { status: Status };
      const { finalizers = [], annotations } = metadata;
      const definition = await definitionOf(cluster, type);
      return {
        definition,
        type,
        created: object,
        status,
        metadata: { finalizers, ...(annotations && { annotations }) },
      };
    }),
  );
}

async function definitionOf({ kubectlRun }: StageSettings["cluster"], type: ResourceType): Promise<Definition> {
  const { stdout } = await kubectlRun(["get", "crd", `${type.plural}.${type.group}`, "--output=json"]);
  const { apiVersion, kind, metadata, spec } = JSON.parse(stdout) as Definition;
  delete spec.conversion;
  return { apiVersion, kind, metadata: { name: metadata.name }, spec };
}

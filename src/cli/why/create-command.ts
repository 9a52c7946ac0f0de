import { conditionOf, type ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { type Need, needsOf } from "../../schema/wire/needs.ts";
import { shellWord } from "../terminal/shell.ts";

type DataNeed = Extract<Need, { type: "secret" | "configMap" }>;

const resources = { secret: "Secret", configMap: "ConfigMap" } as const;

/** The command that creates the Secret or ConfigMap that the object waits for. Undefined: it waits for none. */
export function createCommandOf({ spec: schema }: Kind, object: ManagedObject): string | undefined {
  const messages = ["Ready", "Synced"]
    .map((type) => conditionOf(object.status, type))
    .flatMap((condition) => (condition?.status === "False" ? condition.message : []));
  const isMissing = ({ type, name }: DataNeed) =>
    messages.some((message) => message.startsWith(`Create ${resources[type]} "${name}"`));
  const needs = needsOf(schema, object.spec).filter((need): need is DataNeed => need.type !== "reference");
  const missing = needs.find(isMissing);
  if (!missing) return undefined;
  const keys = needs.filter(({ type, name }) => type === missing.type && name === missing.name).map(({ key }) => key);
  const target = `${shellWord(missing.name)} -n ${shellWord(object.metadata.namespace)}`;
  return `kubectl create ${commandFor(missing.type, target, new Set(keys))}`;
}

/** Values come from files: a value on the command line would stay in the history of the shell. */
function commandFor(type: DataNeed["type"], target: string, keys: ReadonlySet<string>): string {
  if (keys.has("tls.crt") && keys.has("tls.key")) return `secret tls ${target} --cert=FILE --key=FILE`;
  const values = [...keys].map((key) => `${shellWord(`--from-file=${key}`)}=FILE`).join(" ");
  return `${type === "secret" ? "secret generic" : "configmap"} ${target} ${values}`;
}

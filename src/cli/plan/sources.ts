import { GatewayError } from "../../gateway/errors.ts";
import type { Remote } from "../../gateway/resource.ts";
import { isReconcileError } from "../../objects/reconcile-error.ts";
import { readConfigMap, readSecret } from "../../operator/kubernetes/read-data.ts";
import type { AccountSource } from "../../plan/account-copy.ts";
import type { ClusterSource } from "../../plan/cluster-copy.ts";
import type { KubeClient } from "../../runtime/connection/client.ts";
import type { AccountReader } from "../account/reader.ts";
import { CommandError } from "../terminal/terminal.ts";
import type { Manifest } from "./manifests.ts";

/**
 * The account, from lists by the name of the resource, and from modules that are read when they are needed. A list that
 * is not in `byName` could not be read.
 */
export function accountSource(
  reader: AccountReader,
  byName: ReadonlyMap<string, readonly Remote[]>,
  problems: string[],
): AccountSource {
  const modules = new Map<string, Promise<object | null>>();
  const read: AccountSource["module"] = (module, owner) => {
    const key = JSON.stringify([module.path, owner]);
    const known = modules.get(key) ?? reader.module(module, owner);
    modules.set(key, known);
    return known;
  };
  return {
    async list({ name, path }) {
      const rows = byName.get(name);
      if (rows) return rows;
      throw unreadable(path);
    },
    async module(module, owner) {
      try {
        return await read(module, owner);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        problems.push(error.message);
        throw unreadable(module.path);
      }
    },
  };
}

const unreadable = (route: string): GatewayError =>
  new GatewayError({ kind: "unreadable", method: "GET", route, problem: "not read, see the message of the command" });

/** Secrets and ConfigMaps as the manifests say, else as the cluster has them. */
export function clusterSource(
  client: KubeClient,
  { manifests, namespace, problems }: { manifests: readonly Manifest[]; namespace: string; problems: string[] },
): ClusterSource {
  const given = (kind: string, where: string, name: string) =>
    manifests.find(
      ({ object }) =>
        object.kind === kind && object.metadata.name === name && (object.metadata.namespace ?? namespace) === where,
    )?.object;
  return {
    async secret(where, name) {
      const present = await readSecret(client, { namespace: where, name }).catch((error) => {
        if (!isReconcileError(error) || error.reason !== "Forbidden") throw error;
        problems.push(`You need the right to get Secret "${name}" in namespace ${where}`);
        throw error;
      });
      const manifest = given("Secret", where, name);
      if (!manifest) return present;
      const data = { ...present?.data, ...decoded(manifest["data"]), ...(manifest["stringData"] as Texts | undefined) };
      const isSame = present && Object.entries(data).every(([key, value]) => present.data[key] === value);
      const { annotations = {}, owners = [] } = present ?? {};
      return isSame ? present : { data, annotations, owners, resourceVersion: "as in the manifest" };
    },
    async configMap(where, name) {
      const present = await readConfigMap(client, { namespace: where, name });
      const manifest = given("ConfigMap", where, name);
      return manifest ? { ...present, ...(manifest["data"] as Texts | undefined) } : present;
    },
  };
}

type Texts = Record<string, string>;

const decoded = (data: unknown): Texts =>
  Object.fromEntries(
    Object.entries((data ?? {}) as Texts).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
  );

import { setTimeout as sleep } from "node:timers/promises";
import { stringify } from "yaml";
import type { Cluster } from "../cluster/cluster.ts";
import { examples } from "../shared/examples.ts";
import { conditionOf, isReady, type KubeJSON, manifest, nameOf } from "../shared/objects.ts";
import type { Control } from "../simulator/control/control.ts";

export interface Stage {
  readonly kubectl: Cluster["kubectlRun"];
  readonly control: Control;
  readonly namespace: string;
}

const TIMES = { poll: 1000, patience: 120_000 };

/** What the pictures show: a quiet time, edits, and a problem of each kind, which then ends. */
export async function story(stage: Stage, say: (line: string) => void): Promise<void> {
  const { control } = stage;
  const documents = await examples();
  say("objects of every kind");
  await apply(stage, documents);
  await until(stage, "all are Ready", documents, isReady);

  say("forty edits a wave, and a service that is asked too much");
  const policies = Array.from({ length: 40 }, (_, index) => manifest("IPPolicy", `team-${index}`, {}) as KubeJSON);
  control.fault({ path: "/ip_policies", times: 2, action: { rateLimit: { retryAfterSeconds: 2 } } });
  for (const description of ["first", "second"]) {
    const edited = policies.map((policy) => ({ ...policy, spec: { description } }));
    await apply(stage, edited);
    await until(stage, "all are synced", edited, isReady);
  }

  say("drift, a domain without its DNS record, a spec that is refused");
  const reported = manifest("IPPolicy", "reported", { description: "ours", driftPolicy: "Report" });
  const domain = manifest("ReservedDomain", "no-record", {
    domain: "no-record.dns-error.example",
    certificateManagementPolicy: { authority: "freeca" },
  });
  control.fault({ method: "POST", path: "/reserved_addrs", times: 1000, action: { status: 400 } });
  await apply(stage, [reported, domain, manifest("ReservedAddress", "refused", {})]);
  const [watched] = await until(stage, "it is there", [reported], isReady);
  control.patch(watched?.status.id, { description: "theirs" });
  for (const { id } of control.objects("ip_policies").slice(0, 3)) control.patch(String(id), { description: "theirs" });
  await until(stage, "the drift is seen", [reported], (object) => conditionOf(object, "Drifted")?.status === "True");
  await sleep(8000);
  control.clearFaults();

  say("an outage");
  control.outage(true);
  await sleep(10_000);
  control.outage(false);
  await apply(stage, [manifest("ReservedAddress", "refused", { description: "right" })]);
  await until(stage, "it is Ready", [manifest("ReservedAddress", "refused", {})], isReady);
  await sleep(8000);
}

async function apply({ kubectl, namespace }: Stage, objects: readonly object[]): Promise<void> {
  const input = objects.map((object) => stringify(object)).join("\n---\n");
  await kubectl(["apply", "--namespace", namespace, "--filename", "-"], { input });
}

/** Resolves with those of the objects that the operator manages, when all of them are as wanted. */
async function until(
  { kubectl, namespace }: Stage,
  what: string,
  objects: readonly object[],
  isSo: (object: KubeJSON) => boolean,
): Promise<KubeJSON[]> {
  const names = new Set(objects.filter((object) => "apiVersion" in object && isOurs(object)).map(nameOf));
  const deadline = performance.now() + TIMES.patience;
  for (;;) {
    const { stdout } = await kubectl(["get", "tunnelgateway", "--namespace", namespace, "--output", "json"]);
    const found = (JSON.parse(stdout).items as KubeJSON[]).filter((object) => names.has(nameOf(object)));
    if (found.length === names.size && found.every(isSo)) return found;
    if (performance.now() > deadline) throw new Error(`Not in ${TIMES.patience / 1000} s: ${what}`);
    await sleep(TIMES.poll);
  }
}

export const isOurs = ({ apiVersion }: KubeJSON): boolean => String(apiVersion).startsWith("tunnelgateway.dev/");

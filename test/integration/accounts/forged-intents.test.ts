import { beforeAll, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { customResources } from "../../../src/kinds/index.ts";
import { formatIntent, type Intent } from "../../../src/objects/intent.ts";
import { accessGrants } from "../../../src/schema/access.ts";
import { annotations, OWNER_KEY, STATE_SECRET } from "../../../src/schema/contract.ts";
import { conditionOf, type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import { useWorld } from "../../support/world.ts";

// An editor of a namespace, and somebody who restores a backup, write create intents. The namespace may not adopt. The
// kind is one of which no other test lists the leftovers, since an open create keeps all remotes that it may have made.

const world = useWorld({
  process: true,
  startOperator: false,
  env: { REQUEST_TIMEOUT: "2s", ADOPTION_NAMESPACES: "" },
});
const control = () => world.simulator.control;

/** The operator's own namespace, in which the editor has no rights. */
let home = "";
const start = (env: Readonly<Record<string, string>> = {}) => world.startOperator({ POD_NAMESPACE: home, ...env });

const { createIntent } = annotations;

/** Runs kubectl as somebody with Kubernetes' role edit in the namespace, and what the chart adds to it. */
const asEditor = (args: string[], input?: string) =>
  world.tryKubectl(["--as=editor", "--as-group=system:authenticated", ...args], input);

async function editorApplies(object: KubeJSON): Promise<void> {
  const { code, stderr } = await asEditor(["apply", "-f", "-"], stringify(object));
  expect({ code, stderr }).toMatchObject({ code: 0 });
}

beforeAll(async () => {
  home = await world.cluster.freshNamespace("home");
  const { edit, view } = accessGrants(customResources);
  const rules = [...view, ...edit].map(({ rule }) => rule);
  const subjects = [{ kind: "User", name: "editor", apiGroup: "rbac.authorization.k8s.io" }];
  const bound = (kind: string, name: string, ref: string) => ({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name },
    subjects,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind, name: ref },
  });
  await world.apply(
    { apiVersion: "rbac.authorization.k8s.io/v1", kind: "Role", metadata: { name: "ours" }, rules },
    bound("Role", "ours", "ours"),
    bound("ClusterRole", "edit", "edit"),
  );
  await start();
});

const opaque = (description: string) => ({ description, metadata: "a text that is no JSON" });
const backends = (description: string) =>
  control()
    .objects("backends/http_response")
    .filter((row) => row["description"] === description);
const theirs = (description: string) => control().insert("backends/http_response", opaque(description)) as KubeJSON;

const forged = (more: Intent = {}): string => formatIntent({ create: new Date().toISOString(), ...more });

const backend = (name: string, text?: string, description = name): KubeJSON =>
  manifest(
    "HTTPResponseBackend",
    name,
    { description },
    {
      ...(text !== undefined && { annotations: { [createIntent]: text } }),
    },
  ) as KubeJSON;

const ready = (name: string) => world.ready("HTTPResponseBackend", name);

async function deleted(name: string): Promise<void> {
  await world.kube.delete("HTTPResponseBackend", name);
  await world.gone("HTTPResponseBackend", name);
}

/** A create that the service carries out, and whose operator is killed before it hears of that. */
async function interrupted(name: string): Promise<KubeJSON> {
  control().fault({ method: "POST", path: "/backends/http_response", action: { hang: "after" } });
  await world.kube.apply(backend(name));
  const made = await world.until("it is made", async () => backends(name)[0]);
  await world.operator.stop("SIGKILL");
  return made as KubeJSON;
}

describe("an editor of a namespace", () => {
  test("can write no status, and read no key", async () => {
    await world.kube.apply(backend("status"));
    await ready("status");
    const patch = ["patch", "httpresponsebackend", "status", "--subresource=status", "--type=merge", "-p"];
    const status = await asEditor([...patch, JSON.stringify({ status: { id: "bkdhr_theirs", origin: "Created" } })]);
    expect(status.code).not.toBe(0);
    expect(status.stderr).toMatch(/forbidden/);
    const key = ["get", "secret", STATE_SECRET, `--namespace=${home}`];
    const { stderr } = await world.cluster.kubectlRun([...key, "--as=editor"], { allowFailure: true });
    expect(stderr).toMatch(/forbidden/);
  });

  test("adopts nothing that has lost its owner mark, and deletes nothing, without the right to adopt", async () => {
    const remote = theirs("prized") as { id: string };
    await world.kube.apply(backend("marked"));
    const { status } = await ready("marked");
    const [cluster] = String(JSON.parse(control().get(status.id)?.["metadata"] as string)[OWNER_KEY]).split("/");
    const owner = `${cluster}/${world.namespace}/unmarked`;
    await editorApplies(backend("unmarked", forged({ unmarked: { id: remote.id, owner } })));
    const stalled = { type: "Ready", status: "False", reason: "AlreadyExists" };
    const object = await world.condition("HTTPResponseBackend", "unmarked", stalled);
    expect(conditionOf(object, "Ready")?.message).toContain(remote.id);
    await deleted("unmarked");
    expect(control().get(remote.id)).toMatchObject(opaque("prized"));
  });

  test("adopts nothing by equal values", async () => {
    theirs("alike");
    await editorApplies(backend("like", forged(), "alike"));
    await ready("like");
    expect(backends("alike")).toHaveLength(2);
    await deleted("like");
    expect(backends("alike")).toHaveLength(1);
  });

  test("gains nothing by copying the intent of another object whose create is open", async () => {
    const made = await interrupted("original");
    const { metadata } = (await world.kube.get("HTTPResponseBackend", "original")) as KubeJSON;
    const given = metadata.annotations;
    await editorApplies(backend("copy", given[createIntent], "original"));
    await world.kube.patch("HTTPResponseBackend", "original", {
      metadata: { annotations: { [annotations.paused]: "true" } },
    });
    await start();
    const copy = await ready("copy");
    expect(copy.status.id).not.toBe(made.id);
    await deleted("copy");
    await world.kube.annotate("HTTPResponseBackend", "original", { [annotations.paused]: null });
    expect((await ready("original")).status.id).toBe(made.id);
  });
});

describe("an object from a backup, without its status", () => {
  test("finds its remote in its own cluster, under its own name, with another uid", async () => {
    await world.kube.apply(backend("restored"));
    const { status, metadata } = await ready("restored");
    await world.operator.stop("SIGKILL");
    await world.kube.patch("HTTPResponseBackend", "restored", { metadata: { finalizers: null } });
    await world.kube.delete("HTTPResponseBackend", "restored");
    const given = metadata.annotations;
    await world.kube.apply(backend("restored", given[createIntent]));
    await start();
    const now = await ready("restored");
    expect(now.status.id).toBe(status.id);
    expect(now.metadata.uid).not.toBe(metadata.uid);
  });

  test("adopts nothing in another cluster", async () => {
    await world.kube.apply(backend("moved"));
    const { status, metadata } = await ready("moved");
    await world.operator.stop("SIGKILL");
    await world.kube.patch("HTTPResponseBackend", "moved", { metadata: { finalizers: null } });
    await world.kube.delete("HTTPResponseBackend", "moved");
    const given = metadata.annotations;
    await world.kube.apply(backend("moved", given[createIntent]));
    await start({ CLUSTER_ID: "another" });
    const now = await ready("moved");
    expect(now.status.id).not.toBe(status.id);
    await deleted("moved");
    expect(control().get(status.id)).toBeDefined();
    await world.restartOperator({ POD_NAMESPACE: home });
  });
});

test("the operator's own secret appears in no output", async () => {
  const secret = ["get", "secret", STATE_SECRET, `--namespace=${home}`, "-o", "jsonpath={.data.key}"];
  const { stdout: key } = await world.cluster.kubectlRun(secret);
  expect(Buffer.from(key, "base64")).toHaveLength(32);
  const printed = world.operator.lines.join("\n");
  for (const encoding of ["base64", "base64url", "hex"] as const)
    expect(printed).not.toContain(Buffer.from(key, "base64").toString(encoding));
});

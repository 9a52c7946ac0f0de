import { expect, test } from "vitest";
import { customResources, kinds } from "../../src/kinds/index.ts";
import { Blocked, type ReconcileError, Retry, Waiting } from "../../src/objects/reconcile-error.ts";
import { nextStatus } from "../../src/reconcile/status/report.ts";
import { API_VERSION, annotations } from "../../src/schema/contract.ts";
import { isMadeByOperator } from "../../src/schema/define.ts";
import { examples } from "../../tools/shared/examples.ts";
import { conditionOf, type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { secret } from "../support/samples.ts";
import { useWorld } from "../support/world.ts";
import { argoScripts, judge, type Verdict, words } from "./support/verdict.ts";

/**
 * What Flux and Helm (by kstatus) and Argo CD (by the script of examples/gitops) make of objects as a real operator
 * leaves them in a real cluster. The tests bring objects into a state and record them; the last one has all judged.
 */
const world = useWorld({
  startOperator: false,
  // provisioning ends when a test says so
  simulator: { certificates: { provisionMs: 3_600_000 } },
  // a route that is deleted after an outage waits until no request of before can arrive any more
  env: { SESSION_SYNC_INTERVAL: "1s", REQUEST_TIMEOUT: "5s" },
});
const control = () => world.simulator.control;

const READY = "Current Healthy";
const BUSY = "InProgress Progressing";
const STUCK = "Failed Degraded";

const recorded: { state: string; expected: string; object: KubeJSON }[] = [];

function record(state: string, expected: string, ...objects: KubeJSON[]): void {
  for (const object of objects) recorded.push({ state, expected, object: structuredClone(object) });
}

const conditions = (object: KubeJSON, ...types: string[]) =>
  Object.fromEntries(types.map((type) => [type, conditionOf(object, type)?.status]));
const isTrue = (type: string) => (object: KubeJSON) => conditionOf(object, type)?.status === "True";
const everything = await examples();
const managed = everything.filter(({ kind }) => kinds.some((one) => one.kind === kind));
const kindsOf = (objects: KubeJSON[]) => new Set(objects.map(({ kind }) => kind));

const annotateAll = (change: Record<string, string | null>) =>
  Promise.all(managed.map(({ kind, metadata }) => world.kube.annotate(kind, metadata.name, change)));
const current = async (objects: KubeJSON[]) =>
  Promise.all(objects.map(({ kind, metadata }) => world.kube.get(kind, metadata.name))) as Promise<KubeJSON[]>;

const account = manifest("GatewayAccount", "spare", { apiKeySecretRef: { name: "spare", key: "key" } }) as KubeJSON;
const command = (name: string, id: string): KubeJSON =>
  manifest("AgentCommand", name, { command: "Stop", sessionRef: { id } });

async function condition(object: KubeJSON, type: string, reason?: string): Promise<KubeJSON> {
  await world.kube.apply(object);
  return world.condition(object.kind, object.metadata.name, { type, ...(reason && { reason }) });
}

test("without an operator", async () => {
  await world.kube.apply(...everything, account, command("idle", "ts_nothing"));
  const objects = await current([...managed, account, command("idle", "ts_nothing")]);
  const made = customResources.filter((one) => !isMadeByOperator(one)).map(({ kind }) => kind);
  expect(kindsOf(objects)).toEqual(new Set(made));
  record("nobody looks at it", BUSY, ...objects);
  await world.kube.delete("AgentCommand", "idle");
});

test("while the service is away", async () => {
  control().outage(true);
  await world.startOperator();
  const out = (object: KubeJSON) => isTrue("Reconciling")(object);
  record("the service is out", BUSY, ...(await world.untilAll("all wait", managed, out)));
});

test("once the object is Ready", async () => {
  control().outage(false);
  await world.kube.apply(secret("spare", { key: world.simulator.apiKey }));
  const provisioned = await world.untilAll("provisioning", managed, (object) => {
    const waits = ["ReservedDomain", "AgentIngress"].includes(object.kind) && object.spec.certificateManagementPolicy;
    return waits ? conditionOf(object, "Ready")?.reason === "CertificateProvisioning" : isTrue("Ready")(object);
  });
  const certified = provisioned.filter((object) => !isTrue("Ready")(object));
  expect(kindsOf(certified)).toEqual(new Set(["ReservedDomain", "AgentIngress"]));
  record("its certificate is being provisioned", BUSY, ...certified);

  for (const [code, state] of [
    ["internal_error", "the authority has trouble"],
    ["dns_error", "its record is missing"],
  ] as const) {
    for (const { status } of certified) control().certificate(status.id, { state: code });
    record(state, BUSY, ...(await world.reconcileNow(...certified)));
  }
  for (const { status } of certified) {
    const now = control().get(status.id) as KubeJSON;
    const job = { ...now.certificate_management_status.provisioning_job, started_at: "2026-01-01T00:00:00Z" };
    control().patch(status.id, { certificate_management_status: { provisioning_job: job } });
  }
  record("its record has been missing for ten minutes", STUCK, ...(await world.reconcileNow(...certified)));
  for (const { status } of certified) control().certificate(status.id, { state: "issued" });

  await world.reconcileNow(...certified);
  record("it is there", READY, ...(await world.allReady(managed)), await world.ready("GatewayAccount", "spare"));
});

test("when the service goes away, and when it is back", async () => {
  control().outage(true);
  await annotateAll({ [annotations.reconcileRequestedAt]: "in vain" });
  const lost = (object: KubeJSON) => conditionOf(object, "Synced")?.status === "False";
  const objects = await world.untilAll("the outage is told", managed, lost);
  record("the service went away afterwards", READY, ...objects);
  control().outage(false);
  await world.reconcileNow(...managed);
});

test("when it is paused", async () => {
  await annotateAll({ [annotations.paused]: "true" });
  const objects = await world.untilAll("all are paused", managed, isTrue("Paused"));
  record("it is paused", "Current Suspended", ...objects);
  await world.kube.patch("IPPolicy", "office", { spec: { description: "edited" } });
  record("it is edited while it is paused", "InProgress Suspended", await world.kube.get("IPPolicy", "office"));
  await annotateAll({ [annotations.paused]: null });
  await world.allReady(managed);
});

test("when only a person can help", async () => {
  control().insert("reserved_domains", { domain: "taken.example.org" });
  const taken = manifest("ReservedDomain", "taken", { domain: "taken.example.org" }) as KubeJSON;
  record("there is another of its name", STUCK, await condition(taken, "Stalled", "AlreadyExists"));

  control().fault({ method: "POST", path: "/ip_policies", action: { status: 400, body: { msg: "no" } } });
  record("the spec is refused", STUCK, await condition(manifest("IPPolicy", "no", {}), "Stalled", "InvalidSpec"));

  const gone = manifest("IPPolicy", "gone", { adopt: { id: "ipp_nothing" } });
  record("what it adopts is missing", STUCK, await condition(gone, "Stalled", "RemoteMissing"));

  control().apiKeys.revoke(world.simulator.apiKey);
  const locked = manifest("ReservedAddress", "locked", {});
  record("the key is refused", STUCK, await condition(locked, "Stalled", "Unauthorized"));
  control().apiKeys.accept(world.simulator.apiKey);
  await world.ready("ReservedAddress", "locked");

  const id = String(control().addSession().id);
  control().fault({ method: "POST", path: `/tunnel_sessions/${id}`, action: { status: 400, body: { msg: "no" } } });
  record("a command has failed", STUCK, await condition(command("refused", id), "Failed"));
});

test("when a reference is missing", async () => {
  const backend = { backendRef: { kind: "TunnelGroupBackend", name: "nothing" } };
  const early = manifest("TCPEdge", "early", { backend });
  record("what it refers to is missing", BUSY, await condition(early, "Reconciling", "ReferenceNotReady"));

  const target = { monitoring: { apiKeyRef: { name: "nothing", key: "key" } } };
  const secretive = manifest("EventDestination", "secretive", { target });
  record("its Secret is missing", BUSY, await condition(secretive, "Reconciling", "SecretNotReady"));

  const keyless = manifest("GatewayAccount", "keyless", { apiKeySecretRef: { name: "nothing", key: "key" } });
  record("its Secret is missing", BUSY, await condition(keyless, "Reconciling", "SecretNotReady"));
  const parked = manifest("IPPolicy", "parked", { accountRef: { name: "keyless" } });
  record("its account has no key", BUSY, await condition(parked, "Reconciling", "AccountNotReady"));
});

test("when the remote differs from the spec", async () => {
  await world.kube.apply(manifest("IPPolicy", "watched", { description: "ours", driftPolicy: "Report" }) as KubeJSON);
  const { status } = await world.ready("IPPolicy", "watched");
  control().patch(status.id, { description: "theirs" });
  await world.kube.annotate("IPPolicy", "watched", { [annotations.reconcileRequestedAt]: "drift" });
  const drifted = await world.condition("IPPolicy", "watched", { type: "Drifted", status: "True" });
  record("drift is reported", READY, drifted);
});

test("of sessions, and of commands that have completed", async () => {
  const id = String(control().addSession().id);
  const session = await world.until("it is mirrored", async () =>
    (await world.kube.list("TunnelSession")).find((one) => one.status?.id === id),
  );
  record("it is online", READY, session);
  record("a command has been obeyed", READY, await condition(command("obeyed", id), "Complete"));
});

test("when it is deleted", async () => {
  control().outage(true);
  await Promise.all(managed.map(({ kind, metadata }) => world.kube.delete(kind, metadata.name)));
  const objects = await current(managed);
  record("it is being deleted", "Terminating Progressing", ...objects.filter(Boolean));
  expect(kindsOf(objects.filter(Boolean))).toEqual(new Set(kinds.map(({ kind }) => kind)));
  control().outage(false);
  await Promise.all(managed.map(({ kind, metadata }) => world.gone(kind, metadata.name)));
});

test("when the operator is gone, and the spec is edited", async () => {
  await world.operator.stop();
  const edited = await world.kube.patch("IPPolicy", "watched", { spec: { description: "later" } });
  expect(conditions(edited, "Ready")).toEqual({ Ready: "True" });
  record("it is edited, and nobody looks at it", BUSY, edited);
});

test("of any kind, after a reconcile with any outcome", () => {
  const now = Date.now();
  const ready = { type: "Ready", status: "True", reason: "Available", message: "", lastTransitionTime: "" } as const;
  for (const kind of kinds) {
    for (const [state, conditions] of [
      ["new", []],
      ["once ready, and edited", [{ ...ready, observedGeneration: 1 }]],
    ] as const) {
      const metadata = { name: state, namespace: "any", uid: "any", generation: 2 };
      const object = {
        apiVersion: API_VERSION,
        kind: kind.kind,
        metadata,
        spec: {},
        status: { conditions: [...conditions] },
      };
      const leaves = (error: ReconcileError) =>
        structuredClone({
          ...object,
          status: nextStatus(
            { kind, object, accountName: "", state: { next: {} }, changes: [] },
            { type: "unfinished", error },
            now,
          ),
        });
      record(`${state}, and waiting`, BUSY, leaves(new Waiting("ReferenceNotReady", "Create it")));
      record(`${state}, and tried again`, BUSY, leaves(new Retry("ServiceUnavailable", "Waiting")));
      record(`${state}, and blocked`, STUCK, leaves(new Blocked("InvalidSpec", "Correct the spec")));
    }
  }
});

const marks = (given: Verdict | undefined, action: string) => {
  const { value, error } = given?.scripts[action] ?? {};
  expect(error).toBeUndefined();
  return value?.metadata.annotations;
};
const offered = (given: Verdict | undefined) =>
  Object.entries((given?.scripts["discovery"]?.value ?? {}) as Record<string, { disabled: boolean }>)
    .filter(([, { disabled }]) => !disabled)
    .map(([name]) => name)
    .sort();
const paused = { [annotations.paused]: "true" };
const lookedAt = {
  [annotations.reconcileRequestedAt]: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/),
};

test("the actions of Argo CD request a reconcile, pause and resume", async () => {
  const scripts = await argoScripts();
  const [fresh, stopped] = await judge(
    [manifest("IPPolicy", "any", {}), manifest("IPPolicy", "any", {}, { annotations: { ...paused, mine: "kept" } })],
    scripts,
  );
  expect(offered(fresh)).toEqual(["pause", "reconcile"]);
  expect(offered(stopped)).toEqual(["resume"]);
  expect(marks(fresh, "pause")).toEqual(paused);
  expect(marks(stopped, "resume")).toEqual({ mine: "kept" });
  expect(marks(fresh, "reconcile")).toEqual(lookedAt);
});

test("a GatewayAccount can be reconciled, and a command paused until it has completed", async () => {
  const [checked] = await judge([account], await argoScripts("GatewayAccount"));
  expect(offered(checked)).toEqual(["reconcile"]);
  expect(marks(checked, "reconcile")).toEqual(lookedAt);

  const running = command("running", "ts_any");
  const held = { ...running, metadata: { ...running.metadata, annotations: paused } };
  const finished = { ...held, status: { completedAt: "2026-01-01T00:00:00Z" } };
  const [first, second, third] = await judge([running, held, finished], await argoScripts("AgentCommand"));
  expect([offered(first), offered(second), offered(third)]).toEqual([["pause"], ["resume"], []]);
  expect(marks(first, "pause")).toEqual(paused);
  expect(marks(second, "resume")).toBeUndefined();
});

test("kstatus and Argo CD agree with the state of each of these objects", async () => {
  const verdicts = await judge(
    recorded.map(({ object }) => object),
    await argoScripts(),
  );
  const row = (state: string, { kind, metadata }: KubeJSON, said: string) =>
    `${state}: ${kind} ${metadata.name}: ${said}`;
  const seen = recorded.map(({ state, object }, at) => row(state, object, words(object, verdicts[at])));
  expect(seen).toEqual(recorded.map(({ state, object, expected }) => row(state, object, expected)));
  expect(recorded.length).toBeGreaterThan(12 * kinds.length);
});

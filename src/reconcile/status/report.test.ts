import { describe, expect, it } from "vitest";
import { GatewayError } from "../../gateway/errors.ts";
import { kinds } from "../../kinds/index.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import { isSameStatus } from "../../objects/conditions.ts";
import { type Condition, conditionOf, type ManagedObject, type Status } from "../../objects/object.ts";
import { Blocked, type ReconcileError, Retry, Waiting } from "../../objects/reconcile-error.ts";
import { shownMessage } from "../../schema/columns.ts";
import { columnsOf } from "../../schema/common.ts";
import { annotations } from "../../schema/contract.ts";
import { type Readiness, usable } from "../../schema/define.ts";
import { readinessOf } from "../../schema/readiness.ts";
import type { Change, RemoteState } from "../context.ts";
import { appliedFields } from "../desired/desired.ts";
import { nextStatus, type Outcome } from "./report.ts";

const now = Date.parse("2026-01-01T12:00:00.500Z");
const earlier = "2026-01-01T10:00:00Z";

const condition = (type: string, status: Condition["status"], reason: string, observedGeneration = 2): Condition => ({
  type,
  status,
  reason,
  observedGeneration,
  message: `${type} was ${reason}`,
  lastTransitionTime: earlier,
});

/** An object at generation 2 with these conditions. */
function objectWith(conditions: Condition[], more: Status = {}, deleting = false): ManagedObject {
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: "ReservedDomain",
    metadata: {
      name: "a",
      namespace: "n",
      uid: "u",
      generation: 2,
      ...(deleting && { deletionTimestamp: earlier }),
    },
    spec: { domain: "a.example.com" },
    status: { observedGeneration: 2, conditions, ...more },
  };
}

const next = (
  object: ManagedObject,
  outcome: Outcome,
  state: Partial<RemoteState> = {},
  changes: Change[] = [],
): Status =>
  nextStatus({ kind: ReservedDomain, object, accountName: "", state: { next: {}, ...state }, changes }, outcome, now);

const settled = (readiness: Readiness = usable): Outcome => ({ type: "settled", readiness, conditions: [] });
const unfinished = (error: ReconcileError): Outcome => ({ type: "unfinished", error });

const waiting = unfinished(new Waiting("ReferenceNotReady", "Create it"));
const retrying = unfinished(new Retry("ServiceUnavailable", "Waiting for the service"));
const blocked = unfinished(new Blocked("InvalidSpec", "Correct the spec"));
const unauthorized = unfinished(new Blocked("Unauthorized", "Check the API key"));
const forbidden = unfinished(new Blocked("Forbidden", "Give the permission"));

const pendingDomain: Readiness = {
  state: "pending",
  reason: "CertificateProvisioning",
  message: "Waiting for the certificate",
  afterSeconds: 5,
};
const failing = (stalledAt: number): Readiness => ({
  state: "failing",
  reason: "CertificateDNSError",
  message: "Make the record",
  afterSeconds: 60,
  stalledAt,
});

const before = {
  unseen: [condition("Ready", "Unknown", "Pending", -1)],
  ready: [condition("Ready", "True", "Available"), condition("Synced", "True", "Available")],
  edited: [condition("Ready", "True", "Available", 1), condition("Synced", "True", "Available", 1)],
  stalled: [
    condition("Ready", "False", "InvalidSpec"),
    condition("Synced", "False", "InvalidSpec"),
    condition("Stalled", "True", "InvalidSpec"),
  ],
  reconciling: [
    condition("Ready", "False", "ServiceUnavailable"),
    condition("Synced", "False", "ServiceUnavailable"),
    condition("Reconciling", "True", "ServiceUnavailable"),
  ],
} satisfies Record<string, Condition[]>;

type Before = keyof typeof before;

interface Case {
  outcome: string;
  given: Outcome;
  /** The summary that is expected for each earlier state. */
  expected: Partial<Record<Before, string>> & { otherwise: string };
}

const cases: Case[] = [
  { outcome: "usable", given: settled(), expected: { otherwise: "True Synced" } },
  { outcome: "pending", given: settled(pendingDomain), expected: { otherwise: "False Synced Reconciling" } },
  {
    outcome: "failing, for a short time",
    given: settled(failing(now + 86_400_000)),
    expected: { otherwise: "False Synced Reconciling" },
  },
  { outcome: "failing, for too long", given: settled(failing(now)), expected: { otherwise: "False Synced Stalled" } },
  {
    outcome: "waiting",
    given: waiting,
    // Nothing was sent, so Synced stays as it was, unless Ready stays True: then only Synced can show the problem.
    expected: { ready: "True", edited: "False Synced Reconciling", otherwise: "False Reconciling" },
  },
  { outcome: "to be tried again", given: retrying, expected: { ready: "True", otherwise: "False Reconciling" } },
  { outcome: "blocked", given: blocked, expected: { otherwise: "False Stalled" } },
  { outcome: "blocked by the key", given: unauthorized, expected: { ready: "True", otherwise: "False Stalled" } },
  { outcome: "blocked by a permission", given: forbidden, expected: { ready: "True", otherwise: "False Stalled" } },
];

const states = Object.keys(before) as Before[];
const matrix = cases.flatMap(({ outcome, given, expected }) =>
  states.map((state) => ({ outcome, state, given, expected: expected[state] ?? expected.otherwise })),
);

/** The status of `Ready`, and the names of the other conditions that are True. */
function summary(status: Status): string {
  const also = ["Synced", "Reconciling", "Stalled"].filter((type) => conditionOf(status, type)?.status === "True");
  return [conditionOf(status, "Ready")?.status, ...also].join(" ");
}

describe("the conditions", () => {
  it.each(matrix)("of an object that was $state and is now $outcome are $expected", ({ state, given, expected }) => {
    expect(summary(next(objectWith(before[state]), given))).toBe(expected);
  });

  it.each(matrix)("never contradict each other: $state, then $outcome", ({ state, given }) => {
    const status = next(objectWith(before[state]), given);
    const types = status.conditions?.map(({ type }) => type) ?? [];
    expect(new Set(types).size).toBe(types.length);
    expect(types.includes("Reconciling") && types.includes("Stalled")).toBe(false);
    for (const type of ["Reconciling", "Stalled"]) {
      const one = conditionOf(status, type);
      if (one) expect(one).toMatchObject({ status: "True", reason: conditionOf(status, "Ready")?.reason });
    }
  });

  it.each(matrix)("are written once: $state, then $outcome", ({ state, given }) => {
    const object = objectWith(before[state]);
    const after = next(object, given);
    const later = nextStatus(
      { kind: ReservedDomain, object: { ...object, status: after }, accountName: "", state: { next: {} }, changes: [] },
      given,
      now + 60_000,
    );
    expect(later).toEqual(after);
    expect(isSameStatus(after, later)).toBe(true);
  });

  it("keep lastTransitionTime while their status stays the same", () => {
    const status = next(objectWith(before.stalled), retrying);
    expect(conditionOf(status, "Ready")).toMatchObject({ reason: "ServiceUnavailable", lastTransitionTime: earlier });
    expect(conditionOf(status, "Reconciling")?.lastTransitionTime).toBe("2026-01-01T12:00:00Z");
  });

  it("have the generation that was reconciled", () => {
    const status = next(objectWith(before.edited), settled());
    expect(status.observedGeneration).toBe(2);
    expect(status.conditions?.map(({ observedGeneration }) => observedGeneration)).toEqual([2, 2]);
  });

  it("do not say that an edit was sent while it waits", () => {
    const status = next(objectWith(before.edited), waiting);
    expect(conditionOf(status, "Synced")).toMatchObject({ status: "True", observedGeneration: 1 });
    expect(conditionOf(status, "Ready")).toMatchObject({ status: "False", observedGeneration: 2 });
  });

  it.each([
    ["InvalidSpec", "True"],
    ["QuotaExceeded", "True"],
    ["RemoteMissing", "False"],
    ["OwnershipConflict", "False"],
  ] as const)("after a refusal that means %s are Ready: %s", (reason, ready) => {
    const cause = new GatewayError({ kind: "refused", status: 400, method: "PUT", route: "/", problem: "no" });
    const status = next(objectWith(before.ready), unfinished(new Blocked(reason, "m", { cause })));
    expect(conditionOf(status, "Ready")?.status).toBe(ready);
    expect(conditionOf(status, "Synced")).toMatchObject({ status: "False", reason });
    const deleted = next(
      objectWith(before.ready, { id: "rd_1" }),
      unfinished(new Blocked(reason, "m", { cause })),
      {},
      [{ type: "Deleted", id: "rd_1" }],
    );
    expect(conditionOf(deleted, "Ready")?.status).toBe("False");
  });

  it("are not Ready when the remote is missing", () => {
    expect(summary(next(objectWith(before.ready), retrying, {}, [{ type: "Missing", id: "rd_1" }]))).toBe(
      "False Reconciling",
    );
    expect(summary(next(objectWith(before.ready), waiting, {}, [{ type: "Missing", id: "rd_1" }]))).toBe(
      "False Synced Reconciling",
    );
  });

  it("are not Ready when the remote was deleted to be created again, and are when a replaced one was", () => {
    const object = objectWith(before.ready, { id: "rd_2" });
    const ready = (...changes: Change[]) => conditionOf(next(object, retrying, {}, changes), "Ready")?.status;
    expect(ready({ type: "Deleted", id: "rd_2" })).toBe("False");
    expect(ready({ type: "Deleted", id: "rd_1" })).toBe("True");
    expect(ready({ type: "Adopted", id: "rd_2" })).toBe("True");
  });

  it.each([waiting, retrying])("are not Ready while the object is being deleted", (outcome) => {
    expect(conditionOf(next(objectWith(before.ready, {}, true), outcome), "Ready")?.status).toBe("False");
  });

  it("have messages of one line and at most 320 characters", () => {
    const long = unfinished(new Blocked("InvalidSpec", `first\n  second\t${"x".repeat(500)}`));
    const message = conditionOf(next(objectWith(before.unseen), long), "Ready")?.message ?? "";
    expect(message).toHaveLength(320);
    expect(message).toMatch(/^first second x+…$/);
  });

  it("keep the kind's own conditions when a later reconcile fails", () => {
    const certificate = condition("CertificateReady", "True", "Available");
    const drift = condition("Drifted", "True", "RemoteDiffers");
    const status = next(objectWith([...before.ready, certificate, drift], { drift: ["region"] }), retrying);
    expect(conditionOf(status, "CertificateReady")).toEqual(certificate);
    expect(conditionOf(status, "Drifted")).toEqual(drift);
    expect(status.drift).toEqual(["region"]);
  });

  it("report drift, and drop it when it is gone", () => {
    const drift = { fields: ["description"], reason: "RemoteDiffers", message: "Put it right" } as const;
    const drifted = next(objectWith(before.ready), settled(), { drift: { ...drift, fields: [...drift.fields] } });
    expect(drifted.drift).toEqual(["description"]);
    expect(conditionOf(drifted, "Drifted")).toMatchObject({ status: "True", reason: "RemoteDiffers" });
    expect(conditionOf(drifted, "Ready")?.message).toContain("differs from the spec in spec.");
    const gone = next({ ...objectWith([]), status: drifted }, settled());
    expect(gone.drift).toBeUndefined();
    expect(conditionOf(gone, "Drifted")).toBeUndefined();
  });
});

describe.each(kinds.map((kind) => ({ kind, title: kind.kind })))("a drifted $title", ({ kind }) => {
  const later = new Date(now + 86_400_000).toISOString();
  const certificate = { certificate: { id: "cert_1" }, not_after: later, valid_until: later };
  const drift: RemoteState["drift"] = { reason: "RemoteDiffers", message: "Put it right", fields: ["description"] };

  it.each([null, { authority: "freeca" }])("is not said to be as specified; managed certificate: %o", (policy) => {
    const answer = { id: "x_1", ...certificate, certificate_management_policy: policy };
    const { readiness } = readinessOf(kind, answer, {}, now);
    const object = objectWith(before.ready);
    const status = nextStatus(
      { kind, object, accountName: "", state: { next: {}, drift }, changes: [] },
      settled(readiness),
      now,
    );
    expect(conditionOf(status, "Ready")).toMatchObject({
      status: "True",
      message: "Exists in the account, and differs from the spec in spec.description",
    });
  });
});

describe("a paused object", () => {
  const paused: Outcome = { type: "paused" };

  it("keeps its status and adds Paused", () => {
    const object = objectWith(before.edited, { id: "rd_1", observedGeneration: 1 });
    const status = next(object, paused);
    expect(status).toMatchObject({ id: "rd_1", observedGeneration: 1 });
    const reported = expect.stringContaining("the edit after it is not applied");
    const kept = before.edited.map((one) => (one.type === "Ready" ? { ...one, message: reported } : one));
    expect(status.conditions?.slice(0, 2)).toEqual(kept);
    expect(conditionOf(status, "Paused")).toMatchObject({ status: "True", reason: "Paused" });
  });

  it.each([
    ["was not edited", before.ready],
    ["was not ready", before.stalled.map((one) => ({ ...one, observedGeneration: 1 }))],
  ])("keeps the message of Ready if it %s", (_, conditions) => {
    expect(conditionOf(next(objectWith(conditions), paused), "Ready")).toEqual(conditions[0]);
  });

  it("writes Paused once", () => {
    const object = objectWith(before.ready);
    const once = next(object, paused);
    expect(
      nextStatus(
        {
          kind: ReservedDomain,
          object: { ...object, status: once },
          accountName: "",
          state: { next: {} },
          changes: [],
        },
        paused,
        now + 1e6,
      ),
    ).toEqual(once);
  });

  it("drops Paused when it resumes", () => {
    const status = next({ ...objectWith([]), status: next(objectWith(before.ready), paused) }, settled());
    expect(conditionOf(status, "Paused")).toBeUndefined();
  });
});

describe("the rest of the status", () => {
  const known: Status = { id: "rd_1", cnameTarget: "x.example.net", appliedFields: ["domain"] };

  it("shows the members of the answer, and clears those that it lacks", () => {
    const remote = { id: "rd_1", created_at: earlier, domain: "a.example.com", cname_target: null };
    const status = next(objectWith([], known), settled(), { remote });
    expect(status).toMatchObject({ id: "rd_1", createdAt: earlier, domain: "a.example.com" });
    expect(status["cnameTarget"]).toBeUndefined();
  });

  it("keeps its fields when only the id of an answer was readable", () => {
    const status = next(objectWith([], known), retrying, { remote: { id: "rd_1" } });
    expect(status).toMatchObject({ id: "rd_1", cnameTarget: "x.example.net" });
  });

  it("has the id even when a later step fails", () => {
    expect(next(objectWith(before.unseen), retrying, { remote: { id: "rd_2" } }).id).toBe("rd_2");
  });

  it("keeps the id of a missing remote until a new one replaces it", () => {
    const status = next(objectWith(before.ready, known), retrying, {}, [{ type: "Missing", id: "rd_1" }]);
    expect(status.id).toBe(known.id);
    expect(status.appliedFields).toEqual(["domain"]);
  });

  it("has no empty lists", () => {
    const status = next(objectWith([], known), settled(), { next: { appliedFields: [], appliedSecrets: [] } });
    expect(status.appliedFields).toBeUndefined();
    expect(status.appliedSecrets).toBeUndefined();
    expect(next(objectWith([]), settled(), { next: { retiring: [] } }).retiring).toBeUndefined();
  });

  it("has what the reconcile found out, and nothing where that is the rule", () => {
    const moduleOrigins = { oidc: "Created" } as const;
    const found = { owner: "c1/n/a", outputSecret: "s", retiring: ["a", "b", "c"], moduleOrigins };
    const told = next(objectWith([]), settled(), { holds: false, next: found });
    expect(told).toMatchObject({ holds: false, ...found });
    const plain = { owner: "", outputSecret: "", moduleOrigins: {}, retiring: [] };
    const after = next({ ...objectWith([]), status: told }, settled(), { holds: true, next: plain });
    for (const field of ["holds", ...Object.keys(plain)]) expect(after[field], field).toBeUndefined();
    expect(next({ ...objectWith([]), status: told }, settled())).toMatchObject(told);
  });

  it("names the account of a remote, and none without a remote", () => {
    const inAccount = (accountName: string, status: Status = {}) =>
      nextStatus(
        { kind: ReservedDomain, object: objectWith([], status), accountName, state: { next: {} }, changes: [] },
        retrying,
        now,
      );
    expect(inAccount("shop", known).account).toBe("shop");
    expect(inAccount("shop").account).toBeUndefined();
    expect(inAccount("", { ...known, account: "shop" }).account).toBeUndefined();
  });

  it("has no digest after a request without a known outcome, and keeps it when nothing was sent", () => {
    const object = objectWith(before.ready, { appliedDigest: "old" });
    expect(next(object, retrying, { sent: true }).appliedDigest).toBeUndefined();
    expect(next(object, retrying).appliedDigest).toBe("old");
    expect(next(object, settled(), { sent: true, next: { appliedDigest: "new" } }).appliedDigest).toBe("new");
  });

  it("lists the drift that a reconcile found before it failed, or else that of before", () => {
    const object = objectWith(before.ready, { drift: ["description"] });
    const drift: RemoteState["drift"] = { reason: "RemoteDiffers", message: "Put it right", fields: ["region"] };
    expect(next(object, retrying, { drift }).drift).toEqual(["region"]);
    expect(next(object, retrying).drift).toEqual(["description"]);
  });

  it.each([
    [true, false],
    [false, undefined],
  ])("says that the object holds nothing once another one has the remote: %s", (isHandedOver, holds) => {
    const status = next(objectWith(before.ready, known), { type: "released", message: "m", isHandedOver });
    expect(status.holds).toBe(holds);
    expect(conditionOf(status, "Paused")).toMatchObject({ status: "True", reason: "Released", message: "m" });
  });

  it.each<[string, Outcome]>([
    ["paused", { type: "paused" }],
    ["released", { type: "released", message: "m", isHandedOver: false }],
  ])("does not show an edit as carried out while the object is %s", (_, outcome) => {
    const columns = { domain: "a.example.com" };
    const object = { ...objectWith(before.ready, { columns }), spec: { domain: "edited.example.com" } };
    expect(next(object, outcome).columns).toMatchObject(columns);
    expect(next(object, settled()).columns).toMatchObject({ domain: "edited.example.com" });
  });

  it.each([
    ["another remote", "rd_1", "spec.adopt.id has no effect: this object has rd_1, not rd_2"],
    ["the remote that it asks for", "rd_2", "as specified"],
  ])("says in Ready whether an adoption took effect, for an object that has %s", (_, id, words) => {
    const object = { ...objectWith([]), spec: { domain: "a.example.com", adopt: { id: "rd_2" } } };
    expect(conditionOf(next(object, settled(), { remote: { id } }), "Ready")?.message).toContain(words);
    expect(conditionOf(next({ ...object, status: { id } }, settled()), "Ready")?.message).toContain(words);
  });

  it.each([
    ["echoes reconcile-requested-at after a reconcile", settled(), "now"],
    ["echoes it where a person has to correct the account", unfinished(new Blocked("AccountMismatch", "m")), "now"],
    ["does not echo it after a failure", retrying, undefined],
  ])("%s", (_, outcome, echoed) => {
    const object = objectWith(before.ready);
    object.metadata.annotations = { [annotations.reconcileRequestedAt]: "now" };
    expect(next(object, outcome).lastHandledReconcileAt).toBe(echoed);
  });

  it("remembers the request that it has answered last", () => {
    const answered = objectWith(before.ready, { lastHandledReconcileAt: "before" });
    for (const outcome of [settled(), retrying]) expect(next(answered, outcome).lastHandledReconcileAt).toBe("before");
  });

  it("lists the applied fields in the order of the kind", () => {
    const spec = { region: null, domain: "a.example.com", description: "", deletionPolicy: "Retain" };
    expect(appliedFields(ReservedDomain, spec)).toEqual(["description", "domain"]);
  });

  it("is the same whether a member is undefined or missing", () => {
    expect(isSameStatus({ id: "a" }, { id: "a", drift: undefined } as never)).toBe(true);
    expect(isSameStatus(undefined, {})).toBe(true);
    expect(isSameStatus({ id: "a" }, { id: "b" })).toBe(false);
  });
});

describe("a certificate that ends while its object cannot be reconciled", () => {
  const ending = (seconds: number): Status => {
    const notAfter = new Date(now + seconds * 1000).toISOString();
    const valid = condition("CertificateReady", "True", "Available");
    const object = { ...objectWith([...before.ready, valid], { notAfter }), spec: { secretName: "shop" } };
    return nextStatus(
      { kind: TLSCertificate, object, accountName: "", state: { next: {} }, changes: [] },
      retrying,
      now,
    );
  };

  it("is reported as expired", () => {
    const ended = { status: "False", reason: "CertificateExpired" };
    expect(conditionOf(ending(-60), "CertificateReady")).toMatchObject({
      ...ended,
      message: 'Renew the certificate in Secret "shop": the certificate ended at 2026-01-01T11:59:00Z',
    });
    expect(conditionOf(ending(-60), "Ready")?.status).toBe("False");
  });

  it("is valid before its end", () => {
    expect(conditionOf(ending(60), "CertificateReady")?.status).toBe("True");
    expect(conditionOf(ending(60), "Ready")?.status).toBe("True");
  });
});

describe("the columns of kubectl get", () => {
  const reasonIn = (status: Status): string | undefined => status.columns?.["reason"];
  const drift: RemoteState["drift"] = { reason: "RemoteDiffers", message: "Change it", fields: ["description"] };
  const dnsReady = { type: "DNSReady", status: "False", reason: "DNSRecordMissing", message: "Make it" } as const;
  const renewal: Readiness = { state: "usable", reason: "CertificateRenewalFailing", message: "Look at it" };

  it.each<[string, string, Status]>([
    ["nothing failed", "Available", next(objectWith(before.ready), settled())],
    ["the service is away", "ServiceUnavailable", next(objectWith(before.ready), retrying)],
    ["the remote differs", "RemoteDiffers", next(objectWith(before.ready), settled(), { drift })],
    ["it is paused", "Paused", next(objectWith(before.ready), { type: "paused" })],
    ["it is paused before it was seen", "Paused", next(objectWith(before.unseen), { type: "paused" })],
    ["a renewal fails", "CertificateRenewalFailing", next(objectWith(before.ready), settled(renewal))],
    [
      "a renewal fails and the remote differs",
      "CertificateRenewalFailing",
      next(objectWith(before.ready), settled(renewal), { drift }),
    ],
    [
      "a DNS record is missing",
      "DNSRecordMissing",
      next(objectWith(before.ready), { type: "settled", readiness: usable, conditions: [dnsReady] }),
    ],
    [
      "nobody knows yet of a DNS record",
      "Available",
      next(objectWith(before.ready), {
        type: "settled",
        readiness: usable,
        conditions: [{ ...dnsReady, status: "Unknown" as const }],
      }),
    ],
    ["it is not ready", "InvalidSpec", next(objectWith(before.ready), blocked)],
    ["it is not ready and paused", "InvalidSpec", next(objectWith(before.stalled), { type: "paused" })],
  ])("have one reason: %s", (_, reason, status) => {
    expect(reasonIn(status)).toBe(reason);
    const reported = status.conditions?.filter((one) => one.reason === reason).map(({ message }) => message);
    expect(reported?.map((message) => shownMessage(columnsOf(ReservedDomain), message))).toContain(
      status.columns?.["message"],
    );
  });

  it("have values of the spec, but not of an edit during a pause", () => {
    const object = objectWith(before.ready, { columns: { domain: "before.example.com" } });
    expect(next(object, settled()).columns?.["domain"]).toBe("a.example.com");
    expect(next(object, { type: "paused" }).columns?.["domain"]).toBe("before.example.com");
  });
});

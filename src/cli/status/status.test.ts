import { expect, test } from "vitest";
import { IPPolicy } from "../../kinds/ip-policy.ts";
import { TCPEdge } from "../../kinds/tcp-edge.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { printed } from "../terminal/line.ts";
import { conclusionOf, renderStatus } from "./render.ts";
import { type Observed, summaryOf } from "./summary.ts";

const shown = (...args: Parameters<typeof renderStatus>): string =>
  printed(renderStatus(...args), args[2].hasColours === true);

const now = Date.parse("2026-01-10T12:00:00Z");

interface Given {
  reason?: string;
  stalledAt?: string;
  drift?: string;
  status?: Record<string, unknown>;
}

function object(kind: Kind, name: string, { reason, stalledAt, drift, status }: Given = {}): ManagedObject {
  const condition = (type: string, isTrue: boolean, why: string, lastTransitionTime = "2026-01-01T00:00:00Z") =>
    ({
      type,
      status: isTrue ? "True" : "False",
      reason: why,
      message: `Words about ${name}`,
      lastTransitionTime,
    }) as const;
  return {
    apiVersion: "tunnelgateway.dev/v1",
    kind: kind.kind,
    spec: {},
    metadata: { namespace: "team", name, uid: name, generation: 1 },
    status: {
      id: name,
      ...status,
      conditions: [
        condition("Ready", reason === undefined, reason ?? "Available"),
        ...(stalledAt ? [condition("Stalled", true, reason ?? "", stalledAt)] : []),
        ...(drift ? [condition("Drifted", true, "RemoteDiffers")] : []),
      ],
    },
  };
}

const lease = (namespace: string, holderIdentity: string, renewTime: string, said?: object) => ({
  apiVersion: "coordination.k8s.io/v1",
  kind: "Lease",
  metadata: {
    namespace,
    name: "tunnel-gateway-operator",
    ...(said && { annotations: { "tunnelgateway.dev/accounts": JSON.stringify(said) } }),
  },
  spec: { holderIdentity, renewTime, leaseDurationSeconds: 15 },
});

const said = {
  requestsPerMinute: 100,
  accounts: [
    { name: "team/second", requests: 61, problem: "Unauthorized" },
    { name: "", requests: 7, listed: "2026-01-10T11:57:00Z" },
  ],
};

const observed: Observed = {
  now,
  leases: [
    lease("gateway", "pod-1_a", "2026-01-10T11:59:55Z", said),
    lease("second", "pod-2_b", "2026-01-10T11:00:00Z"),
  ],
  accounts: [
    {
      apiVersion: "tunnelgateway.dev/v1",
      kind: "GatewayAccount",
      metadata: { namespace: "team", name: "second" },
      status: {
        conditions: [{ type: "Ready", status: "False", reason: "Unauthorized", message: "", lastTransitionTime: "" }],
      },
    },
  ],
  objects: new Map<Kind, ManagedObject[]>([
    [
      IPPolicy,
      [
        object(IPPolicy, "office"),
        object(IPPolicy, "home", { drift: "description" }),
        object(IPPolicy, "bad", { reason: "InvalidSpec", stalledAt: "2026-01-10T09:00:00Z" }),
        object(IPPolicy, "worse", { reason: "OwnershipConflict", stalledAt: "2026-01-10T11:58:00Z" }),
      ],
    ],
    [TCPEdge, []],
    [
      TLSCertificate,
      [
        object(TLSCertificate, "soon", { status: { notAfter: "2026-01-20T00:00:00Z" } }),
        object(TLSCertificate, "later", { status: { notAfter: "2027-01-20T00:00:00Z" } }),
        object(TLSCertificate, "unknown"),
      ],
    ],
  ]),
};

test.each([
  ["in a pipe", {}],
  ["at 80 columns", { columns: 80 }],
  ["at 160 columns, with colours", { columns: 160, hasColours: true }],
])("the screen %s", (_, terminal) => {
  expect(shown(summaryOf(observed), now, terminal)).toMatchSnapshot();
});

test("an object without a remote counts for the GatewayAccount `default` of its namespace", () => {
  const { status: _, ...fresh } = object(IPPolicy, "fresh");
  const metadata = { namespace: fresh.metadata.namespace, name: "default" };
  const accounts = [{ apiVersion: "tunnelgateway.dev/v1", kind: "GatewayAccount", metadata }];
  const summary = summaryOf({ ...observed, accounts, objects: new Map([[IPPolicy, [fresh]]]) });
  expect(summary.accounts.map(({ name, objects }) => [name, objects])).toEqual([["default", 1]]);
});

const ownAccount = (...leases: Observed["leases"]) => summaryOf({ ...observed, leases }).accounts[0];
const renewed = "2026-01-10T11:59:55Z";

test("the account of the operator's own credentials is shown as the leader reports it", () => {
  const traffic = { requestsInLastMinute: 7, requestsPerMinute: 100, lastList: "2026-01-10T11:57:00Z" };
  const leading = lease("gateway", "pod-1", renewed, said);
  expect(ownAccount(leading)).toMatchObject({ ready: "True", reason: "Available", ...traffic });
  const refused = lease("gateway", "pod-1", renewed, {
    requestsPerMinute: 0,
    accounts: [{ name: "", requests: 0, listed: "2026-01-10T11:57:00Z", problem: "Unauthorized" }],
  });
  expect(ownAccount(refused)).toMatchObject({ ready: "False", reason: "Unauthorized" });
});

test.each<[string, Observed["leases"]]>([
  ["an earlier version", [lease("gateway", "pod-1", renewed)]],
  ["a process that has ended", [lease("gateway", "pod-1", "2026-01-10T11:00:00Z", said)]],
  ["somebody else", [lease("gateway", "pod-1", renewed, { accounts: "none" })]],
  ["two operators, each of its own", [lease("gateway", "a", renewed, said), lease("second", "b", renewed, said)]],
])("nothing is derived from figures of %s", (_, leases) => {
  expect(ownAccount(...leases)).toEqual({ namespace: "", name: "", ready: "", reason: "", objects: 7 });
});

test("objects that need a person are shown oldest first, and the others counted", () => {
  const many = Array.from({ length: 15 }, (_, index) =>
    object(IPPolicy, `bad-${index}`, { reason: "InvalidSpec", stalledAt: `2026-01-10T10:${10 + index}:00Z` }),
  );
  const summary = summaryOf({ ...observed, objects: new Map([[IPPolicy, many]]) });
  expect(summary.attention.map(({ name }) => name).slice(0, 2)).toEqual(["bad-0", "bad-1"]);
  expect(shown(summary, now, {})).toMatch(/\nand 5 more: see -o json/);
});

type Conditions = NonNullable<NonNullable<ManagedObject["status"]>["conditions"]>;

/** An object with these conditions: type, status, reason, and since when. */
const having = (name: string, ...conditions: [string, "True" | "False", string, string][]): ManagedObject => ({
  ...object(IPPolicy, name),
  status: {
    id: name,
    conditions: conditions.map(([type, status, reason, lastTransitionTime]): Conditions[number] => ({
      type,
      status,
      reason,
      message: `Words about ${name}`,
      lastTransitionTime,
    })),
  },
});

const summaryWith = (...objects: ManagedObject[]) =>
  summaryOf({ ...observed, leases: [], accounts: [], objects: new Map([[IPPolicy, objects]]) });

test("paused objects are named, oldest first, and do not count among those that wait", () => {
  const summary = summaryWith(
    having("new", ["Ready", "True", "Available", renewed], ["Paused", "True", "Paused", "2026-01-10T11:00:00Z"]),
    having("old", ["Ready", "False", "Creating", renewed], ["Paused", "True", "Paused", "2026-01-08T12:00:00Z"]),
    having("resumed", ["Ready", "True", "Available", renewed], ["Paused", "False", "Running", renewed]),
  );
  expect(summary.paused.map(({ name, since }) => [name, since])).toEqual([
    ["old", "2026-01-08T12:00:00Z"],
    ["new", "2026-01-10T11:00:00Z"],
  ]);
  expect(summary.waiting).toEqual([]);
  expect(shown(summary, now, {})).toMatch(
    /Paused\n.*\nIPPolicy\/old +team +2d +Paused\nIPPolicy\/new +team +1h +Paused/,
  );
});

test("objects whose remotes somebody else has changed are named, with what has changed", () => {
  const ready: [string, "True", string, string] = ["Ready", "True", "Available", renewed];
  const summary = summaryWith(
    having("same", ready, ["Drifted", "False", "Available", renewed]),
    having("changed", ready, ["Drifted", "True", "RemoteDiffers", renewed]),
  );
  expect(summary.drifted.map(({ name, message }) => [name, message])).toEqual([["changed", "Words about changed"]]);
  expect(shown(summary, now, {})).toMatch(/IPPolicy\/changed +team +Words about changed/);
});

test("what is Ready and not synced is named, with its account, and all is not well", () => {
  const ready: [string, "True", string, string] = ["Ready", "True", "Available", renewed];
  const failing: [string, "False", string, string] = ["Synced", "False", "UnexpectedResponse", "2026-01-10T11:00:00Z"];
  const conditionsOf = (one: ManagedObject) => ({ conditions: one.status?.conditions ?? [] });
  const metadata = { namespace: "team", name: "second" };
  const account = { apiVersion: "tunnelgateway.dev/v1", kind: "GatewayAccount", metadata };
  const summary = summaryOf({
    ...observed,
    leases: [],
    accounts: [{ ...account, status: conditionsOf(having("account", ready, failing)) }],
    objects: new Map([
      [
        IPPolicy,
        [
          having("fine", ready, ["Synced", "True", "Available", renewed]),
          having("unlisted", ready, failing),
          having("stalled", ready, failing, ["Stalled", "True", "InvalidSpec", renewed]),
          having("paused", ready, failing, ["Paused", "True", "Paused", renewed]),
          having("waiting", ["Ready", "False", "Creating", renewed], failing),
        ],
      ],
    ]),
  });
  expect(summary.unsynced.map(({ name, reason }) => [name, reason])).toEqual([["unlisted", "UnexpectedResponse"]]);
  const about = { name: "second", ready: "False", reason: "UnexpectedResponse", since: "2026-01-10T11:00:00Z" };
  expect(summary.accounts.find(({ name }) => name === "second")).toMatchObject(about);
  expect(shown(summary, now, {})).toMatch(
    /Not synced.*\n.*\nIPPolicy\/unlisted +team +1h +UnexpectedResponse +Words about/,
  );
  expect(conclusionOf(summary, "namespace team").join("")).toContain("1 is not synced");
});

test("an account that cannot be reached is shown with the time since when, which its first failing object tells", () => {
  const summary = summaryWith(
    having("fine", ["Ready", "True", "Available", "2026-01-01T00:00:00Z"]),
    having("second", ["Synced", "False", "ServiceUnavailable", "2026-01-10T11:00:00Z"]),
    having("first", ["Synced", "False", "ServiceUnavailable", "2026-01-10T10:00:00Z"]),
    having("wrong", ["Ready", "False", "InvalidSpec", "2026-01-02T00:00:00Z"]),
  );
  expect(summary.accounts[0]).toMatchObject({
    ready: "False",
    reason: "ServiceUnavailable",
    since: "2026-01-10T10:00:00Z",
  });
  expect(shown(summary, now, {})).toContain("ServiceUnavailable for 2h");
});

test("a cluster without operator and objects shows nothing", () => {
  const empty = summaryOf({ now, leases: [], accounts: [], objects: new Map() });
  expect(shown(empty, now, {})).toBe("");
});

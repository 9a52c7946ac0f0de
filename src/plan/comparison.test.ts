import { beforeEach, expect, test } from "vitest";
import { keyPairs } from "../../test/fakes/reconcile/key-pairs.ts";
import { subjects } from "../../test/fakes/reconcile/random-subjects.ts";
import { Scene } from "../../test/fakes/reconcile/scene.ts";
import { EventDestination } from "../kinds/event-destination.ts";
import { IPPolicy } from "../kinds/ip-policy.ts";
import { ReservedAddress } from "../kinds/reserved-address.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import { TLSCertificate } from "../kinds/tls-certificate.ts";
import { TunnelGroupBackend } from "../kinds/tunnel-group-backend.ts";
import type { ManagedObject } from "../objects/object.ts";
import type { Kind } from "../schema/define.ts";
import { compareWithRemote } from "./comparison.ts";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
});

const compared = (kind: Kind, object: ManagedObject) =>
  compareWithRemote(
    kind,
    scene.cluster.now(object),
    scene.gateway.remote(kind.resource, scene.idOf(object)) ?? {},
    scene.cluster,
  );

const edit = (kind: Kind, object: ManagedObject, spec: ManagedObject["spec"]) =>
  scene.cluster.apply(kind, object.metadata.name, spec);

test("a settled object differs in nothing, and its owner mark is no field", async () => {
  const object = await scene.given(IPPolicy, "office", { description: "one" });
  expect(await compared(IPPolicy, object)).toEqual({ fields: [], problems: [] });
});

test("an edit, a change by another client, and unmanaged fields are distinguished", async () => {
  const object = await scene.given(TunnelGroupBackend, "db", { description: "one", labels: { app: "db" } });
  const id = scene.idOf(object);
  scene.gateway.change(TunnelGroupBackend.resource, id, {
    labels: { app: "web", more: "x" },
    metadata: '{"team":"shop"}',
  });
  edit(TunnelGroupBackend, object, { description: "two", labels: { app: "db" } });
  expect((await compared(TunnelGroupBackend, object)).fields).toEqual([
    { path: "description", state: "differs", spec: "two", account: "one" },
    { path: "metadata", state: "unmanaged", account: '{"team":"shop"}' },
    { path: "labels.app", state: "differs", spec: "db", account: "web" },
    { path: "labels.more", state: "differs", account: "x" },
  ]);
});

test("a field that the spec has dropped differs, and one that it never had does not", async () => {
  const object = await scene.given(IPPolicy, "office", { description: "one" });
  edit(IPPolicy, object, {});
  expect((await compared(IPPolicy, object)).fields).toEqual([
    { path: "description", state: "differs", account: "one" },
  ]);
  const other = await scene.given(IPPolicy, "home", {});
  scene.gateway.change(IPPolicy.resource, scene.idOf(other), { description: "by hand" });
  expect((await compared(IPPolicy, other)).fields).toEqual([
    { path: "description", state: "unmanaged", account: "by hand" },
  ]);
});

test("modules are compared by their members, and those of nobody are unmanaged", async () => {
  const policy = await scene.given(IPPolicy, "office", {});
  const object = await scene.given(TCPEdge, "ssh", { ipRestriction: { ipPolicyRefs: [{ name: "office" }] } });
  scene.gateway.change(TCPEdge.resource, scene.idOf(object), {
    ip_restriction: { enabled: false, ip_policies: [{ id: scene.idOf(policy) }] },
    backend: { enabled: true, backend: { id: "bkdtg_1" } },
  });
  expect((await compared(TCPEdge, object)).fields).toEqual([
    { path: "backend.enabled", state: "unmanaged", account: true },
    { path: "backend.backend_id", state: "unmanaged", account: "bkdtg_1" },
    { path: "ip_restriction.enabled", state: "differs", spec: true, account: false },
  ]);
});

test("a reference to a missing object is a problem, and hides nothing else", async () => {
  const object = await scene.given(TCPEdge, "ssh", { description: "one" });
  edit(TCPEdge, object, { description: "two", ipRestriction: { ipPolicyRefs: [{ name: "none" }] } });
  expect(await compared(TCPEdge, object)).toEqual({
    fields: [{ path: "description", state: "differs", spec: "two", account: "one" }],
    problems: ['Create IPPolicy "none" in this namespace: spec.ipRestriction.ipPolicyRefs[0] refers to it'],
  });
});

test("a value of a Secret is hidden, differs once the Secret has another one, and is never shown", async () => {
  scene.cluster.setSecret("key", { value: "canary" });
  const object = await scene.given(EventDestination, "logs", {
    format: "json",
    target: { monitoring: { apiKeyRef: { name: "key", key: "value" }, service: "one" } },
  });
  const path = "target.monitoring.api_key";
  expect((await compared(EventDestination, object)).fields).toEqual([{ path, state: "hidden", secret: true }]);
  scene.cluster.setSecret("key", { value: "canary too" });
  const { fields } = await compared(EventDestination, object);
  expect(fields).toEqual([{ path, state: "differs", secret: true }]);
  expect(JSON.stringify(fields)).not.toContain("canary");
});

test("a certificate that the account shows is compared by its text, and not shown", async () => {
  const [one, other] = keyPairs;
  scene.cluster.setSecret("tls", { ...one });
  const object = await scene.given(TLSCertificate, "web", { secretName: "tls" });
  const states = async () => (await compared(TLSCertificate, object)).fields.map(({ path, state }) => [path, state]);
  expect(await states()).toEqual([["private_key_pem", "hidden"]]);
  scene.cluster.setSecret("tls", { ...other });
  expect(await states()).toEqual([
    ["certificate_pem", "differs"],
    ["private_key_pem", "differs"],
  ]);
  expect(JSON.stringify(await compared(TLSCertificate, object))).not.toContain("BEGIN");
});

test("a field that the service cannot change in place is marked", async () => {
  const object = await scene.given(ReservedAddress, "ssh", { region: "us" });
  scene.gateway.change(ReservedAddress.resource, scene.idOf(object), { region: "eu" });
  expect((await compared(ReservedAddress, object)).fields).toEqual([
    { path: "region", state: "differs", spec: "us", account: "eu", immutable: true },
  ]);
});

test("differences that the operator leaves as they are do not count", async () => {
  scene.cluster.setSecret("tls", { ...keyPairs[0] });
  const settled: { kind: Kind; object: ManagedObject }[] = [];
  for (const { kind, name, spec } of subjects) {
    const object = await scene.given(kind, name, spec(0));
    settled.push({ kind, object });
  }
  for (const { kind, object } of settled) {
    const { fields, problems } = await compared(kind, object);
    expect({ differing: fields.filter(({ state }) => state === "differs"), problems }).toEqual({
      differing: [],
      problems: [],
    });
  }
});

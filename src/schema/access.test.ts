import { expect, test } from "vitest";
import * as z from "zod";
import { customResources, kinds } from "../kinds/index.ts";
import {
  accessGrants,
  clusterGrants,
  commandGrants,
  dnsEndpointGrants,
  type Grant,
  operatorGrants,
  secretWatchGrants,
  secretWriteGrants,
  stateGrants,
} from "./access.ts";
import { customResourceOf } from "./common.ts";
import { STATE_SECRET } from "./contract.ts";
import type { CustomResource } from "./define.ts";

const rights = (grants: readonly Grant[]) =>
  grants.flatMap(({ rule }) => rule.resources.flatMap((resource) => rule.verbs.map((verb) => `${verb} ${resource}`)));

const everything = [operatorGrants, secretWriteGrants, clusterGrants, commandGrants].flatMap((grants) =>
  grants(customResources),
);

test("no right is granted by a wildcard, and Secrets are neither listed nor watched unless that is asked for", () => {
  const all = rights(everything);
  expect(all.filter((right) => right.includes("*"))).toEqual([]);
  expect(all.filter((right) => /^(list|watch|delete) secrets/.test(right))).toEqual([]);
  expect(rights(secretWatchGrants())).toEqual(["list secrets", "watch secrets"]);
  expect(rights(dnsEndpointGrants())).toEqual(
    ["get", "create", "patch", "delete"].map((verb) => `${verb} dnsendpoints`),
  );
});

test("no rule grants what another grants already", () => {
  const all = rights([
    ...operatorGrants(customResources),
    ...secretWriteGrants(customResources),
    ...clusterGrants(customResources),
  ]);
  expect(all.filter((right, index) => all.indexOf(right) !== index)).toEqual([]);
});

test("Secrets are written only where a kind says so, ConfigMaps read only where a field needs it", () => {
  const [plain] = kinds.filter(({ output }) => !output).map(customResourceOf);
  const all = (given: CustomResource[]) => [...operatorGrants(given), ...secretWriteGrants(given)];
  const of = (changes: Partial<CustomResource>) =>
    rights(all([{ ...(plain as CustomResource), spec: z.object({}), ...changes }]));
  expect(of({}).filter((right) => /secrets|configmaps/.test(right))).toEqual([]);
  expect(of({ secretAccess: ["create"] })).toContain("create secrets");
});

/** Why an editor of a namespace may write objects of these kinds: what they reach of remotes that they did not create. */
const harmless: Readonly<Record<string, string>> = {
  AgentIngress: "creates a domain of its own",
  CertificateAuthority: "uploads certificates, which serve nothing by themselves",
  EventSource: "adds a type to a subscription that an object of its namespace stands for, or that is given by id",
  EventSubscription: "sends events to destinations, which are not in the role",
  FailoverBackend: "uses backends, which any object of the account may",
  HTTPResponseBackend: "creates an answer of its own",
  IPPolicy: "creates a policy of its own",
  ReservedAddress: "creates an address of its own",
  ReservedDomain: "creates a domain of its own",
  TCPEdge: "creates an edge of its own",
  TLSCertificate: "uploads a certificate of its own",
  TLSEdge: "creates an edge of its own",
  TunnelGroupBackend: "publishes tunnels by label, which is use of a shared account",
  TunnelSession: "is written by the operator alone",
  WeightedBackend: "uses backends, which any object of the account may",
};

test("each kind declares a privilege, or this says why editors of a namespace may write it", () => {
  const unprivileged = customResources.filter(({ privilege }) => privilege === undefined).map(({ kind }) => kind);
  expect(unprivileged.toSorted()).toEqual(Object.keys(harmless));
});

test("no role for people may write a status or read Secrets", () => {
  const all = Object.values(accessGrants(customResources)).flatMap((grants) => rights(grants));
  expect(all.filter((right) => /\/|\*|secrets/.test(right))).toEqual([]);
});

test("in its own namespace the operator may read and change no Secret but that of its key", () => {
  const rules = stateGrants().map(({ rule: { verbs, resourceNames } }) => [verbs.join(), resourceNames?.join()]);
  expect(rules).toEqual([
    ["create", undefined],
    ["get,patch", STATE_SECRET],
  ]);
});

test("editors of a namespace do not get privileged kinds", () => {
  const { view, edit, account } = accessGrants(customResources);
  const privileged = customResources.filter(({ privilege }) => privilege).map(({ plural }) => plural);
  expect(privileged).toContain("eventdestinations");
  for (const plural of privileged) {
    expect(rights(edit).filter((right) => right.endsWith(` ${plural}`))).toEqual([]);
    expect(rights(account)).toContain(`create ${plural}`);
    expect(rights(view)).toContain(`list ${plural}`);
  }
  expect(rights(edit)).toContain("create tcpedges");
  expect(rights(edit)).not.toContain("create tunnelsessions");
});

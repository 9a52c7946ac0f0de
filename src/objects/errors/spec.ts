import { OWNER_KEY } from "../../schema/contract.ts";
import { withArticle } from "../../schema/nouns.ts";
import { blocked, waiting } from "./declare.ts";
import { type Unread, unreadText } from "./unread.ts";

// What is wrong with a spec, or with what it refers to. `path`: of a field, below spec.

export const ownerKeySet = blocked(
  "InvalidSpec",
  () => `Remove the key ${OWNER_KEY} from spec.metadata: the operator sets it itself`,
  {},
);

export const valueInvalid = blocked(
  "InvalidSpec",
  ({ path, problem }: { path: string; problem: string }) => `Correct spec.${path}: ${problem}`,
  { path: "caPem", problem: "it has no certificate in PEM" },
);

export const valueTwice = blocked(
  "InvalidSpec",
  ({ path, other, value }: { path: string; other: string; value: unknown }) =>
    `Take out spec.${path} or spec.${other}: both mean ${value}`,
  { path: "ipRestriction.ipPolicyRefs[0]", other: "ipRestriction.ipPolicyRefs[1]", value: "ipp_2b7Kq" },
);

export const tooDeep = blocked(
  "InvalidSpec",
  ({ path, most }: { path: string; most: number }) => `Nest spec.${path} less deep: a spec may have ${most} levels`,
  { path: "policy.inbound[0].actions[0].config", most: 100 },
);

export const numberTooLarge = blocked(
  "InvalidSpec",
  ({ path }: { path: string }) =>
    `Write spec.${path} as a text in quotes: a number larger than 2^53 would arrive as another one`,
  { path: "policy.inbound[0].actions[0].config.most" },
);

export const referenceUnnamed = blocked(
  "InvalidSpec",
  ({ path, kind }: { path: string; kind: string }) => `Set spec.${path}.name, the name of ${withArticle(kind)}`,
  { path: "backend.backendRef", kind: "TunnelGroupBackend" },
);

interface Reference {
  path: string;
  kind: string;
  name: string;
}

export const referenceMissing = waiting(
  "ReferenceNotReady",
  ({ path, kind, name, isDefined = true }: Reference & { isDefined?: boolean }) => {
    const way = isDefined
      ? `Create ${kind} "${name}" in this namespace`
      : `Install the definition of ${kind}, and create "${name}"`;
    return `${way}: spec.${path} refers to it`;
  },
  { path: "ipRestriction.ipPolicyRefs[0]", kind: "IPPolicy", name: "office" },
  { path: "ipRestriction.ipPolicyRefs[0]", kind: "IPPolicy", name: "office", isDefined: false },
);

export const referenceDeleted = waiting(
  "ReferenceNotReady",
  ({ path, kind, name }: Reference) => `Point spec.${path} elsewhere: ${kind} "${name}" is being deleted`,
  { path: "ipRestriction.ipPolicyRefs[0]", kind: "IPPolicy", name: "office" },
);

export const referenceAwaited = waiting(
  "ReferenceNotReady",
  ({ path, kind, name }: Reference) =>
    `Waiting for ${kind} "${name}", to which spec.${path} refers, to exist in the account`,
  { path: "addressRefs[0]", kind: "ReservedAddress", name: "ssh" },
);

export const referenceUnread = waiting("ReferenceNotReady", unreadText, {
  kind: "IPPolicy",
  namespaces: ["demo"],
  why: 'spec.ipRestriction.ipPolicyRefs[0] refers to "office"',
} satisfies Unread);

export const configMapMissing = waiting(
  "ReferenceNotReady",
  ({ path, name, key }: { path: string; name: string; key?: string | undefined }) => {
    const way =
      key === undefined
        ? `Create ConfigMap "${name}" in this namespace`
        : `Add key "${key}" with a value to ConfigMap "${name}"`;
    return `${way}: spec.${path} refers to it`;
  },
  { path: "caPemFrom.configMapKeyRef", name: "partners" },
  { path: "caPemFrom.configMapKeyRef", name: "partners", key: "ca.crt" },
);

interface Key {
  name: string;
  key: string;
}

export const configMapInvalid = waiting(
  "ReferenceNotReady",
  ({ name, key, problem }: Key & { problem: string }) => `Correct key "${key}" of ConfigMap "${name}": ${problem}`,
  { name: "partners", key: "ca.crt", problem: "it has no certificate in PEM" },
);

export const referencesInCycle = blocked(
  "ReferenceCycle",
  ({ cycle }: { cycle: string }) =>
    `Take one of these references out, at least until all objects exist in the account: each waits for the next, ${cycle}`,
  { cycle: "FailoverBackend one -> FailoverBackend two -> FailoverBackend one" },
);

/** `field`: what refers to the Secret, such as `spec.apiKeySecretRef`. */
export const secretMissing = waiting(
  "SecretNotReady",
  ({ name, field }: { name: string; field: string }) =>
    `Create Secret "${name}" in this namespace: ${field} refers to it`,
  { name: "monitoring", field: "spec.target.monitoring.apiKeyRef" },
);

export const keyMissing = waiting(
  "SecretNotReady",
  ({ name, key, field }: Key & { field: string }) => `Add key "${key}" to Secret "${name}": ${field} refers to it`,
  { name: "monitoring", key: "apiKey", field: "spec.target.monitoring.apiKeyRef" },
);

export const keyEmpty = waiting(
  "SecretNotReady",
  ({ name, key }: Key) => `Give key "${key}" of Secret "${name}" a value: it is empty`,
  { name: "monitoring", key: "apiKey" },
);

export const keyInvalid = waiting(
  "SecretNotReady",
  ({ name, key, problem }: Key & { problem: string }) => `Correct key "${key}" of Secret "${name}": ${problem}`,
  { name: "partners", key: "ca.crt", problem: "it has no certificate in PEM" },
);

export const secretInvalid = waiting(
  "SecretNotReady",
  ({ name, problem }: { name: string; problem: string }) => `Correct Secret "${name}": ${problem}`,
  { name: "shop-tls", problem: '"tls.key" is the key of no certificate in key "tls.crt"' },
  { name: "shop-tls", problem: "it has a temporary certificate until cert-manager gets the real one" },
);

export const secretNotOwn = blocked(
  "SecretNotReady",
  ({ name, field }: { name: string; field: string }) =>
    `Choose another spec.${field}: Secret "${name}" exists and is not this object's`,
  { name: "ci-token", field: "tokenSecretName" },
);

export const secretChanged = blocked(
  "SecretNotReady",
  ({ name, key, title }: Key & { title: string }) =>
    `Put the former value back into key "${key}" of Secret "${name}", or delete the Secret to get a new ${title}: somebody has changed the value`,
  { name: "ci-token", key: "token", title: "API key" },
);

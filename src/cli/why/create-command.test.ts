import { expect, test } from "vitest";
import { object } from "../../../test/fakes/cli/graph.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import type { Kind } from "../../schema/define.ts";
import { createCommandOf } from "./create-command.ts";

function waiting(kind: Kind, spec: Record<string, unknown>, message: string): ManagedObject {
  const given = object(kind, "one", { reason: "SecretNotReady", spec });
  const conditions = (given.status?.conditions ?? []).map((condition) => ({ ...condition, message }));
  return { ...given, status: { ...given.status, conditions } };
}

const oidc = { clientSecretRef: { name: "login", key: "secret" } };
const webhook = { provider: "p", secretRef: { name: "hook", key: "secret" } };

test.each<[string, Kind, Record<string, unknown>, string, string | undefined]>([
  [
    "a key pair",
    TLSCertificate,
    { secretName: "shop-tls" },
    'Create Secret "shop-tls" in this namespace: spec.secretName refers to it',
    "kubectl create secret tls shop-tls -n team --cert=FILE --key=FILE",
  ],
  [
    "one of two Secrets",
    HTTPSEdgeRoute,
    { oidc, webhookVerification: webhook },
    'Create Secret "hook" in this namespace: spec.webhookVerification.secretRef refers to it',
    "kubectl create secret generic hook -n team --from-file=secret=FILE",
  ],
  [
    "a Secret with several keys",
    HTTPSEdgeRoute,
    { oidc, webhookVerification: { provider: "p", secretRef: { name: "login", key: "hook" } } },
    'Create Secret "login" in this namespace: spec.oidc.clientSecretRef refers to it',
    "kubectl create secret generic login -n team --from-file=secret=FILE --from-file=hook=FILE",
  ],
  [
    "a ConfigMap",
    CertificateAuthority,
    { caPemFrom: { configMapKeyRef: { name: "ca", key: "ca.pem" } } },
    'Create ConfigMap "ca" in this namespace: spec.caPemFrom.configMapKeyRef refers to it',
    "kubectl create configmap ca -n team --from-file=ca.pem=FILE",
  ],
  [
    "a ConfigMap whose name and key a shell would take for commands",
    CertificateAuthority,
    { caPemFrom: { configMapKeyRef: { name: "ca;reboot", key: "$(id)" } } },
    'Create ConfigMap "ca;reboot" in this namespace: spec.caPemFrom.configMapKeyRef refers to it',
    "kubectl create configmap 'ca;reboot' -n team '--from-file=$(id)'=FILE",
  ],
  [
    "a key of a Secret",
    TLSCertificate,
    { secretName: "shop-tls" },
    'Add key "tls.key" to Secret "shop-tls"',
    undefined,
  ],
  ["another object", TLSCertificate, { secretName: "shop-tls" }, 'Create IPPolicy "shop-tls"', undefined],
])("%s", (_, kind, spec, message, command) => {
  expect(createCommandOf(kind, waiting(kind, spec, message))).toBe(command);
});

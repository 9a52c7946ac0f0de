import { blocked, retry, waiting } from "./declare.ts";
import type { Answer } from "./values.ts";

// What the Kubernetes API refuses, or does not answer. `answer`: its own words.

/** `what`: what was to be written, such as "the object". */
interface Refused extends Answer {
  what: string;
}

export const apiAwaited = retry("Pending", ({ answer }: Answer) => `Waiting for the Kubernetes API: ${answer}`, {
  answer: "the server is currently unable to handle the request",
});

export const rightMissing = retry(
  "Forbidden",
  ({ answer }: Answer) => `Grant the operator's service account the right: ${answer}`,
  { answer: 'secrets "monitoring" is forbidden' },
);

export const writeTooLarge = blocked(
  "WriteRefused",
  ({ what, answer }: Refused) => `Make ${what} smaller: ${answer}. Annotations of other tools often take the most`,
  { what: "the object", answer: "metadata.annotations: Too long: may not be more than 262144 bytes" },
  { what: "the object", answer: "etcdserver: request is too large" },
);

export const writeRefused = blocked(
  "WriteRefused",
  ({ what, answer }: Refused) => `Correct ${what}, or what refuses to let it be written: ${answer}`,
  { what: "the object", answer: 'admission webhook "policy.example.com" denied the request: no owner' },
);

/** `problem`: what is wrong with the annotation, with what to do (see objects/annotations.ts). */
export const annotationUnclear = blocked("InvalidAnnotation", ({ problem }: { problem: string }) => problem, {
  problem:
    'Write "true" or "false" in the annotation tunnelgateway.dev/orphan: "True" is neither, and the remote is not deleted until then',
});

/** `resource`: the name of the definition. */
export const dnsKindMissing = waiting(
  "DNSEndpointNotWritten",
  ({ resource }: { resource: string }) =>
    `Install the CustomResourceDefinition ${resource} of external-dns: the cluster has none`,
  { resource: "dnsendpoints.externaldns.k8s.io" },
);

export const dnsRightMissing = retry(
  "DNSEndpointNotWritten",
  ({ answer }: Answer) => `Grant the right with externalDNS.enabled or externalDNS.optIn in the chart: ${answer}`,
  { answer: "dnsendpoints.externaldns.k8s.io is forbidden" },
);

export const dnsEndpointRefused = retry(
  "DNSEndpointNotWritten",
  ({ answer }: Answer) => `Correct spec.dns.externalDNS: the Kubernetes API refuses ${answer}`,
  { answer: "metadata.labels: no label" },
);

export const dnsEndpointConflict = retry(
  "DNSEndpointNotWritten",
  () => "Waiting to write the DNSEndpoint again: somebody else has written it",
  {},
);

export const dnsEndpointAwaited = retry(
  "DNSEndpointNotWritten",
  ({ answer }: Answer) => `Waiting for the Kubernetes API: ${answer}`,
  { answer: "the server is currently unable to handle the request" },
);

export const dnsEndpointNotOwn = blocked(
  "DNSEndpointNotWritten",
  ({ name }: { name: string }) => `Rename this object: DNSEndpoint "${name}" exists and is not this object's`,
  { name: "reserveddomain-shop" },
);

import { annotations } from "../../../src/schema/contract.ts";
import { type KubeJSON, manifest } from "../../../tools/shared/objects.ts";
import type { Members } from "../../../tools/simulator/shape/members.ts";
import { authorityPem, tlsSecret } from "../../support/samples.ts";
import type { World } from "../../support/world.ts";
import { type Point, type StepName, typeOf } from "./steps.ts";

/** A kind whose remotes are replaced, one for each reason. */
export interface Replacement {
  /** The first part of the names of its objects. */
  readonly sort: string;
  readonly kind: string;
  /** The steps of a replacement, in order. */
  readonly steps: readonly StepName[];
  /** The object, with everything to which it refers. */
  readonly manifests: (name: string) => KubeJSON[];
  /** Causes the replacement of these objects' remotes. */
  readonly begin: (world: World, names: readonly string[]) => Promise<unknown>;
  /** The remotes of an object in the account. */
  readonly remotes: (world: World, name: string) => Members[];
  /** Whether a remote is the wanted one, and all referrers use it. */
  readonly isWanted: (world: World, name: string, row: Members) => Promise<boolean> | boolean;
  /** Whether the new remote is lost at this point, so that another one has to be created. */
  readonly isLost?: (point: Point) => boolean;
}

const described = (collection: string) => (world: World, name: string) =>
  world.simulator.control.objects(collection).filter(({ description }) => description === name);

/** Requests a reconcile, since no watch reports changes of Secrets. */
const annotate = (world: World, kind: string, names: readonly string[]) =>
  Promise.all(names.map((name) => world.kube.annotate(kind, name, { [annotations.reconcileRequestedAt]: "now" })));

const renewed = new Map<string, KubeJSON>();
const opaque = "a text that is no JSON";
const authorities = { one: authorityPem("One"), two: authorityPem("Two") };

const authority = (name: string, key: keyof typeof authorities): KubeJSON =>
  manifest("CertificateAuthority", name, {
    description: name,
    metadata: opaque,
    caPemFrom: { configMapKeyRef: { name, key } },
  });

/** Whether the service takes the token in the Secret of this object. */
export async function isAccepted(world: World, name: string): Promise<boolean> {
  const { data } = (await world.kube.get("Secret", name)) ?? {};
  const authorization = `Bearer ${Buffer.from(data?.token ?? "", "base64").toString()}`;
  const headers = { authorization, "svc-version": "2" };
  const { status } = await fetch(`${world.simulator.url}/ip_policies`, { headers });
  return status === 200;
}

/** Whether the answer with the token was lost, or the token was not written to the Secret. */
export const isTokenLost = ({ step, at }: Point): boolean =>
  step === "POST" ? at !== "before" : step === "write secret" && at === "before";

const subscription = (world: World, name: string): Members | undefined =>
  described("event_subscriptions")(world, `of ${name}`)[0];

export const replacements: readonly Replacement[] = [
  {
    // Found again by its mark. The domain moves between the second step and the last.
    sort: "certificate",
    kind: "TLSCertificate",
    steps: ["intent", "POST", "status", "DELETE"],
    manifests: (name) => [
      tlsSecret(name, { commonName: `${name}.example.org` }),
      manifest("TLSCertificate", name, { description: name, secretName: name }),
      manifest("ReservedDomain", `domain-${name}`, {
        description: `domain-${name}`,
        domain: `${name}.example.org`,
        certificateRef: { name },
      }),
    ],
    async begin(world, names) {
      for (const name of names) renewed.set(name, tlsSecret(name, { commonName: `${name}.example.org` }));
      await world.kube.apply(...names.map((name) => renewed.get(name)));
      await annotate(world, "TLSCertificate", names);
    },
    remotes: described("tls_certificates"),
    isWanted(world, name, row) {
      const [domain] = described("reserved_domains")(world, `domain-${name}`);
      const isServed = (domain?.["certificate"] as Members | null)?.["id"] === row["id"];
      return isServed && row["certificate_pem"] === renewed.get(name).stringData["tls.crt"];
    },
  },
  {
    // Found again by all values that were sent.
    sort: "authority",
    kind: "CertificateAuthority",
    steps: ["config map", "intent", "POST", "status", "DELETE"],
    manifests: (name) => [
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: authorities },
      authority(name, "one"),
    ],
    begin: (world, names) => world.kube.apply(...names.map((name) => authority(name, "two"))),
    remotes: described("certificate_authorities"),
    isWanted: (_world, _name, row) => row["ca_pem"] === authorities.two,
  },
  {
    // Found again by its mark, but useless without the value that is shown once.
    sort: "key",
    kind: "APIKey",
    steps: ["try secret", "intent", "POST", "write secret", "status", "DELETE"],
    manifests: (name) => [manifest("APIKey", name, { description: name, tokenSecretName: name })],
    async begin(world, names) {
      await Promise.all(names.map((name) => world.kube.delete("Secret", name)));
      await annotate(world, "APIKey", names);
    },
    remotes: described("api_keys"),
    isWanted: isAccepted,
    isLost: isTokenLost,
  },
  {
    // Found again by the id in the spec, which changes when the subscription is recreated.
    sort: "source",
    kind: "EventSource",
    steps: ["intent", "POST source", "status"],
    manifests: (name) => [
      manifest("EventSubscription", `of-${name}`, { description: `of ${name}` }),
      manifest("EventSource", name, { subscriptionRef: { name: `of-${name}` }, type: typeOf(name) }),
    ],
    async begin(world, names) {
      for (const name of names) world.simulator.control.remove(String(subscription(world, name)?.["id"]));
      const subscriptions = names.map((name) => `of-${name}`);
      await annotate(world, "EventSubscription", subscriptions);
    },
    remotes(world, name) {
      const { id, sources = [] } = subscription(world, name) ?? {};
      return (sources as Members[]).map(({ type }) => ({ id: `${id}/${type}` }));
    },
    isWanted: () => true,
  },
];

/** An object whose replacement is interrupted at a point. */
export interface ReplacementCase {
  readonly replacement: Replacement;
  readonly name: string;
  readonly point: Point;
}

export const replacementCases = (at: Point["at"], of: readonly Replacement[] = replacements): ReplacementCase[] =>
  of.flatMap((replacement) =>
    replacement.steps.map((step, index, steps) => {
      const name = `${replacement.sort}-${at}-${step}`.toLowerCase().replaceAll(" ", "-");
      return { replacement, name, point: { of: name, step, at, after: steps[index - 1] } };
    }),
  );

// The steps when a domain is deleted and created again, see kill-recreate.test.ts.
export const recreating = ["DELETE", "intent", "POST", "status"] as const satisfies readonly StepName[];
export const recordedRecreating = ["status", ...recreating] as const satisfies readonly StepName[];

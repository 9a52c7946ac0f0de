import { beforeEach, describe, expect, it } from "vitest";
import { keyPair } from "../../../test/fakes/reconcile/key-pairs.ts";
import { Scene } from "../../../test/fakes/reconcile/scene.ts";
import { CertificateAuthority } from "../../kinds/certificate-authority.ts";
import { EventDestination } from "../../kinds/event-destination.ts";
import { HTTPSEdgeRoute } from "../../kinds/https-edge-route.ts";
import { TLSCertificate } from "../../kinds/tls-certificate.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { annotations } from "../../schema/contract.ts";
import type { Kind } from "../../schema/define.ts";

const [first, second] = [keyPair("first")["tls.crt"], keyPair("second")["tls.crt"]];

/** The first line between the marks of a PEM. */
const bodyOf = (pem: string): string => pem.split("\n")[1] ?? "";

let scene: Scene;

beforeEach(() => {
  scene = new Scene();
  scene.cluster.setSecret("ca", { pem: first });
  scene.cluster.setSecret("tls", keyPair("first"));
});

/** With a text of the user's as metadata, which leaves no room for the owner mark: only the values tell who made it. */
const opaque = { description: "ours", metadata: "a text" };
const authority = (key = "pem") => ({ ...opaque, caPemFrom: { secretKeyRef: { name: "ca", key } } });
const certificate = { ...opaque, secretName: "tls" };

const intentNow = (object: ManagedObject) => scene.cluster.now(object).metadata.annotations?.[annotations.createIntent];

const unmarked: [string, Kind, ManagedObject["spec"]][] = [
  ["CertificateAuthority", CertificateAuthority, authority()],
  ["TLSCertificate", TLSCertificate, certificate],
];

describe.each(unmarked)("a %s whose values come from a Secret", (_, kind, spec) => {
  it("has none of them in its intent", async () => {
    const object = await scene.given(kind, "web", spec);
    expect(intentNow(object)).toContain("description");
    expect(intentNow(object)).not.toMatch(/ours|CERTIFICATE|PRIVATE/);
    for (const value of Object.values(keyPair("first"))) expect(intentNow(object)).not.toContain(bodyOf(value));
  });

  it("is found again after a create whose answer was lost, by its other members and what the Secret holds", async () => {
    const body = kind === TLSCertificate ? { certificate_pem: second } : { ca_pem: second };
    scene.gateway.seed(kind.resource, { ...opaque, ...body });
    const object = scene.cluster.apply(kind, "web", spec);
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    scene.restart();
    await scene.settle(object);
    expect(scene.gateway.calls.filter(({ verb }) => verb === "create")).toHaveLength(1);
    expect(scene.idOf(object)).toMatch(/_2$/);
    expect(scene.gateway.remotesOf(kind.resource)).toHaveLength(2);
  });

  it("is found again when the spec was edited meanwhile", async () => {
    const object = scene.cluster.apply(kind, "web", spec);
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    scene.restart();
    scene.cluster.apply(kind, "web", { ...spec, description: "edited" });
    await scene.settle(object);
    expect(scene.gateway.calls.filter(({ verb }) => verb === "create")).toHaveLength(1);
  });

  it("is found again, and deleted, when its Secret is gone", async () => {
    const object = scene.cluster.apply(kind, "web", spec);
    scene.gateway.loseAnswer("create");
    await scene.reconcile(object);
    scene.cluster.removeSecret("ca");
    scene.cluster.removeSecret("tls");
    scene.restart();
    await scene.deleteAndSettle(object);
    expect(scene.gateway.remotesOf(kind.resource)).toEqual([]);
    expect(scene.cluster.exists(object)).toBe(false);
  });
});

describe("an error", () => {
  it("tells the client whether the request had a value of a Secret", async () => {
    scene.cluster.setSecret("dd", { api: "key" });
    const target = { monitoring: { apiKeyRef: { name: "dd", key: "api" } } };
    const object = await scene.given(EventDestination, "dd", { target });
    await scene.apply(EventDestination, "dd", { target, description: "edited" });
    scene.cluster.setSecret("dd", { api: "newer" });
    await scene.reconcile(object);
    await scene.given(CertificateAuthority, "inline", { caPem: first });
    await scene.given(CertificateAuthority, "secret", authority());
    const changes = scene.gateway.everyCall.filter(({ verb }) => verb === "create" || verb === "update");
    expect(changes.map(({ resource, verb, confidential }) => `${resource} ${verb} ${confidential}`)).toEqual([
      "event_destinations create true",
      "event_destinations update false",
      "event_destinations update true",
      "certificate_authorities create false",
      "certificate_authorities create true",
      // The text that left no room for the owner mark.
      "certificate_authorities update false",
    ]);
  });

  it("is told module by module", async () => {
    scene.gateway.put(HTTPSEdgeRoute.resource, { id: "edghtsrt_1" });
    scene.cluster.setSecret("hook", { secret: "s" });
    await scene.given(HTTPSEdgeRoute, "r", {
      edgeId: "edghts_1",
      routeId: "edghtsrt_1",
      saml: { idpMetadata: "<x/>" },
      webhookVerification: { provider: "p", secretRef: { name: "hook", key: "secret" } },
    });
    const puts = scene.gateway.everyCall.filter(({ verb }) => verb === "putModule");
    expect(puts.map(({ resource, confidential }) => `${resource} ${confidential}`)).toEqual([
      "route_saml false",
      "route_webhook_verification true",
    ]);
  });
});

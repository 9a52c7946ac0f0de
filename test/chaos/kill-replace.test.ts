import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { annotations } from "../../src/kinds/contract.ts";
import type { Members } from "../simulator/resource/collection.ts";
import { tlsSecret } from "../support/samples.ts";
import { type KubeJSON, manifest } from "../support/world.ts";
import { type Point, useStage } from "./stage.ts";
import type { StepName } from "./steps.ts";

const stage = useStage();

/** What a renewal waits for, in order; between the second and the last, the domain moves. */
const steps = ["intent", "POST", "status", "DELETE"] as const satisfies readonly StepName[];

interface Case {
  readonly name: string;
  readonly point: Point;
}

const casesAt = (at: Point["at"]): Case[] =>
  steps.map((step) => {
    const name = `renewal-${at}-${step}`.toLowerCase();
    return { name, point: { of: name, step, at } };
  });

const renewed = ({ name }: Case): KubeJSON => tlsSecret(name, { commonName: `${name}.example.org` });

const objectsOf = ({ name }: Case): KubeJSON[] => [
  manifest("TLSCertificate", name, { description: name, secretName: name }),
  manifest("ReservedDomain", `domain-${name}`, {
    description: `domain-${name}`,
    domain: `${name}.example.org`,
    certificateRef: { name },
  }),
];

const rows = (collection: string, description: string): Members[] =>
  stage.world.simulator.control.objects(collection).filter((row) => row["description"] === description);

describe.each(["before", "after", "late"] as const)("killed %s a step of a replacement", (at) => {
  const cases = casesAt(at);
  let secrets: KubeJSON[] = [];

  beforeAll(async () => {
    await stage.world.apply(...cases.flatMap((one) => [renewed(one), ...objectsOf(one)]));
    await stage.start();
    await stage.allReady(cases.flatMap(objectsOf).map(({ metadata }) => metadata));
    secrets = cases.map(renewed);
    await stage.killAt(
      cases.map(({ point }) => point),
      async () => {
        await stage.world.apply(...secrets);
        await stage.world.kubectl(
          "annotate",
          "tlscertificates",
          "--all",
          "--overwrite",
          `${annotations.reconcileRequestedAt}=${at}`,
        );
      },
    );
    await stage.restart();
    await stage.world.until("the new one of each is left", async () => {
      const objects = await stage.objects();
      return cases.every(({ name }) => isThrough(name, objects.get(name)));
    });
    await stage.world.quiet();
  });

  afterAll(() => stage.clear());

  test.each(cases)("$name: one certificate at the end, and the domain has it", async ({ name }) => {
    const [certificate] = rows("tls_certificates", name);
    expect((await stage.objects()).get(name).status.id).toBe(certificate?.["id"]);
    const [domain] = rows("reserved_domains", `domain-${name}`);
    expect(domain?.["certificate"]).toMatchObject({ id: certificate?.["id"] });
    expect(stage.createsOf(name)).toBe(2);
  });

  function isThrough(name: string, { status }: KubeJSON): boolean {
    const pem = secrets.find(({ metadata }) => metadata.name === name).stringData["tls.crt"];
    const left = rows("tls_certificates", name).map((row) => row["certificate_pem"]);
    return left.length === 1 && left[0] === pem && status.retiring === undefined;
  }

  test("no certificate that a domain had was to be deleted", () => {
    const refused = stage.world.simulator.control.requests({ method: "DELETE", status: 400 });
    expect(refused.map(({ path }) => path)).toEqual([]);
  });
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import { useWorld } from "../support/world.ts";
import { type Helm, helmFor, succeeded } from "./support/helm.ts";

const chart = join(import.meta.dirname, "support/object-chart");
// provisioning ends when a test says so
const world = useWorld({ simulator: { certificates: { provisionMs: 3_600_000 } } });

let home: string;
let helm: Helm;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "helm-"));
  helm = await helmFor({ home, kubeconfig: world.cluster.kubeconfig });
});
afterAll(() => rm(home, { recursive: true }));

/** Installs a chart of one object, waits for it as Helm does, and removes it again. */
async function install(name: string, kind: string, spec: object, seconds = 10) {
  const object = `object=${JSON.stringify(manifest(kind, name, spec))}`;
  const place = ["--namespace", world.namespace];
  const answer = await helm(
    "install",
    name,
    chart,
    ...place,
    "--wait",
    "--timeout",
    `${seconds}s`,
    "--set-json",
    object,
  );
  await succeeded(helm("uninstall", name, ...place));
  return answer;
}

const isOf = (domain: string) => (row: { domain?: unknown }) => row.domain === domain;

test("helm --wait ends when an object is Ready", async () => {
  expect(await install("good", "ReservedAddress", { region: "us" })).toMatchObject({ code: 0 });
});

test("helm --wait fails at once, with our message, when only a person can help", async () => {
  const domain = "taken.example.org";
  world.simulator.control.insert("reserved_domains", { domain });
  const { code, stderr } = await install("stalled", "ReservedDomain", { domain }, 25);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("ReservedDomain") });
  expect(stderr).toContain("adopt");
  expect(stderr).not.toContain("deadline exceeded");
});

test("helm --wait fails at once, with the DNS record to create, when that has been missing for ten minutes", async () => {
  const domain = "shop.example.org";
  const installed = install("unresolved", "ReservedDomain", { domain, certificateManagementPolicy: {} }, 60);
  const { control } = world.simulator;
  const row = await world.until("it is reserved", async () => control.objects("reserved_domains").find(isOf(domain)));
  const id = String(row["id"]);
  control.certificate(id, { state: "dns_error" });
  const { certificate_management_status: status } = control.get(id) as KubeJSON;
  const job = { ...status.provisioning_job, started_at: "2026-01-01T00:00:00Z" };
  control.patch(id, { certificate_management_status: { provisioning_job: job } });

  const { code, stderr } = await installed;
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("ReservedDomain") });
  expect(stderr).toContain(`${domain} CNAME ${row["cname_target"]}`);
  expect(stderr).not.toContain("deadline exceeded");
});

test("helm --wait does not take an object for ready that no operator has reconciled", async () => {
  await world.operator.stop();
  const { code, stderr } = await install("alone", "ReservedAddress", { region: "us" }, 3);
  expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringContaining("alone") });
});

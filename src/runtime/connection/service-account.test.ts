import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { credentialsOf } from "./file-credentials.ts";
import { serviceAccount } from "./service-account.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "service-account-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

it("is read from its folder each time, since the kubelet renews the token", async () => {
  writeFileSync(join(folder, "token"), "old");
  writeFileSync(join(folder, "ca.crt"), "the CA");
  writeFileSync(join(folder, "namespace"), "team\n");
  const config = serviceAccount({ host: "10.0.0.1", port: "443" }, folder);
  expect(config).toMatchObject({ server: "https://10.0.0.1:443", namespace: "team" });
  if (!config) return;
  expect(await credentialsOf(config)).toEqual({
    headers: { Authorization: "Bearer old" },
    tls: { ca: Buffer.from("the CA") },
  });
  writeFileSync(join(folder, "token"), "new");
  expect((await credentialsOf(config)).headers).toEqual({ Authorization: "Bearer new" });
});

it("works with an IPv6 address", () => {
  writeFileSync(join(folder, "token"), "t");
  expect(serviceAccount({ host: "fd00::1", port: "6443" }, folder)?.server).toBe("https://[fd00::1]:6443");
});

it("is undefined outside of a pod", () => {
  expect(serviceAccount({ host: "10.0.0.1", port: "443" }, folder)).toBeUndefined();
});

import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { stringify } from "yaml";
import { loadConnection } from "./kubeconfig.ts";
import { pluginCredentials } from "./plugin-credentials.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "kubeconfig-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const pem = (text: string) => Buffer.from(text).toString("base64");

function write(user: object, cluster: object = {}, format: (config: object) => string = JSON.stringify): string {
  const file = join(folder, "config");
  const config = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "c", cluster: { server: "https://host:6443", "certificate-authority-data": pem("the CA"), ...cluster } },
    ],
    users: [{ name: "u", user }],
    contexts: [
      { name: "main", context: { cluster: "c", user: "u", namespace: "team" } },
      { name: "other", context: { cluster: "c", user: "u" } },
    ],
    "current-context": "main",
  };
  writeFileSync(file, format(config));
  return file;
}

describe("loadConnection", () => {
  it("does not take the cluster of the pod for the context that was named", () => {
    vi.stubEnv("HOME", folder);
    const inCluster = { host: "10.0.0.1", port: "443" };
    expect(() => loadConnection({ context: "green", inCluster })).toThrow("no kubeconfig with the context green");
  });

  it("takes server, namespace, CA and token from the current context", async () => {
    const connection = loadConnection({ kubeconfig: write({ token: "secret" }) });
    expect(connection).toMatchObject({ server: "https://host:6443", namespace: "team" });
    expect(await connection.credentials({ fresh: false })).toEqual({
      headers: { Authorization: "Bearer secret" },
      tls: { ca: Buffer.from("the CA") },
    });
  });

  it.each([["JSON", JSON.stringify] as const, ["YAML", stringify] as const])("reads %s", (_, format) => {
    const kubeconfig = write({}, {}, (config) => format(config));
    expect(loadConnection({ kubeconfig })).toMatchObject({ server: "https://host:6443", namespace: "team" });
  });

  it("takes another context when one is named", () => {
    expect(loadConnection({ kubeconfig: write({}), context: "other" }).namespace).toBeUndefined();
  });

  it("takes client certificates and the settings of TLS verification", async () => {
    const user = { "client-certificate-data": pem("cert"), "client-key-data": pem("key") };
    const kubeconfig = write(user, { "insecure-skip-tls-verify": true, "tls-server-name": "inner" });
    const { tls } = await loadConnection({ kubeconfig }).credentials({ fresh: false });
    expect(tls).toMatchObject({
      cert: Buffer.from("cert"),
      key: Buffer.from("key"),
      rejectUnauthorized: false,
      servername: "inner",
    });
  });

  it("takes user name and password as basic authentication", async () => {
    const { headers } = await loadConnection({ kubeconfig: write({ username: "ann", password: "pw" }) }).credentials({
      fresh: false,
    });
    expect(headers).toEqual({ Authorization: `Basic ${pem("ann:pw")}` });
  });

  it("talks plain http, as kubectl proxy serves it", async () => {
    const connection = loadConnection({ kubeconfig: write({}, { server: "http://127.0.0.1:8001" }) });
    await expect(connection.credentials({ fresh: false })).resolves.toMatchObject({ headers: {} });
  });

  it("runs the credential plug-in that the user entry names", async () => {
    const answer = {
      apiVersion: "client.authentication.k8s.io/v1",
      kind: "ExecCredential",
      status: { token: "from-exec" },
    };
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "echo", args: [JSON.stringify(answer)] };
    const { headers } = await loadConnection({ kubeconfig: write({ exec }) }).credentials({ fresh: false });
    expect(headers).toEqual({ Authorization: "Bearer from-exec" });
  });

  it("reads the file again when its credentials were refused", async () => {
    const connection = loadConnection({ kubeconfig: write({ token: "old" }) });
    write({ token: "new" });
    expect((await connection.credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer old" });
    expect((await connection.credentials({ fresh: true })).headers).toEqual({ Authorization: "Bearer new" });
  });

  it("prefers a token in a file, since it may be renewed", async () => {
    writeFileSync(join(folder, "token"), "from-file\n");
    const { credentials } = loadConnection({ kubeconfig: write({ token: "fixed", tokenFile: "token" }) });
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer from-file" });
    writeFileSync(join(folder, "token"), "renewed");
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer renewed" });
  });

  it("resolves paths from the folder of the kubeconfig", async () => {
    writeFileSync(join(folder, "ca.crt"), "CA of a file");
    const cluster = { "certificate-authority-data": undefined, "certificate-authority": "ca.crt" };
    const { tls } = await loadConnection({ kubeconfig: write({}, cluster) }).credentials({ fresh: false });
    expect(tls).toEqual({ ca: Buffer.from("CA of a file") });
  });

  it("merges several files, of which the first counts", async () => {
    const second = join(folder, "second");
    renameSync(write({ token: "second" }), second);
    const first = join(folder, "first");
    writeFileSync(first, "users: [{name: u, user: {token: first}}]\n");
    const { server, credentials } = loadConnection({ kubeconfig: [first, second].join(delimiter) });
    expect(server).toBe("https://host:6443");
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer first" });
  });

  it("says what is missing in a kubeconfig", () => {
    expect(() => loadConnection({ kubeconfig: write({}), context: "absent" })).toThrow("absent");
    const empty = join(folder, "empty");
    writeFileSync(empty, "");
    expect(() => loadConnection({ kubeconfig: empty })).toThrow("no current-context");
  });

  describe("the way to the API server", () => {
    const proxies = { https: new URL("http://proxy.example:3128"), noProxy: ".internal" };
    const hostOf = (cluster: object) => loadConnection({ kubeconfig: write({}, cluster), proxies }).proxy?.host;

    it("leads through the proxy of the environment, as that of kubectl does", () => {
      expect(hostOf({ server: "https://host:6443" })).toBe("proxy.example:3128");
      expect(hostOf({ server: "https://host.internal:6443" })).toBeUndefined();
      expect(hostOf({ server: "https://127.0.0.1:6443" })).toBeUndefined();
    });

    it("leads through the proxy that the kubeconfig names, whatever the environment says", () => {
      const cluster = { "proxy-url": "http://other:8080" };
      for (const server of ["https://host:6443", "https://host.internal:6443", "https://127.0.0.1:6443"])
        expect(hostOf({ ...cluster, server })).toBe("other:8080");
    });

    it("is not told with its password if it cannot be read", () => {
      const load = () => loadConnection({ kubeconfig: write({}, { "proxy-url": "http://user:hunter2@:bad" }) });
      expect(load).toThrow(/^Correct proxy-url in the kubeconfig/);
      expect(load).not.toThrow(/hunter2/);
    });
  });

  it("leaves impersonation to client-node", async () => {
    const { headers } = await loadConnection({ kubeconfig: write({ token: "t", as: "ann" }) }).credentials({
      fresh: false,
    });
    expect(headers).toEqual({ Authorization: "Bearer t", "Impersonate-User": "ann" });
  });

  it("impersonates groups as well, each in a header of its own", async () => {
    const user = { token: "t", as: "ann", "as-groups": ["one", "two"] };
    const { headers } = await loadConnection({ kubeconfig: write(user) }).credentials({ fresh: false });
    expect(headers).toEqual({
      Authorization: "Bearer t",
      "Impersonate-User": "ann",
      "Impersonate-Group": ["one", "two"],
    });
  });

  it("passes over a file that is missing among several, and no other", async () => {
    const there = write({ token: "t" });
    const missing = join(folder, "missing");
    const { credentials } = loadConnection({ kubeconfig: [missing, there].join(delimiter) });
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer t" });
    expect(() => loadConnection({ kubeconfig: missing })).toThrow(/ENOENT/);
    expect(() => loadConnection({ kubeconfig: [missing, `${missing}-too`].join(delimiter) })).toThrow(/None of these/);
  });

  const answering = (token: string) =>
    JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status: { token } });
  const exec = (command: string, ...args: string[]) => ({
    exec: { apiVersion: "client.authentication.k8s.io/v1", command, args },
  });

  it("runs the plug-in of the first of several users with one name", async () => {
    const second = join(folder, "second");
    renameSync(write(exec("echo", answering("second"))), second);
    const { credentials } = loadConnection({
      kubeconfig: [write(exec("echo", answering("first"))), second].join(delimiter),
    });
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer first" });
  });

  it("finds a plug-in with a relative path beside the kubeconfig", async () => {
    writeFileSync(join(folder, "plugin"), `#!/bin/sh\necho '${answering("beside")}'\n`, { mode: 0o755 });
    const { credentials } = loadConnection({ kubeconfig: write(exec("./plugin")) });
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer beside" });
  });

  // as client-go gives it: rest/exec.go and plugin/pkg/client/auth/exec
  it("tells a plug-in which cluster it is for, if the user entry asks for that, and that nobody can answer it", async () => {
    writeFileSync(join(folder, "plugin"), `#!/bin/sh\ncat\nprintf '%s' "$KUBERNETES_EXEC_INFO" >&2\nexit 1\n`, {
      mode: 0o755,
    });
    writeFileSync(join(folder, "ca.pem"), "the authority");
    const cluster = {
      server: "https://10.0.0.1:6443/",
      "certificate-authority": "ca.pem",
      "certificate-authority-data": "",
      "tls-server-name": "inner",
      "proxy-url": "http://proxy:3128",
      extensions: [{ name: "client.authentication.k8s.io/exec", extension: { audience: "prod" } }],
    };
    const told = async (more: object) => {
      const { credentials } = loadConnection({
        kubeconfig: write({ exec: { ...exec("./plugin").exec, ...more } }, cluster),
      });
      return JSON.parse(
        await credentials({ fresh: false }).then(
          () => "",
          (error) => error.message,
        ),
      );
    };
    const info = { kind: "ExecCredential", apiVersion: "client.authentication.k8s.io/v1" };
    expect(await told({})).toEqual({ ...info, spec: { interactive: false } });
    expect(await told({ provideClusterInfo: true })).toEqual({
      ...info,
      spec: {
        interactive: false,
        cluster: {
          server: "https://10.0.0.1:6443",
          "tls-server-name": "inner",
          "certificate-authority-data": pem("the authority"),
          "proxy-url": "http://proxy:3128",
          config: { audience: "prod" },
        },
      },
    });
  });

  it("runs a plug-in again that has failed, without a refusal of the server", async () => {
    const plugin = join(folder, "plugin");
    const { credentials } = loadConnection({ kubeconfig: write(exec(plugin)) });
    await expect(credentials({ fresh: false })).rejects.toMatchObject({ code: "ENOENT" });
    writeFileSync(plugin, `#!/bin/sh\necho '${answering("late")}'\n`, { mode: 0o755 });
    expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: "Bearer late" });
  });

  it("ends a plug-in that hangs", async () => {
    const credentials = pluginCredentials([write(exec("sleep", "600"))], undefined, 100);
    await expect(credentials({ fresh: false })).rejects.toThrow(/gave no answer in time/);
  });

  describe("with a token of an OIDC identity provider", () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const tokenFor = (seconds: number) =>
      `${encode({ alg: "none" })}.${encode({ exp: Math.floor(Date.now() / 1000) + seconds })}.signature`;
    const user = (token?: string) => {
      const config = { "idp-issuer-url": "https://idp.invalid", "client-id": "id", "refresh-token": "once" };
      return { "auth-provider": { name: "oidc", config: { ...config, ...(token && { "id-token": token }) } } };
    };

    it("sends the token until it expires", async () => {
      const token = tokenFor(600);
      const { headers } = await loadConnection({ kubeconfig: write(user(token)) }).credentials({ fresh: false });
      expect(headers).toEqual({ Authorization: `Bearer ${token}` });
    });

    it.each([
      ["has expired", tokenFor(-600)],
      ["is missing", undefined],
    ])("says how to renew one that %s, and does not use up the refresh token", async (_, token) => {
      const { credentials } = loadConnection({ kubeconfig: write(user(token)) });
      await expect(credentials({ fresh: false })).rejects.toThrow(/^Run a kubectl command .* OIDC token of user "u"/);
    });

    it("takes the one that kubectl has written meanwhile", async () => {
      const { credentials } = loadConnection({ kubeconfig: write(user(tokenFor(-600))) });
      await expect(credentials({ fresh: false })).rejects.toThrow("expired");
      const renewed = tokenFor(600);
      write(user(renewed));
      expect((await credentials({ fresh: false })).headers).toEqual({ Authorization: `Bearer ${renewed}` });
    });
  });

  it.each([
    ["tokenFile", "token", "\n"],
    ["client-certificate", "client.crt", ""],
  ])("rejects while %s is empty, since a request without it would be anonymous", async (member, name, empty) => {
    writeFileSync(join(folder, name), empty);
    const { credentials } = loadConnection({ kubeconfig: write({ [member]: name }) });
    await expect(credentials({ fresh: false })).rejects.toThrow(`${join(folder, name)} is empty`);
    writeFileSync(join(folder, name), "content");
    await expect(credentials({ fresh: false })).resolves.toBeDefined();
  });

  it("rejects, and does not crash, while a file is absent", async () => {
    const connection = loadConnection({ kubeconfig: write({ "client-certificate": join(folder, "absent.crt") }) });
    await expect(connection.credentials({ fresh: false })).rejects.toMatchObject({ code: "ENOENT" });
    writeFileSync(join(folder, "absent.crt"), "cert");
    await expect(connection.credentials({ fresh: false })).resolves.toMatchObject({
      tls: { cert: Buffer.from("cert") },
    });
  });
});

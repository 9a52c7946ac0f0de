import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { kubectlFor, kubectlOnPath } from "./kubectl.ts";

async function kubectl(body: string): Promise<{ directory: string; path: string }> {
  const directory = await mkdtemp(join(tmpdir(), "kubectl-"));
  onTestFinished(() => rm(directory, { recursive: true }));
  const path = join(directory, "kubectl");
  await writeFile(path, `#!/bin/sh\n${body}\n`);
  await chmod(path, 0o755);
  return { directory, path };
}

async function running(body: string) {
  const { path } = await kubectl(body);
  return kubectlFor({ kubectl: path, kubeconfig: "/the/kubeconfig" });
}

test("runs against the given cluster, with the given input", async () => {
  const run = await running('echo "$KUBECONFIG $*"; cat; echo warned >&2');
  expect(await run(["get", "pods"], { input: "in" })).toEqual({
    stdout: "/the/kubeconfig get pods\nin",
    stderr: "warned\n",
    code: 0,
  });
});

test("a failure is an error that does not repeat arguments, which may be secrets", async () => {
  const run = await running("echo not allowed >&2; exit 4");
  const failure = await run(["create", "secret", "--from-literal=token=hidden"]).catch((error: Error) => error);
  expect((failure as Error).message).toBe("kubectl create failed (exit 4): not allowed");
});

test("a failure may be allowed", async () => {
  const run = await running("echo some; exit 4");
  expect(await run(["get"], { allowFailure: true })).toEqual({ stdout: "some\n", stderr: "", code: 4 });
});

test("input that is not read is no failure", async () => {
  const run = await running("exec <&-; exit 0");
  expect(await run(["version"], { input: "x".repeat(1_000_000) })).toMatchObject({ code: 0 });
});

test("the first kubectl on the PATH is found", async () => {
  const { directory, path } = await kubectl("exit 0");
  expect(await kubectlOnPath(`/nowhere::${directory}`)).toBe(path);
  expect(await kubectlOnPath("/nowhere")).toBeUndefined();
});

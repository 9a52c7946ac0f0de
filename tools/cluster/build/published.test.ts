import { expect, test } from "vitest";
import { checksumIn, publishedFiles } from "./published.ts";

const kubernetes = { name: "kubernetes", version: "v1.35.4" } as const;
const kubectl = { name: "kubectl", version: "v1.35.4" } as const;
const etcd = { name: "etcd", version: "v3.6.16" } as const;

test("Kubernetes publishes its server for Linux", () => {
  expect(publishedFiles(kubernetes, { platform: "linux", arch: "arm64" }).map(({ url }) => url)).toEqual([
    "https://dl.k8s.io/v1.35.4/bin/linux/arm64/kube-apiserver",
    "https://dl.k8s.io/v1.35.4/bin/linux/arm64/kube-controller-manager",
    "https://dl.k8s.io/v1.35.4/bin/linux/arm64/kubectl",
  ]);
});

test("for macOS there are kubectl and etcd, but no API server", () => {
  const mac = { platform: "darwin", arch: "x64" } as const;
  expect(publishedFiles(kubernetes, mac)).toEqual([]);
  expect(publishedFiles(kubectl, mac)[0]?.url).toBe("https://dl.k8s.io/v1.35.4/bin/darwin/amd64/kubectl");
  expect(publishedFiles(etcd, mac)).toEqual([
    {
      binary: "etcd",
      url: "https://github.com/etcd-io/etcd/releases/download/v3.6.16/etcd-v3.6.16-darwin-amd64.zip",
      checksumURL: "https://github.com/etcd-io/etcd/releases/download/v3.6.16/SHA256SUMS",
      member: "etcd-v3.6.16-darwin-amd64/etcd",
    },
  ]);
});

test("etcd publishes archives with a list of checksums", () => {
  const [file] = publishedFiles(etcd, { platform: "linux", arch: "x64" });
  expect(file?.url).toMatch(/v3\.6\.16\/etcd-v3\.6\.16-linux-amd64\.tar\.gz$/);
  const sum = "a".repeat(64);
  const list = `${"b".repeat(64)}  etcd-v3.6.16-linux-arm64.tar.gz\n${sum}  etcd-v3.6.16-linux-amd64.tar.gz\n`;
  expect(checksumIn(list, file as never)).toBe(sum);
});

test.each([
  { platform: "win32", arch: "x64" },
  { platform: "linux", arch: "riscv64" },
] as const)("nothing is for $platform on $arch", (machine) => {
  for (const tool of [kubernetes, kubectl, etcd]) expect(publishedFiles(tool, machine)).toEqual([]);
});

test("tools of others are built", () => {
  expect(publishedFiles({ name: "helm", version: "v4.3.1" }, { platform: "linux", arch: "x64" })).toEqual([]);
});

import { describe, expect, test } from "vitest";
import { type Facts, type Source, sourcesOn } from "./source.ts";

const nothing: Facts = {
  testKubeconfig: undefined,
  assets: undefined,
  docker: false,
  go: false,
  cached: false,
  published: false,
  onlyWay: undefined,
};
const all = ["kube-apiserver", "etcd", "kubectl", "kube-controller-manager"];
const assets = (...present: string[]) => ({ directory: "/assets", present });
const rest = { docker: true, go: true, cached: true, published: true };

const cases: { why: string; facts: Partial<Facts>; chosen: Source }[] = [
  {
    why: "a cluster that was named is used, whatever else is there",
    facts: { testKubeconfig: "/k", assets: assets(...all), ...rest, onlyWay: "build" },
    chosen: { from: "kubeconfig", path: "/k" },
  },
  {
    why: "a folder of binaries that was named comes before all others",
    facts: { assets: assets(...all), ...rest, onlyWay: "download" },
    chosen: { from: "assets", directory: "/assets", controllerManager: true },
  },
  {
    why: "binaries without a controller manager come after what has one",
    facts: { assets: assets("kubectl", "etcd", "kube-apiserver"), go: true },
    chosen: { from: "binaries" },
  },
  {
    why: "binaries without a controller manager are better than nothing",
    facts: { assets: assets("kubectl", "etcd", "kube-apiserver") },
    chosen: { from: "assets", directory: "/assets", controllerManager: false },
  },
  {
    why: "binaries without an API server are none: Docker",
    facts: { assets: assets("etcd", "kubectl"), docker: true, go: true },
    chosen: { from: "docker" },
  },
  { why: "what is in the cache comes before Docker", facts: rest, chosen: { from: "binaries" } },
  {
    why: "Docker comes before a download and a build",
    facts: { docker: true, published: true, go: true },
    chosen: { from: "docker" },
  },
  {
    why: "CLUSTER_BINARIES comes before Docker",
    facts: { docker: true, published: true, onlyWay: "download" },
    chosen: { from: "binaries" },
  },
  { why: "Docker alone is enough", facts: { docker: true }, chosen: { from: "docker" } },
  { why: "Go alone is enough", facts: { go: true }, chosen: { from: "binaries" } },
  { why: "what is published needs no Go", facts: { published: true }, chosen: { from: "binaries" } },
  { why: "what is in the cache needs no Go any more", facts: { cached: true }, chosen: { from: "binaries" } },
];

describe("where a cluster comes from", () => {
  test.each(cases)("$why", ({ facts, chosen }) => {
    expect(sourcesOn({ ...nothing, ...facts })[0]).toEqual(chosen);
  });

  test("the others follow in order, for when an image cannot be pulled", () => {
    expect(sourcesOn({ ...nothing, docker: true, go: true })).toEqual([{ from: "docker" }, { from: "binaries" }]);
  });

  test("a machine with nothing is told what to install", () => {
    expect(() => sourcesOn(nothing)).toThrow(/dl\.k8s\.io.*Go .*Docker.*KUBEBUILDER_ASSETS.*TEST_KUBECONFIG/s);
  });

  test("incomplete binaries alone are nothing", () => {
    expect(() => sourcesOn({ ...nothing, assets: assets("etcd") })).toThrow(/kube-apiserver/);
  });
});

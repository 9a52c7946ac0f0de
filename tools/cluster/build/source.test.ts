import { describe, expect, test } from "vitest";
import { type Facts, type Source, sourcesOn } from "./source.ts";

const nothing: Facts = { testKubeconfig: undefined, assets: undefined, docker: false, go: false, built: false };
const all = ["kube-apiserver", "etcd", "kubectl", "kube-controller-manager"];
const assets = (...present: string[]) => ({ directory: "/assets", present });

const cases: { why: string; facts: Partial<Facts>; chosen: Source }[] = [
  {
    why: "a cluster that was named is used, whatever else is there",
    facts: { testKubeconfig: "/k", assets: assets(...all), docker: true, go: true, built: true },
    chosen: { from: "kubeconfig", path: "/k" },
  },
  {
    why: "binaries that are there come before Docker",
    facts: { assets: assets(...all), docker: true, go: true, built: true },
    chosen: { from: "assets", directory: "/assets", controllerManager: true },
  },
  {
    why: "binaries without a controller manager come after what has one",
    facts: { assets: assets("kubectl", "etcd", "kube-apiserver"), go: true },
    chosen: { from: "build" },
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
  { why: "Docker comes before building", facts: { docker: true, go: true }, chosen: { from: "docker" } },
  { why: "Docker comes before what was built", facts: { docker: true, built: true }, chosen: { from: "docker" } },
  { why: "Docker alone is enough", facts: { docker: true }, chosen: { from: "docker" } },
  { why: "Go alone is enough", facts: { go: true }, chosen: { from: "build" } },
  { why: "what was built needs no Go any more", facts: { built: true }, chosen: { from: "build" } },
];

describe("where a cluster comes from", () => {
  test.each(cases)("$why", ({ facts, chosen }) => {
    expect(sourcesOn({ ...nothing, ...facts })[0]).toEqual(chosen);
  });

  test("the others follow in order, for when an image cannot be pulled", () => {
    expect(sourcesOn({ ...nothing, docker: true, go: true })).toEqual([{ from: "docker" }, { from: "build" }]);
  });

  test("a machine with nothing is told what to install", () => {
    expect(() => sourcesOn(nothing)).toThrow(/Go .*Docker.*KUBEBUILDER_ASSETS.*TEST_KUBECONFIG/s);
  });

  test("incomplete binaries alone are nothing", () => {
    expect(() => sourcesOn({ ...nothing, assets: assets("etcd") })).toThrow(/kube-apiserver/);
  });
});

import { describe, expect, test, vi } from "vitest";
import { lease } from "../../../test/fakes/cli/fixed-account.ts";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { annotations } from "../../schema/contract.ts";

const { run, writing, altering } = useFixedServices();

test.each([true, false])(
  "where nothing tells whose the objects are, a person who is shown them decides: %s",
  async (yes) => {
    writing("done");
    const questions: string[] = [];
    const ask = async (question: string) => questions.push(question) > 0 && yes;
    const { code, stdout, stderr } = await run("uninstall --policy delete", { ask });
    expect(questions).toEqual(["Delete 13 objects?"]);
    expect(stdout).toContain("  IPPolicy shop/office: ipp_2leg4kyX69U6IswsdjKIohVXiFIz\n");
    expect({ code, stderr }).toEqual(yes ? { code: 0, stderr: "" } : { code: 1, stderr: "Nothing was deleted" });
    expect(stdout.includes("0 left")).toBe(yes);
  },
);

test("nobody is asked where the Lease says that the operator has all of them", async () => {
  writing("done");
  vi.stubEnv("POD_NAMESPACE", "gateway");
  expect(await run("uninstall --policy delete")).toMatchObject({ code: 0, stderr: "" });
});

test("a pod with a kubeconfig is not the operator's own", async () => {
  writing("done");
  vi.stubEnv("POD_NAMESPACE", "elsewhere");
  vi.stubEnv("KUBERNETES_SERVICE_HOST", "10.0.0.1");
  vi.stubEnv("KUBERNETES_SERVICE_PORT", "443");
  expect(await run("uninstall --policy delete")).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/^Give --yes, or POD_NAMESPACE/),
  });
});

describe("where the Lease says that the operator has other namespaces or labels", () => {
  /** `claim`: which objects the operator has. */
  function claiming(claim: object): void {
    writing("done");
    vi.stubEnv("POD_NAMESPACE", "gateway");
    const annotation = JSON.stringify({ name: "default", claim: "active", attempt: 1, namespaces: [], ...claim });
    const claimed = { labels: {}, annotations: { [annotations.installation]: annotation } };
    altering((body, { path }) =>
      path.endsWith(`/leases/${lease.metadata.name}`) ? { ...body, metadata: { ...lease.metadata, ...claimed } } : body,
    );
  }

  test.each([
    ["namespaces", { namespaces: ["gateway", "elsewhere"] }],
    ["labels", { selector: "team=other" }],
  ])("a person is shown the objects that are not its own, and decides: %s", async (_, claim) => {
    claiming(claim);
    const questions: string[] = [];
    const ask = async (question: string) => questions.push(question) < 0;
    const { code, stdout, stderr } = await run("uninstall --policy delete", { ask });
    expect(questions).toEqual(["Delete 13 objects?"]);
    expect(stdout).toContain("  IPPolicy shop/office: ipp_2leg4kyX69U6IswsdjKIohVXiFIz\n");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "Nothing was deleted" });
    expect(await run("uninstall --policy delete")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^Give --yes, or WATCH_NAMESPACES and WATCH_SELECTOR/),
    });
    expect(await run("uninstall --policy delete --yes")).toMatchObject({ code: 0, stderr: "" });
  });

  test("nobody is asked about its own", async () => {
    claiming({ namespaces: ["gateway", "shop"] });
    expect(await run("uninstall --policy delete")).toMatchObject({ code: 0, stderr: "" });
  });
});

import { describe, expect, test, vi } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";

const { run, failing, altering } = useFixedServices();

test.each(["", "--unmanaged ", "--delete --yes ", "--import "])(
  "orphans %sends when the marks of the objects have another id of the cluster than the command",
  async (flag) => {
    vi.stubEnv("CLUSTER_ID", "c7");
    const { code, stdout, stderr } = await run(`orphans ${flag}-A`);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toBe(
      "Set CLUSTER_ID as the operator has it: the owner marks of this cluster's objects have the id c1",
    );
  },
);

describe("--import without a leftover remote", () => {
  const withoutLeftovers = () =>
    altering((body) =>
      "ip_policies" in body && Array.isArray(body.ip_policies)
        ? { ...body, ip_policies: body.ip_policies.filter(({ id }: { id: string }) => id !== "ipp_left") }
        : body,
    );

  test("prints no manifest, and no table of the objects whose remotes are gone", async () => {
    withoutLeftovers();
    expect((await run("orphans")).stdout).toMatch(/^IPPolicy\/lost .* the remote is gone$/m);
    const stderr = "There are no orphans in namespace shop";
    expect(await run("orphans --import")).toEqual({ code: 0, stdout: "", stderr });
  });

  test("says what could not be read", async () => {
    withoutLeftovers();
    const refusal = { kind: "Status", code: 403, reason: "Forbidden", message: "no" };
    failing(({ path }) => (path.endsWith("/namespaces/kube-system") ? { status: 403, body: refusal } : undefined));
    const stderr = "This is only a part:\nSet CLUSTER_ID: the uid of kube-system cannot be read";
    expect(await run("orphans --import")).toEqual({ code: 1, stdout: "", stderr });
  });
});

test("--yes answers a question that only --delete asks", async () => {
  expect(await run("orphans --yes")).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/^Give --delete too/),
  });
});

test("the id of the cluster may be that of the operator's own namespace, as the operator has it", async () => {
  const uids = new Map([
    ["gateway", "c1"],
    ["kube-system", "c7"],
  ]);
  failing(({ path }) => {
    const uid = uids.get(/^\/api\/v1\/namespaces\/([^/]+)$/.exec(path)?.[1] ?? "");
    return uid === undefined ? undefined : { status: 200, body: { metadata: { uid } } };
  });
  expect(await run("orphans")).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Set CLUSTER_ID/) });
  vi.stubEnv("WATCH_NAMESPACES", "shop");
  vi.stubEnv("POD_NAMESPACE", "gateway");
  expect(await run("orphans")).toMatchObject({ code: 0, stdout: expect.stringContaining("no object shop/gone") });
});

import { describe, expect, test } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";

const { run, failing } = useFixedServices();

const missing = (id: string): string => `Give another id: the account has no ${id}`;

describe("ids that the account does not have", () => {
  test("are all told", async () => {
    const { code, stdout, stderr } = await run("import ra_8 ra_9 ipp_nobody");
    expect({ code, stdout }).toEqual({ code: 1, stdout: expect.stringContaining("id: ipp_nobody") });
    expect(stderr.split("\n")).toEqual(["1 object written; this is not all:", missing("ra_8"), missing("ra_9")]);
  });

  test("are told beside what else is missing", async () => {
    const { stderr } = await run("import edghts_9/edghtsrt_9 ra_9");
    expect(stderr.split("\n").slice(1)).toEqual([
      expect.stringMatching(/edghts_9\/edghtsrt_9 has no modules, or does not exist$/),
      missing("ra_9"),
    ]);
  });

  test("are not told while a list fails that may have them", async () => {
    failing(({ path }) => (path === "/reserved_addrs" ? { status: 403, body: { msg: "no" } } : undefined));
    const { code, stderr } = await run("import ipp_nobody ra_9");
    expect(code).toBe(1);
    expect(stderr).toContain("reserved_addrs");
    expect(stderr).not.toContain("ra_9");
  });
});

test.each([
  ["--context nope", 'The kubeconfig has nothing named "nope" among its contexts'],
  ["--kubeconfig /none/config", "There is no kubeconfig /none/config"],
])("a cluster that %s misspells is told, although flags name the account", async (flag, said) => {
  const account = `--base-url ${process.env["GATEWAY_BASE_URL"]}`;
  expect(await run(`import ippolicies ${account} ${flag}`)).toEqual({ code: 1, stdout: "", stderr: said });
});

test("an account that flags name is imported without a cluster that is named nowhere", async () => {
  const account = `--base-url ${process.env["GATEWAY_BASE_URL"]}`;
  failing(({ path }) => (path.startsWith("/apis/") ? { status: 503, body: "etcd is away" } : undefined));
  expect(await run(`import ippolicies ${account}`)).toMatchObject({ code: 0, stdout: expect.stringMatching(/./) });
});

import { expect, test } from "vitest";
import { useFixedServices } from "../testing/run.ts";

const { run, failing } = useFixedServices();

const account = {
  ...{ apiVersion: "tunnelgateway.dev/v1", kind: "GatewayAccount", metadata: { namespace: "shop", name: "default" } },
  spec: { apiKeySecretRef: { name: "team", key: "key" } },
};

test.each([
  [403, /^You need the right to get the Secret "team" in namespace shop/],
  [404, 'Add key "key" to Secret "team" in namespace shop: it has the API key'],
  [503, /^The cluster answers with status 503/],
])(
  "a GatewayAccount whose Secret answers %i does not give way to the account of the environment",
  async (status, said) => {
    const answered: string[] = [];
    failing(({ path }) => {
      if (path.endsWith("/gatewayaccounts/default")) return { status: 200, body: account };
      if (path.endsWith("/secrets/team")) return { status, body: { kind: "Status", code: status, message: "no" } };
      answered.push(path);
      return undefined;
    });
    for (const line of ["import --all", "plan", "orphans --delete --yes"]) {
      const { code, stderr } = await run(line);
      expect({ code, stderr }).toEqual({ code: 1, stderr: expect.stringMatching(said) });
    }
    expect(answered).toEqual([]);
  },
);

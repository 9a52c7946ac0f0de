import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { kubeconfigFor } from "./kubeconfig.ts";

describe("a kubeconfig", () => {
  it("names the server and nothing else where nothing else is given", () => {
    const { clusters, users, contexts, ...config } = parse(kubeconfigFor({ server: "http://127.0.0.1:1" }));
    expect(config).toEqual({ apiVersion: "v1", kind: "Config", "current-context": contexts[0].name });
    expect(contexts[0].context).toEqual({ cluster: clusters[0].name, user: users[0].name });
    expect([clusters[0].cluster, users[0].user]).toEqual([{ server: "http://127.0.0.1:1" }, {}]);
  });

  it("carries a token and what to trust", () => {
    const access = { server: "https://any", certificateAuthority: "QUJD", skipsTLSVerification: true, token: "t" };
    const { clusters, users } = parse(kubeconfigFor(access));
    expect(clusters[0].cluster).toMatchObject({
      "certificate-authority-data": "QUJD",
      "insecure-skip-tls-verify": true,
    });
    expect(users[0].user).toEqual({ token: "t" });
  });
});

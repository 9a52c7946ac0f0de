import { describe, expect, test } from "vitest";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { type Image, refusalsOf, type Surroundings } from "./pod-rules.ts";

const image: Image = { user: "65532:65532", writes: [], serves: () => [8080] };
const container = { name: "operator", args: ["run"] };
const surroundings: Surroundings = {
  image,
  secrets: { credentials: ["api-key"] },
  configMaps: { authorities: ["ca.crt"] },
};

/** The refusals of a pod with one container. */
const refusals = (pod: KubeJSON, own: KubeJSON = {}, other: Partial<Surroundings> = {}): string[] =>
  refusalsOf({ ...pod, containers: [{ ...container, ...own }] }, { ...surroundings, ...other });

const refusal = (pod: KubeJSON, own: KubeJSON = {}, other: Partial<Surroundings> = {}): string => {
  const all = refusals(pod, own, other);
  expect(all).toHaveLength(1);
  return all[0] ?? "";
};

const withUser = (user: string): Partial<Surroundings> => ({ image: { ...image, user } });

test("the least pod starts", () => {
  expect(refusals({})).toEqual([]);
});

describe("users", () => {
  test("a group without a user is refused with the rule of the CRI", () => {
    const message = refusal({ securityContext: { runAsGroup: 65532 } });
    expect(message).toContain('Failed to create pod sandbox: user group "65532" is specified without user');
    expect(message).toContain("otherwise, the runtime MUST error");
  });

  test.each([
    ["both", { runAsUser: 1, runAsGroup: 2 }],
    ["neither", {}],
    ["neither, as null", { runAsUser: null, runAsGroup: null }],
    ["a user alone", { runAsUser: 1 }],
    ["the group of root with a user", { runAsUser: 1, runAsGroup: 0 }],
  ])("%s can be given", (_, securityContext) => {
    expect(refusals({ securityContext })).toEqual([]);
  });

  test("a container has the user of its image in any case, so it may give a group alone", () => {
    expect(refusals({}, { securityContext: { runAsGroup: 65532 } })).toEqual([]);
  });

  const securityContext = { runAsNonRoot: true };
  test.each([
    ["a name", "node", "image has non-numeric user (node), cannot verify user is non-root"],
    ["a name with a group", "node:1000", "image has non-numeric user (node)"],
    ["root by its number", "0:0", "image will run as root"],
    ["none", "", "image will run as root"],
  ])("an image whose user is %s does not run as nobody but root", (_, user, expected) => {
    expect(refusal({ securityContext }, {}, withUser(user))).toContain(expected);
    expect(refusals({}, {}, withUser(user))).toEqual([]);
    expect(refusals({ securityContext: { ...securityContext, runAsUser: 5 } }, {}, withUser(user))).toEqual([]);
  });

  test("root is no user but root", () => {
    expect(refusal({ securityContext: { ...securityContext, runAsUser: 0 } })).toContain("breaks non-root policy");
    const own = { securityContext: { runAsUser: 0 } };
    expect(refusal({ securityContext: { ...securityContext, runAsUser: 5 } }, own)).toContain("breaks non-root policy");
  });
});

describe("what is missing", () => {
  const variable = (valueFrom: KubeJSON) => ({ env: [{ name: "A", valueFrom }] });
  test.each([
    ["a variable of a Secret", variable({ secretKeyRef: { name: "none", key: "a" } }), 'secret "none" not found'],
    [
      "a variable of a key",
      variable({ secretKeyRef: { name: "credentials", key: "a" } }),
      "couldn't find key a in secret credentials",
    ],
    [
      "a variable of a ConfigMap",
      variable({ configMapKeyRef: { name: "none", key: "a" } }),
      'configmap "none" not found',
    ],
    ["all of a Secret", { envFrom: [{ secretRef: { name: "none" } }] }, 'secret "none" not found'],
    ["all of a ConfigMap", { envFrom: [{ configMapRef: { name: "none" } }] }, 'configmap "none" not found'],
  ])("%s has to be there", (_, own, expected) => {
    expect(refusal({}, own)).toContain(`CreateContainerConfigError: ${expected}`);
    const optional = JSON.parse(JSON.stringify(own).replace('"name":"none"', '"name":"none","optional":true'));
    if (JSON.stringify(own).includes("none")) expect(refusals({}, optional)).toEqual([]);
  });

  test.each([
    ["a Secret", { secret: { secretName: "none" } }, 'secret "none" not found'],
    ["a ConfigMap", { configMap: { name: "none" } }, 'configmap "none" not found'],
    [
      "a key of a Secret",
      { secret: { secretName: "credentials", items: [{ key: "a", path: "b" }] } },
      "couldn't find key a in secret credentials",
    ],
    ["a projected Secret", { projected: { sources: [{ secret: { name: "none" } }] } }, 'secret "none" not found'],
  ])("%s of a volume has to be there", (_, volume, expected) => {
    const message = refusal({ volumes: [{ name: "v", ...volume }] });
    expect(message).toContain(`MountVolume.SetUp failed for volume "v": ${expected}`);
    expect(message).toContain("optional: true");
  });

  test("what is there, or optional, is mounted", () => {
    const volumes = [
      { name: "a", secret: { secretName: "credentials", items: [{ key: "api-key", path: "api-key" }] } },
      { name: "b", secret: { secretName: "none", optional: true, items: [{ key: "api-key", path: "api-key" }] } },
      { name: "c", configMap: { name: "authorities" } },
    ];
    expect(refusals({ volumes })).toEqual([]);
  });
});

describe("probes", () => {
  const ports = [
    { name: "metrics", containerPort: 8080 },
    { name: "other", containerPort: 9 },
  ];
  test.each([
    [{ httpGet: { port: "nothing" } }, "couldn't find port: nothing"],
    [{ httpGet: { port: "other" } }, "nobody serves the port 9"],
    [{ tcpSocket: { port: 8081 } }, "nobody serves the port 8081"],
    [{ grpc: { port: 1 } }, "nobody serves the port 1"],
  ])("%j is refused", (probe, expected) => {
    expect(refusal({}, { ports, livenessProbe: probe })).toContain(expected);
    expect(refusal({}, { ports, startupProbe: probe })).toContain("startupProbe");
  });

  test("of what is served, by number and by name, succeed", () => {
    const probed = { readinessProbe: { httpGet: { port: "metrics" } }, livenessProbe: { tcpSocket: { port: 8080 } } };
    expect(refusals({}, { ports, ...probed, startupProbe: { exec: { command: ["true"] } } })).toEqual([]);
  });
});

describe("files", () => {
  const readOnly = { securityContext: { readOnlyRootFilesystem: true } };
  const writing = { image: { ...image, writes: ["/tmp"] } };
  const mount = (mountPath: string) => ({ volumeMounts: [{ name: "v", mountPath }] });

  test("a read-only root refuses what the program writes outside of a volume", () => {
    expect(refusal({}, readOnly, writing)).toContain("EROFS: read-only file system: /tmp");
    const volumes = [{ name: "v", emptyDir: {} }];
    expect(refusals({ volumes }, { ...readOnly, ...mount("/tmp") }, writing)).toEqual([]);
    expect(refusal({ volumes }, { ...readOnly, ...mount("/tmpfs") }, writing)).toContain("EROFS");
    expect(refusals({}, {}, writing)).toEqual([]);
    const secret = [{ name: "v", secret: { secretName: "credentials" } }];
    expect(refusal({ volumes: secret }, { ...readOnly, ...mount("/tmp") }, writing)).toContain("EROFS");
  });

  const key = (modes: KubeJSON, item: KubeJSON = {}) => ({
    volumes: [
      {
        name: "v",
        secret: { secretName: "credentials", items: [{ key: "api-key", path: "api-key", ...item }], ...modes },
      },
    ],
  });
  test.each([
    ["a key for root alone", {}, key({ defaultMode: 0o400 })],
    ["a single file for root alone", {}, key({}, { mode: 0o400 })],
    ["a key for root's group, which the pod has not", { runAsUser: 5, runAsGroup: 5 }, key({ defaultMode: 0o440 })],
    ["a key for all but root's group", { runAsUser: 5, runAsGroup: 0 }, key({ defaultMode: 0o404 })],
  ])("%s cannot be read", (_, securityContext, pod) => {
    const message = refusal({ ...pod, securityContext }, mount("/run/key"));
    expect(message).toContain("EACCES: permission denied: /run/key/api-key");
  });

  test.each([
    ["by all", {}, key({})],
    ["by the fsGroup", { fsGroup: 7 }, key({ defaultMode: 0o400 })],
    ["by root's group", { runAsUser: 5, runAsGroup: 0 }, key({ defaultMode: 0o440 })],
    ["by root", { runAsUser: 0 }, key({ defaultMode: 0o400 })],
  ])("a key can be read %s", (_, securityContext, pod) => {
    expect(refusals({ ...pod, securityContext }, mount("/run/key"))).toEqual([]);
  });
});

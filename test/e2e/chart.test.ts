import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { customResources } from "../../src/kinds/index.ts";
import { createTelemetry } from "../../src/operator/metrics/telemetry.ts";
import { stateGrants } from "../../src/schema/access.ts";
import { parseLabelSelector } from "../../src/schema/label-selector.ts";
import type { KubeJSON } from "../../tools/shared/objects.ts";
import { chart, objectsIn, set, succeeded, useHelm } from "./support/helm.ts";

const required = set({ "gateway.baseURL": "https://api.gateway.example" });
const monitoring = set({
  "metrics.renderMode": "alwaysRender",
  "metrics.serviceMonitor.enabled": true,
  "metrics.podMonitor.enabled": true,
  "metrics.prometheusRule.enabled": true,
  "metrics.grafanaDashboard.enabled": true,
});
const everything = [
  ...monitoring,
  ...set({
    replicaCount: 2,
    "networkPolicy.enabled": true,
    "credentials.apiKey": "a-key",
    "trustBundle.configMap": "authorities",
  }),
  "--set-json",
  `extraObjects=[${JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "{{ .Release.Name }}-extra" } })}]`,
];

const helm = useHelm();

const template = (...args: string[]) =>
  succeeded(helm("template", "gateway", chart, "--namespace", "operator", ...required, ...args));
const render = async (...args: string[]): Promise<KubeJSON[]> => objectsIn(await template(...args));
const find = (objects: KubeJSON[], kind: string): KubeJSON => objects.find((object) => object.kind === kind);
const names = (objects: KubeJSON[]): string[] =>
  objects
    .filter(({ kind }) => kind !== "CustomResourceDefinition")
    .map(({ kind, metadata }) => `${kind} ${metadata.namespace ?? "-"}/${metadata.name}`)
    .sort();

describe("values", () => {
  test("helm lint reports no problem", async () => {
    const { code, stdout } = await helm("lint", "--strict", chart, ...required, ...everything);
    expect(stdout).toContain("0 chart(s) failed");
    expect(code).toBe(0);
  });

  test("the error for the one value without a default says what to set", async () => {
    const { code, stderr } = await helm("template", "gateway", chart);
    expect(code).not.toBe(0);
    expect(stderr).toContain("gateway.baseURL is required: the base address of the management API");
  });

  test.each([
    ["a typo at the root", { "watchNamespace[0]": "a" }],
    ["a typo further in", { "credentials.existingsecret": "a" }],
    ["a policy that there is not", { "uninstall.policy": "purge" }],
    ["a duration without a unit", { "gateway.resyncInterval": "5" }],
    ["less time than a stop takes", { terminationGracePeriodSeconds: 10 }],
    ["a collector without a scheme", { "tracing.otlpEndpoint": "collector:4318" }],
    ["credentials in the address", { "gateway.baseURL": "https://me:secret@api.gateway.example" }],
    ["a selector that is none", { watchSelector: "team=a b" }],
    ["a selector with an operator that labels do not have", { watchSelector: "team>3" }],
    ["a selector that is too long", { watchSelector: `team=a${"\\,team=a".repeat(600)}` }],
  ])("%s is refused", async (_, values) => {
    const { code, stderr } = await helm("template", "gateway", chart, ...required, ...set(values));
    expect(code).not.toBe(0);
    expect(stderr).toContain("values don't meet the specifications of the schema");
  });

  test.each(["team=a", "team in (a\\,b)", "!team", "example.com/team != a\\,tier"])(
    "objects can be divided by %s",
    async (text) => {
      const watchSelector = text.replaceAll("\\", "");
      const objects = await render(...set({ watchSelector: text }));
      const deployment = objects.find(({ kind }) => kind === "Deployment");
      const env = deployment?.["spec"].template.spec.containers[0].env;
      expect(env).toContainEqual({ name: "WATCH_SELECTOR", value: watchSelector });
      expect(parseLabelSelector(watchSelector).text).toBe(watchSelector);
    },
  );

  test("two sources of the key are refused", async () => {
    const both = set({ "credentials.apiKey": "a", "credentials.existingSecret": "b" });
    expect((await helm("template", "gateway", chart, ...required, ...both)).stderr).toContain("choose one");
  });

  test.each([
    ["a label of the chart's own", { "commonLabels.app\\.kubernetes\\.io/name": "x" }, "commonLabels"],
    ["a label that pods have already", { "commonLabels.team": "a", "podLabels.team": "b" }, "podLabels"],
    ["a label that a monitor has already", { "metrics.podMonitor.labels.helm\\.sh/chart": "x" }, "metrics.podMonitor"],
    ["several replicas without an election", { replicaCount: 2, "leaderElection.enabled": false }, "replicaCount"],
    ["a rolling update without an election", { "leaderElection.enabled": false }, "strategy"],
    [
      "Secrets in a namespace that is not watched",
      { "watchNamespaces[0]": "a", "secrets.writeNamespaces[0]": "b" },
      "b",
    ],
    ["records for nobody", { "externalDNS.enabled": true }, "externalDNS.namespaces"],
    ["two sources of the proxy", { "proxy.http": "http://a", "proxy.existingSecret": "b" }, "proxy.existingSecret"],
  ])("%s is refused with a message", async (_, values, named) => {
    const { code, stderr } = await helm("template", "gateway", chart, ...required, ...set(values));
    expect(code).not.toBe(0);
    expect(stderr).toContain(`${named}`);
  });

  test("without an election there can be one that is stopped before the next starts", async () => {
    await template(...set({ "leaderElection.enabled": false, "strategy.type": "Recreate" }));
  });

  test("values that a parent chart adds are accepted", async () => {
    await template(...set({ enabled: true, "global.imageRegistry": "registry.example" }));
  });

  test("defaults in values.yaml are all known to the schema, and none is missing", async () => {
    const { stdout } = await helm("show", "values", chart);
    const { properties } = JSON.parse(await readFile(join(chart, "values.schema.json"), "utf8"));
    const { global: _, enabled: __, ...own } = properties;
    expect(pathsOf({ properties: own })).toEqual(valuesIn(objectsIn(stdout)[0]));
  });
});

/** As `gateway.baseURL`, as deep as the schema knows the names. */
function pathsOf({ properties }: KubeJSON, path = ""): string[] {
  return Object.entries(properties as KubeJSON)
    .flatMap(([name, inner]: [string, KubeJSON]) =>
      inner.properties ? pathsOf(inner, `${path}${name}.`) : [`${path}${name}`],
    )
    .sort();
}

/** What Kubernetes names, and the schema leaves open. */
const open =
  /^(resources|securityContext|podSecurityContext|(liveness|readiness)Probe|nodeSelector|metrics\.grafanaDashboard\.labels)\./;

function valuesIn(values: KubeJSON, path = ""): string[] {
  return Object.entries(values)
    .flatMap(([name, inner]: [string, KubeJSON]) => {
      const isLeaf = typeof inner !== "object" || Array.isArray(inner) || Object.keys(inner).length === 0;
      return isLeaf || open.test(`${path}${name}.`) ? [`${path}${name}`] : valuesIn(inner, `${path}${name}.`);
    })
    .sort();
}

describe("rendered", () => {
  test("by default", async () => {
    expect(names(await render())).toMatchSnapshot();
  });

  test("with everything", async () => {
    expect(names(await render(...everything))).toMatchSnapshot();
  });

  test("twice, the same both times, and nothing that turns Argo CD's Helm hooks off", async () => {
    const [first, second] = await Promise.all([template(...everything), template(...everything)]);
    expect(first).toBe(second);
    expect(first).not.toContain("argocd.argoproj.io");
  });

  test("for some namespaces, nothing has rights beyond them", async () => {
    const objects = await render(...everything, ...set({ "watchNamespaces[0]": "one", "watchNamespaces[1]": "two" }));
    expect(objects.filter(({ kind }) => kind === "ClusterRoleBinding")).toEqual([]);
    // bound in these namespaces, where it gives what their Role gives
    const [lasting, ...more] = objects.filter(({ kind }) => kind === "ClusterRole");
    expect(more).toEqual([]);
    expect(lasting?.rules).toEqual(find(objects, "Role").rules);
    expect(lasting?.metadata.labels).not.toHaveProperty("rbac.authorization.k8s.io/aggregate-to-edit");
    const bound = objects.filter(({ roleRef }) => roleRef?.name === lasting?.metadata.name);
    expect(bound.map(({ metadata }) => metadata.namespace)).toEqual(["one", "two"]);
    const roles = objects.filter(({ kind }) => kind === "Role").map(({ metadata }) => metadata.namespace);
    expect([...new Set(roles)].sort()).toEqual(["one", "operator", "two"]);
  });

  test("for some namespaces, without a ClusterRole where that is asked for, and the operator lets go of its RoleBindings", async () => {
    const off = set({ "watchNamespaces[0]": "one", "rbac.namespaceDeletion": false });
    const objects = await render(...everything, ...off);
    expect(objects.filter(({ kind }) => kind.startsWith("ClusterRole"))).toEqual([]);
    expect(find(objects, "Deployment").spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: "RIGHTS_BINDING", value: expect.stringMatching(/-deletion$/) },
        { name: "KEEP_RIGHTS_BINDING", value: "false" },
      ]),
    );
  });

  test.each([
    ["everywhere", [], ["-"]],
    ["in some namespaces", set({ "watchNamespaces[0]": "one", "watchNamespaces[1]": "two" }), ["one", "two"]],
  ])("%s, the right to watch Secrets only when it is asked for", async (_, scope, expected) => {
    const following = (objects: KubeJSON[]) =>
      objects
        .filter(({ rules = [] }) =>
          rules.some(
            ({ resources, verbs }: KubeJSON) =>
              resources.includes("secrets") && (verbs.includes("list") || verbs.includes("watch")),
          ),
        )
        // the ClusterRole that is bound in these namespaces
        .filter(({ metadata }) => !metadata.name.endsWith("-deletion"))
        .map(({ metadata }) => metadata.namespace ?? "-");
    const switched = (objects: KubeJSON[]) =>
      find(objects, "Deployment").spec.template.spec.containers[0].env.find(
        ({ name }: KubeJSON) => name === "WATCH_SECRETS",
      ).value;
    const [off, on] = [await render(...scope), await render(...scope, ...set({ "secrets.watch": true }))];
    expect([following(off), switched(off)]).toEqual([[], "false"]);
    expect([following(on), switched(on)]).toEqual([expected, "true"]);
  });

  const both = ["get create patch delete", "get patch"];
  const everywhere = { "externalDNS.namespaces[0]": "*" };

  test.each([
    ["by default, no right to DNSEndpoints", {}, [], "false"],
    ["with externalDNS.enabled, for all objects", { ...everywhere, "externalDNS.enabled": true }, both, "true"],
    ["with externalDNS.optIn, the right alone", { ...everywhere, "externalDNS.optIn": true }, both, "false"],
    [
      "without objects that stay, no right for the uninstallation",
      { ...everywhere, "externalDNS.enabled": true, "uninstall.policy": "delete" },
      ["get create patch delete"],
      "true",
    ],
  ])("%s", async (_, values, expected, reported) => {
    const objects = await render(...set({ ...values, "dns.resolvers[0]": "10.0.0.10:5353" }));
    const rules = objects.flatMap((object) => object["rules"] ?? []) as KubeJSON[];
    const given = rules.filter(({ resources }) => resources.includes("dnsendpoints"));
    expect(given.map(({ verbs }) => verbs.join(" ")).sort()).toEqual(expected);
    expect(find(objects, "Deployment").spec.template.spec.containers[0].env).toEqual(
      expect.arrayContaining([
        { name: "EXTERNAL_DNS", value: reported },
        { name: "DNS_RESOLVERS", value: "10.0.0.10:5353" },
      ]),
    );
  });

  test.each([
    ["what it needs, which the command knows", { "uninstall.policy": "delete" }, []],
    ["as long as it is told", { "uninstall.timeout": "1h", "uninstall.policy": "delete" }, ["--timeout=1h"]],
  ])("the uninstallation may take %s", async (_, values, expected) => {
    const { spec } = find(await render(...set(values)), "Job");
    expect(spec.activeDeadlineSeconds).toBeUndefined();
    const args: string[] = spec.template.spec.containers[0].args;
    expect(args.filter((arg) => arg.startsWith("--timeout"))).toEqual(expected);
  });

  const watched = set({ "watchNamespaces[0]": "one", "watchNamespaces[1]": "two" });
  test.each([
    ["everywhere by default", [], ["-"], "*"],
    ["nowhere when it is switched off", set({ "secrets.write": false }), [], "-"],
    ["in the namespaces that are named", set({ "secrets.writeNamespaces[0]": "one" }), ["one"], "one"],
    ["in its own when that is named", set({ "secrets.writeNamespaces[0]": "operator" }), ["operator"], "operator"],
    ["in all that are watched", watched, ["one", "two"], "*"],
    ["in one of those", [...watched, ...set({ "secrets.writeNamespaces[0]": "two" })], ["two"], "two"],
    ["in none of those", [...watched, ...set({ "secrets.write": false })], [], "-"],
  ])("the operator may write Secrets %s", async (_, values, expected, reported) => {
    const objects = await render(...values, ...set({ "uninstall.enabled": false }));
    const isOwn = ({ metadata }: KubeJSON) => metadata.name.endsWith("-own");
    const own = objects.filter(isOwn).find(({ kind }) => kind === "Role")?.rules;
    const forKey = own.filter(({ resources }: KubeJSON) => resources.includes("secrets"));
    // The key of intents is in the operator's own namespace, whether it may write Secrets there for objects or not.
    const writesHere = expected.includes("-") || expected.includes("operator");
    expect(forKey).toEqual(writesHere ? [] : stateGrants().map(({ rule }) => rule));
    const places = objects
      .filter((object) => !isOwn(object))
      .filter(({ rules = [] }) =>
        rules.some(({ resources, verbs }: KubeJSON) => resources.includes("secrets") && verbs.includes("create")),
      )
      // bound in these namespaces only, with the rules of their Role
      .filter(({ metadata }) => !metadata.name.endsWith("-deletion"))
      .map(({ metadata }) => metadata.namespace ?? "-");
    expect(places).toEqual(expected);
    const { env } = find(objects, "Deployment").spec.template.spec.containers[0];
    expect(env).toContainEqual({ name: "SECRET_WRITE_NAMESPACES", value: reported });
  });

  test("without credentials in the values, a pod that starts all the same", async () => {
    const { spec } = find(await render(), "Deployment").spec.template;
    expect(spec.volumes).toEqual([
      {
        name: "credentials",
        secret: {
          secretName: "gateway-tunnel-gateway-operator-credentials",
          optional: true,
          items: [{ key: "api-key", path: "api-key" }],
        },
      },
    ]);
    expect(JSON.stringify(spec.containers[0].env)).not.toContain('GATEWAY_API_KEY"');
  });

  /** The specs of all pods: of the Deployment, of the Job before an uninstallation, and of `helm test`. */
  async function podSpecs(...args: string[]): Promise<KubeJSON[]> {
    const objects = await render(...args);
    const specs = objects.flatMap(({ kind, spec }) => (kind === "Pod" ? spec : (spec?.template?.spec ?? [])));
    expect(specs.map(({ containers }: KubeJSON) => containers[0].args[0]).sort()).toEqual([
      "doctor",
      "run",
      "uninstall",
    ]);
    return specs;
  }

  const ofImage = async (): Promise<{ runAsUser: number; runAsGroup: number }> => {
    const dockerfile = await readFile(join(chart, "../../Dockerfile"), "utf8");
    const [, user, group] = /^USER (\d+):(\d+)$/m.exec(dockerfile) ?? [];
    return { runAsUser: Number(user), runAsGroup: Number(group) };
  };

  test("every pod has the user and the group of the image", async () => {
    const expected = await ofImage();
    for (const { securityContext } of await podSpecs()) expect(securityContext).toMatchObject(expected);
  });

  test("where the platform chooses the user, a pod has neither, or both where they are given", async () => {
    const off = set({ runAsImageUser: false });
    for (const { securityContext } of await podSpecs(...off)) {
      expect(securityContext).not.toHaveProperty("runAsUser");
      expect(securityContext).not.toHaveProperty("runAsGroup");
      expect(securityContext.runAsNonRoot).toBe(true);
    }
    const own = { runAsUser: 1000, runAsGroup: 2000 };
    const given = set({ "podSecurityContext.runAsUser": 1000, "podSecurityContext.runAsGroup": 2000 });
    for (const switched of [off, []])
      for (const { securityContext } of await podSpecs(...given, ...switched))
        expect(securityContext).toMatchObject(own);
  });

  test.each([
    ["podSecurityContext", "runAsUser"],
    ["podSecurityContext", "runAsGroup"],
    ["securityContext", "runAsUser"],
    ["securityContext", "runAsGroup"],
  ])("a %s with %s alone is refused, whoever chooses the user", async (context, name) => {
    for (const runAsImageUser of [true, false]) {
      const values = set({ [`${context}.${name}`]: 1000, runAsImageUser });
      const { code, stderr } = await helm("template", "gateway", chart, ...required, ...values);
      expect(code).not.toBe(0);
      expect(stderr).toContain(context);
      expect(stderr).toContain(name === "runAsUser" ? "runAsGroup" : "runAsUser");
    }
  });

  test.each([
    ["of https", { "gateway.baseURL": "https://api.gateway.example" }, [443, 6443]],
    ["of its own", { "gateway.baseURL": "https://api.gateway.example:8443/v1" }, [443, 6443, 8443]],
    ["of a proxy", { "proxy.https": "http://proxy.example:3128", "proxy.http": "http://other" }, [443, 6443, 80, 3128]],
    ["of a proxy for SOCKS", { "proxy.https": "socks5://proxy.example" }, [443, 6443, 1080]],
    ["of a collector of traces", { "tracing.otlpEndpoint": "http://collector:4318" }, [443, 6443, 4318]],
    ["of other hosts", { "gateway.allowedHosts[0]": "other.example:9443" }, [443, 6443, 9443]],
  ])("the network policy lets the operator reach the port %s", async (_, values, expected) => {
    const { spec } = find(await render(...set({ "networkPolicy.enabled": true, ...values })), "NetworkPolicy");
    const ports = spec.egress[0].ports.map(({ port }: KubeJSON) => port);
    expect(ports.filter((port: number) => port !== 53)).toEqual(expected);
  });

  test.each([
    ["by default, on 53", {}, [53]],
    [
      "on the port that one of them names",
      { "dns.resolvers[0]": "10.0.0.10:5353", "dns.resolvers[1]": "10.0.0.11" },
      [53, 5353],
    ],
    ["by IPv6", { "dns.resolvers[0]": "[2001:db8::53]:5353", "dns.resolvers[1]": "2001:db8::54" }, [53, 5353]],
  ])("the network policy lets the operator ask its resolvers %s", async (_, values, expected) => {
    const { spec } = find(await render(...set({ "networkPolicy.enabled": true, ...values })), "NetworkPolicy");
    const ports: KubeJSON[] = spec.egress[0].ports;
    for (const protocol of ["UDP", "TCP"]) {
      const gateway = protocol === "TCP" ? [443, 6443] : [];
      const found = ports.filter((one) => one["protocol"] === protocol).map(({ port }) => port);
      expect(found).toEqual([...expected, ...gateway]);
    }
  });

  test.each([
    ["off by default", {}, []],
    ["sent to a collector", { "tracing.otlpEndpoint": "http://collector:4318" }, ["http://collector:4318"]],
  ])("traces are %s", async (_, values, expected) => {
    const { env } = find(await render(...set(values)), "Deployment").spec.template.spec.containers[0];
    const variables = env.filter(({ name }: KubeJSON) => name === "OTEL_EXPORTER_OTLP_ENDPOINT");
    expect(variables.map(({ value }: KubeJSON) => value)).toEqual(expected);
  });

  test("the address of a proxy can come from a Secret", async () => {
    const objects = await render(...set({ "proxy.existingSecret": "proxy" }));
    const { env } = find(objects, "Deployment").spec.template.spec.containers[0];
    const secretKeyRef = (key: string) => ({ valueFrom: { secretKeyRef: { name: "proxy", key, optional: true } } });
    expect(env).toContainEqual({ name: "HTTPS_PROXY", ...secretKeyRef("https") });
    expect(env).toContainEqual({ name: "HTTP_PROXY", ...secretKeyRef("http") });
  });

  test("a digest wins over a tag, and a registry comes before", async () => {
    const digest = `sha256:${"0".repeat(64)}`;
    const values = set({ "image.digest": digest, "image.tag": "any", "image.registry": "mirror.example" });
    const { image } = find(await render(...values), "Deployment").spec.template.spec.containers[0];
    expect(image).toBe(`mirror.example/tunnelgateway/tunnel-gateway-operator@${digest}`);
  });

  test("definitions are kept by default, and can be deleted with the release", async () => {
    const kept = find(await render(), "CustomResourceDefinition").metadata;
    expect(kept.annotations).toEqual({ "helm.sh/resource-policy": "keep" });
    const gone = find(await render(...set({ "crds.keep": false })), "CustomResourceDefinition").metadata;
    expect(gone.annotations).toBeUndefined();
  });

  test("definitions are those of crds/, small enough for client-side apply", async () => {
    const definitions = (await render()).filter(({ kind }) => kind === "CustomResourceDefinition");
    for (const { metadata, spec } of definitions) {
      const [plural, ...group] = metadata.name.split(".");
      const file = join(chart, `../../crds/${group.join(".")}_${plural}.yaml`);
      const [expected] = objectsIn(await readFile(file, "utf8"));
      expect(spec).toEqual(expected.spec);
      expect(JSON.stringify(expected).length).toBeLessThan(262_144 / 2);
    }
    expect(definitions.length).toBeGreaterThan(5);
  });
});

test("Artifact Hub lists every kind, with an example of each that people write", async () => {
  const [about] = objectsIn((await helm("show", "chart", chart)).stdout);
  const parsed = (name: string): KubeJSON[] => parse(about.annotations[`artifacthub.io/${name}`]);
  expect(parsed("crds").map(({ kind }) => kind)).toEqual(customResources.map(({ kind }) => kind));
  // the operator makes the sessions
  const written = customResources.map(({ kind }) => kind).filter((kind) => kind !== "TunnelSession");
  expect(parsed("crdsExamples").map(({ kind }) => kind)).toEqual(written);
});

test("chart, image and package have one version", async () => {
  const { version } = JSON.parse(await readFile(join(chart, "../../package.json"), "utf8"));
  const [about] = objectsIn((await helm("show", "chart", chart)).stdout);
  expect(about).toMatchObject({ version, appVersion: version });
  expect(await readFile(join(chart, "../../Dockerfile"), "utf8")).toContain(`ARG VERSION=${version}\n`);
});

describe("alerts and dashboard", () => {
  test("name only metrics that there are", async () => {
    const { registry } = createTelemetry({ version: "1.0.0", resyncSeconds: 300, requestsPerMinute: 100 });
    const known = (await registry.getMetricsAsJSON()).map(({ name }) => name);
    const text = (await template(...monitoring)).replaceAll(/_(?:bucket|count)\{/g, "{");
    const used = [...text.matchAll(/\b([a-z]+_[a-z0-9_]+)\{/g)].map(([, name]) => name);
    expect(used.length).toBeGreaterThan(10);
    expect([...new Set(used)].filter((name) => !known.includes(name ?? ""))).toEqual([]);
  });

  test("no alert adds up what each replica reports of the same object", async () => {
    const { registry } = createTelemetry({ version: "1.0.0", resyncSeconds: 300, requestsPerMinute: 100 });
    const metrics = await registry.getMetricsAsJSON();
    const gauges = metrics.filter(({ type }) => String(type) === "gauge").map(({ name }) => name);
    expect(gauges.length).toBeGreaterThan(5);
    const { spec } = find(await render(...monitoring), "PrometheusRule");
    const added = spec.groups[0].rules.flatMap(({ expr }: KubeJSON) =>
      [...expr.matchAll(/\bsum(?: by \([^)]*\))? ?\((?:deriv\()?([a-z_]+)\{/g)].map(([, name]) => name),
    );
    expect(added.filter((name: string) => gauges.includes(name))).toEqual([]);
  });

  test("each alert has its heading in the runbook", async () => {
    const rule = find(await render(...monitoring), "PrometheusRule");
    const page = await readFile(join(chart, "../../docs/alerts.md"), "utf8");
    const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const alerts = rule.spec.groups[0].rules;
    expect(alerts.map(({ alert }: KubeJSON) => alert)).toEqual(headings);
    for (const { alert, annotations } of alerts) {
      expect(annotations.runbook_url).toMatch(new RegExp(`/docs/alerts\\.md#${alert.toLowerCase()}$`));
    }
  });
});

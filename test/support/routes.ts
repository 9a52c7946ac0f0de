import { afterAll, beforeAll } from "vitest";
import { GatewayClient } from "../../src/gateway/client.ts";
import { HTTPSEdgeRoute } from "../../src/kinds/https-edge-route.ts";
import { type KubeJSON, manifest } from "../../tools/shared/objects.ts";
import type { LoggedRequest } from "../../tools/simulator/control/request-log.ts";
import { secret } from "./samples.ts";
import type { World } from "./world.ts";

export type Spec = Record<string, unknown>;

export const idpMetadata = (name: string) => `<EntityDescriptor entityID="https://${name}.example.org"/>`;

export type RouteModule = "ipRestriction" | "oidc" | "saml" | "webhookVerification";

/** A module: its value in a spec, another value, and a request body with which somebody else changes it. */
export interface ModuleSample {
  member: string;
  spec: Spec;
  other: Spec;
  put: (policies: Readonly<Record<string, string>>) => Spec;
}

export const routeModules: Readonly<Record<RouteModule, ModuleSample>> = {
  ipRestriction: {
    member: "ip_restriction",
    spec: { ipPolicyRefs: [{ name: "one" }] },
    other: { ipPolicyRefs: [{ name: "two" }] },
    put: ({ two }) => ({ ip_policy_ids: [two] }),
  },
  oidc: {
    member: "oidc",
    spec: {
      optionsPassthrough: true,
      cookiePrefix: "one.",
      inactivityTimeout: 60,
      maximumDuration: 4_294_967_295,
      issuer: "https://login.example.org",
      clientId: "one",
      clientSecretRef: { name: "route", key: "oidc" },
      scopes: ["openid", "email"],
    },
    other: {
      enabled: false,
      issuer: "https://other.example.org",
      clientId: "two",
      clientSecretRef: { name: "route", key: "oidc" },
    },
    put: () => ({ issuer: "https://login.example.org", client_id: "theirs", client_secret: "their-secret" }),
  },
  saml: {
    member: "saml",
    spec: {
      optionsPassthrough: true,
      cookiePrefix: "one.",
      inactivityTimeout: 60,
      maximumDuration: 3600,
      idpMetadata: idpMetadata("one"),
      forceAuthn: true,
      allowIdpInitiated: true,
      authorizedGroups: ["staff", "admins"],
      nameidFormat: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
    },
    other: { idpMetadata: idpMetadata("two") },
    put: () => ({ idp_metadata: idpMetadata("theirs"), authorized_groups: ["everybody"] }),
  },
  webhookVerification: {
    member: "webhook_verification",
    spec: { provider: "github", secretRef: { name: "route", key: "webhook" } },
    other: { provider: "sns" },
    put: () => ({ provider: "slack", secret: "their-secret" }),
  },
};

export const allModules: Spec = Object.fromEntries(
  Object.entries(routeModules).map(([field, { spec }]) => [field, spec]),
);
export const moduleMembers = Object.values(routeModules).map(({ member }) => member);

export const routeSecrets = { oidc: "the-oidc-secret", webhook: "the-webhook-secret" };

/** The HTTPS edge routes of a world. A route has the same name as its object. */
export class Routes {
  readonly world: World;
  readonly policies: Record<string, string> = {};
  #client: GatewayClient | undefined;

  constructor(world: World) {
    this.world = world;
  }

  async open(): Promise<void> {
    const { url, apiKey } = this.world.simulator;
    this.#client = new GatewayClient({ baseURL: url, apiKey: () => apiKey, proxies: {} });
    const requiredObjects = [manifest("IPPolicy", "one", {}), manifest("IPPolicy", "two", {})];
    await this.world.kube.apply(secret("route", routeSecrets), ...requiredObjects);
    const made = await this.world.allReady(requiredObjects);
    for (const { metadata, status } of made) this.policies[metadata.name] = status.id;
  }

  close = async (): Promise<void> => this.#client?.close();

  /** Creates a route, by the name of its object. */
  add(name: string): void {
    this.world.simulator.control.addRoute({ edgeId: `edghts_${name}`, routeId: `edghtsrt_${name}` });
  }

  object = (name: string, spec: Spec, route = name): KubeJSON =>
    manifest("HTTPSEdgeRoute", name, { edgeId: `edghts_${route}`, routeId: `edghtsrt_${route}`, ...spec });

  async apply(name: string, spec: Spec, route = name): Promise<KubeJSON> {
    const object = this.object(name, spec, route);
    await this.world.kube.apply(object);
    const [now] = await this.world.allReady([object]);
    return now;
  }

  async given(name: string, spec: Spec): Promise<KubeJSON> {
    this.add(name);
    return this.apply(name, spec);
  }

  /** The module as answers show it; null if it is not set. */
  module = (name: string, member: string): Spec | null =>
    (this.world.simulator.control.get(`edghtsrt_${name}`)?.[member] ?? null) as Spec | null;

  /** The members of the modules that are set. */
  set = (name: string): string[] => moduleMembers.filter((member) => this.module(name, member) !== null);

  /** Sets a module, as somebody else would. */
  async put(name: string, member: string, body: Spec): Promise<void> {
    const owner = { edge_id: `edghts_${name}`, id: `edghtsrt_${name}` };
    await this.#client?.putModule(HTTPSEdgeRoute.modules[member] as never, owner, body);
  }

  sent(name: string, after = 0): LoggedRequest[] {
    return this.world.simulator.control
      .requests({ after })
      .filter(
        ({ path, headers }) => path.includes(`edghtsrt_${name}/`) && headers["user-agent"] !== "tunnel-gateway-client",
      );
  }

  lines = (name: string, after = 0): string[] =>
    this.sent(name, after).map(({ method, path }) => `${method} ${path.split("/").at(-1)}`);

  get lastSeq(): number {
    return this.world.simulator.control.requests().at(-1)?.seq ?? 0;
  }
}

export function useRoutes(world: World): Routes {
  const routes = new Routes(world);
  beforeAll(() => routes.open());
  afterAll(() => routes.close());
  return routes;
}

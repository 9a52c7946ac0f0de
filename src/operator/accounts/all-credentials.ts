import { ObjectMemory } from "../../account/object-memory.ts";
import { parseBaseURL } from "../../gateway/http/base-url.ts";
import type { Status } from "../../objects/object.ts";
import { Blocked } from "../../objects/reconcile-error.ts";
import type { SecretValue } from "../../reconcile/cluster.ts";
import type { Store } from "../../runtime/cache/store.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { CachedApiKey } from "./cached-api-key.ts";
import { type Credentials, KEY_MISSING } from "./credentials.ts";
import { type OpenAccountOptions, openAccount } from "./open-account.ts";
import { SharedAccounts } from "./shared-accounts.ts";

export interface AccountObject extends KubeObject {
  metadata: KubeObject["metadata"] & { namespace: string; uid: string; generation: number };
  spec: { apiKeySecretRef: { name: string; key: string }; baseURL?: string; tunnelSessions?: "Ignore" | "Mirror" };
  status?: Pick<Status, "conditions"> & { secretName?: string; keyDigests?: string[]; [field: string]: unknown };
}

export interface CredentialsOptions extends OpenAccountOptions {
  /** The GatewayAccounts. */
  store: () => Store<AccountObject>;
  readSecret: (namespace: string, name: string) => Promise<SecretValue | undefined>;
  /**
   * Called when a GatewayAccount (`namespace/name`) or the operator ("") has another API key than before, or has no key
   * any more.
   */
  onKeyChange?: (key: string) => void;
}

/** The operator's own credentials, and those of each GatewayAccount that was used. */
export class AllCredentials {
  readonly own: Credentials;
  readonly shared: SharedAccounts;
  readonly #options: CredentialsOptions;
  readonly #byKey = new Map<string, Credentials>();
  readonly #memory: ObjectMemory;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#memory = new ObjectMemory(options.clock, options.config.requestSeconds * 1000);
    this.shared = new SharedAccounts({
      open: (credentials) => this.#open(credentials),
      recorded: ({ key }) => options.recordedIn(key).size,
      recordOf: (credentials, apiKey) => options.keyRecords.recordOf(credentials, apiKey),
      onKeyChange: ({ key }) => options.onKeyChange?.(key),
    });
    const { apiKey: read, baseURL } = options.config;
    this.own = this.shared.add({
      ...{ key: "", uid: "", specifiedURL: undefined, baseURL: normalised(baseURL), digest: undefined, lastRead: 0 },
      apiKey: { read, invalidate: () => {} },
      proved: new Set<string>(),
    });
  }

  remove(key: string): void {
    const known = this.#byKey.get(key);
    this.#byKey.delete(key);
    if (known) this.shared.remove(known);
  }

  get all(): Credentials[] {
    return [this.own, ...this.#byKey.values()];
  }

  readonly known = (namespace: string, name: string): Credentials | undefined =>
    name === "" ? this.own : this.#byKey.get(`${namespace}/${name}`);

  /** Undefined when there is no such GatewayAccount, or its base URL is not allowed. */
  find(namespace: string, name: string): Credentials | undefined {
    if (name === "") return this.own;
    const object = this.#options.store().get(`${namespace}/${name}`);
    try {
      return object && this.of(object);
    } catch {
      return undefined;
    }
  }

  /**
   * The credentials of a GatewayAccount: created at first use, and again when it was recreated or its base URL has
   * changed.
   */
  of(object: AccountObject): Credentials {
    const { namespace, name, uid } = object.metadata;
    const key = `${namespace}/${name}`;
    const { baseURL: specifiedURL } = object.spec;
    const known = this.#byKey.get(key);
    if (known?.uid === uid && known.specifiedURL === specifiedURL) return known;
    const baseURL = normalised(this.#allowedBaseURL(specifiedURL));
    this.remove(key);
    const made = this.shared.add({
      ...{ key, uid, specifiedURL, baseURL, digest: undefined, lastRead: 0, proved: new Set<string>() },
      apiKey: new CachedApiKey(this.#options.clock, () => this.#readKey(key)),
    });
    this.#byKey.set(key, made);
    return made;
  }

  #open(credentials: Credentials) {
    return openAccount(credentials, this.#options, {
      memory: this.#memory,
      concerned: (shared) =>
        this.all
          .filter((one) => one.shared === shared || (one.baseURL === shared.baseURL && one.digest === shared.digest))
          .map(({ key }) => key),
      keyFor: (shared) => this.shared.keyFor(shared),
      listedElsewhere: (resource) => this.shared.listedElsewhere(credentials, resource),
    });
  }

  /**
   * Throws Blocked for other base URLs. Otherwise, anybody who may create a GatewayAccount could make the operator send
   * requests to any host.
   */
  #allowedBaseURL(baseURL: string | undefined): string {
    const { config } = this.#options;
    if (baseURL === undefined) return config.baseURL;
    const origin = originOf(baseURL);
    if (origin === parseBaseURL(config.baseURL).origin) return baseURL;
    const { host, protocol } = new URL(origin);
    if (config.allowedHosts.some((allowed) => URL.parse(`${protocol}//${allowed}`)?.host === host)) return baseURL;
    throw new Blocked(
      "InvalidSpec",
      `Ask for ${host} to be added to ALLOWED_GATEWAY_HOSTS: the operator does not allow it`,
    );
  }

  async #readKey(key: string): Promise<string> {
    const { store, readSecret } = this.#options;
    const object = store().get(key);
    if (!object) throw new Error("the GatewayAccount is gone");
    const { name, key: entry } = object.spec.apiKeySecretRef;
    const value = (await readSecret(object.metadata.namespace, name))?.data[entry];
    if (!value) throw Object.assign(new Error("no key"), { code: KEY_MISSING });
    return value;
  }
}

function normalised(baseURL: string): string {
  const { origin, prefix } = parseBaseURL(baseURL);
  return origin + prefix;
}

/** The pattern in the CRD also accepts some text that is no URL, so it is parsed here. */
function originOf(baseURL: string): string {
  try {
    return parseBaseURL(baseURL).origin;
  } catch (error) {
    throw new Blocked("InvalidSpec", `Correct spec.baseURL: ${(error as Error).message}`, { cause: error });
  }
}

import type { ObjectMemory } from "../../account/object-memory.ts";
import { ListRoom } from "../../account/requests/list-room.ts";
import { parseBaseURL } from "../../gateway/http/base-url.ts";
import { Outdated } from "../../objects/reconcile-error.ts";
import type { SecretValue } from "../../reconcile/cluster.ts";
import type { Store } from "../../runtime/cache/store.ts";
import { allowedBaseURL, readAccountKey } from "../kubernetes/account-key.ts";
import type { AccountObject } from "./account-objects.ts";
import { CachedApiKey } from "./cached-api-key.ts";
import type { Credentials } from "./credentials.ts";
import { type OpenAccountOptions, openAccount } from "./open-account.ts";
import { SharedAccounts } from "./shared-accounts.ts";

export interface CredentialsOptions extends OpenAccountOptions {
  memory: ObjectMemory;
  /** The GatewayAccounts. */
  store: () => Store<AccountObject>;
  readSecret: (namespace: string, name: string) => Promise<SecretValue | undefined>;
  /**
   * Called when a GatewayAccount (`namespace/name`) or the operator ("") has another API key than before, or has no key
   * any more.
   */
  onKeyChange: (key: string) => void;
}

/** The operator's own credentials, and those of each GatewayAccount that was used. */
export class AllCredentials {
  readonly own: Credentials;
  readonly shared: SharedAccounts;
  readonly #options: CredentialsOptions;
  readonly #room = new ListRoom({
    way: "Raise the memory limit of the operator, or shorten large texts in the account",
  });
  readonly #byKey = new Map<string, Credentials>();

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.shared = new SharedAccounts({
      open: (credentials) => this.#open(credentials),
      hasRecorded: ({ key }) => options.recordedIn(key).size > 0,
      recordOf: (credentials, apiKey) => options.keyRecords.recordOf(credentials, apiKey),
      onKeyChange: ({ key }) => options.onKeyChange(key),
    });
    const { apiKey: read, baseURL } = options.config;
    this.own = this.shared.add({
      key: "",
      uid: "",
      specifiedURL: undefined,
      baseURL: normalised(baseURL),
      digest: undefined,
      lastRead: 0,
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
    const baseURL = normalised(allowedBaseURL(object, this.#options.config));
    this.remove(key);
    const made = this.shared.add({
      key,
      uid,
      specifiedURL,
      baseURL,
      digest: undefined,
      lastRead: 0,
      proved: new Set<string>(),
      apiKey: new CachedApiKey(this.#options.clock, () => this.#readKey(key)),
    });
    this.#byKey.set(key, made);
    return made;
  }

  #open(credentials: Credentials) {
    return openAccount(credentials, this.#options, {
      concerned: (shared) =>
        this.all
          .filter((one) => one.shared === shared || (one.baseURL === shared.baseURL && one.digest === shared.digest))
          .map(({ key }) => key),
      room: this.#room,
      keyFor: (shared) => this.shared.keyFor(shared),
      listedElsewhere: (shared, resource) => this.shared.listedElsewhere(shared, resource),
    });
  }

  async #readKey(key: string): Promise<string> {
    const { store, readSecret, config } = this.#options;
    const object = store().get(key);
    if (!object) throw new Error("the GatewayAccount is gone");
    const { baseURL, apiKey } = await readAccountKey(object, config, readSecret);
    // The GatewayAccount may have been edited since, and its new key must not go to the former host.
    if (this.#byKey.get(key)?.baseURL !== normalised(baseURL)) throw new Outdated("the GatewayAccount has changed");
    return apiKey;
  }
}

function normalised(baseURL: string): string {
  const { origin, prefix } = parseBaseURL(baseURL);
  return origin + prefix;
}

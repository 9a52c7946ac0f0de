import { FakeGateway } from "./fake-gateway.ts";
import type { KeyOfAccount } from "./keyed-client.ts";
import { opaque, resources } from "./random-subjects.ts";
import type { Scene } from "./scene.ts";

/** Which API key the operator reads: the right one, or by mistake that of another account. */
export class Keys {
  readonly #right: FakeGateway;
  /** The account of the wrong key. Its remotes look like ours, so marks and values prove nothing. */
  readonly strange: FakeGateway;
  #isWrong = false;
  #planned: { isWrong: boolean; after: number } | undefined;

  constructor(scene: Scene) {
    this.#right = scene.gateway;
    this.strange = new FakeGateway(scene.clock);
    this.strange.onDate.set(this, (date) => scene.account.serviceTime.observe(date));
    for (const { resource } of resources)
      for (const [index, metadata] of [...looks, opaque].entries())
        this.strange.put(resource, { ...answer, id: `${resource.idPrefix}strange${index}`, metadata });
  }

  /** After this many further requests, the operator reads the right or the wrong key. */
  plan(isWrong: boolean, after: number): void {
    this.#planned = { isWrong, after };
  }

  /** From now on, the operator reads the right key. */
  correct(): void {
    this.#planned = undefined;
    this.#isWrong = false;
  }

  now = (): KeyOfAccount => {
    if (this.#planned && this.#planned.after-- <= 0) {
      this.#isWrong = this.#planned.isWrong;
      this.#planned = undefined;
    }
    return this.#isWrong ? { key: "wrong", gateway: this.strange } : { key: "right", gateway: this.#right };
  };
}

const looks = ["policy", "group", "edge", "certificate"].map(
  (name) => `{"tunnelgateway.dev/owner":"c1/team-a/${name}"}`,
);
const answer = { description: "words 0", domain: "ours.example.com", created_at: "2000-01-01T00:00:00Z" };

import { KeyProof, type KeyProofOptions } from "../../../src/account/key-proof.ts";
import { Collection } from "../../../src/account/remotes/collection.ts";
import type { CollectionOptions } from "../../../src/account/remotes/collection-options.ts";
import type { CallsOptions } from "../../../src/account/requests/calls.ts";
import { CircuitBreaker } from "../../../src/account/requests/circuit-breaker.ts";
import { roomForAll } from "../../../src/account/requests/list-room.ts";
import { RequestBudget } from "../../../src/account/requests/request-budget.ts";
import { Turns } from "../../../src/account/requests/turns.ts";
import type { FakeGateway } from "../reconcile/fake-gateway.ts";
import type { VirtualClock } from "../runtime/virtual-clock.ts";

/** A collection of the fake service, without limits and with a key that needs no proof. `more`: what differs. */
export const collectionOf = (
  { clock, gateway }: { clock: VirtualClock; gateway: FakeGateway },
  resource: CollectionOptions["resource"],
  more: Partial<CollectionOptions>,
): Collection =>
  new Collection({
    ...callsOptions(clock),
    client: gateway.asClient(),
    resource,
    clock,
    room: roomForAll(),
    signal: new AbortController().signal,
    ...more,
  });

/** What the requests of an account share: no limits, and a key that needs no proof. `key`: what differs. */
export function callsOptions(clock: VirtualClock, key: Partial<KeyProofOptions> = {}): CallsOptions {
  return {
    turns: new Turns(new RequestBudget({ perMinute: 0, clock }), clock),
    breaker: new CircuitBreaker({ clock }),
    assertMaySend: () => {},
    keyProof: new KeyProof({
      clock,
      recorded: () => new Map(),
      readList: async () => {},
      readOne: async () => {},
      ...key,
    }),
    onWritten: () => {},
  };
}

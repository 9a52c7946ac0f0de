import { httpsRoutes } from "../families/edges/https-routes.ts";
import type { Service } from "../http/dispatch.ts";
import { viewOf } from "../resource/view.ts";
import type { RouteId } from "../settings.ts";
import { accountOf, existing } from "./account.ts";
import type { Control } from "./control.ts";
import type { Faults } from "./faults.ts";
import type { Outage } from "./outage.ts";
import type { RequestLog } from "./request-log.ts";

export interface ControlParts {
  readonly service: Service;
  readonly log: RequestLog;
  readonly faults: Faults;
  readonly outage: Outage;
  /** The key that is accepted from the start. */
  readonly apiKey: string;
  /** The origin of the addresses in shown rows. */
  readonly origin: () => string;
}

/** Resets the account, and returns its control. */
export function createControl({ service, log, faults, outage, apiKey, origin }: ControlParts): Control {
  const { world, rateLimit } = service;
  const { agents, certificates, keyring, settings, store, random } = world;

  const addRoute = ({ edgeId, routeId }: Partial<RouteId> = {}): RouteId => {
    const edge = edgeId ?? `edghts_${random.text(27)}`;
    const row = store.add(httpsRoutes, { edge_id: edge }, routeId === undefined ? {} : { id: routeId });
    return { edgeId: edge, routeId: row.id };
  };

  const reset = (): void => {
    for (const part of [store, world.cursors, world.agenda, agents, keyring, rateLimit, log, faults]) part.clear();
    outage.kind = undefined;
    keyring.accept(apiKey);
    settings.routes.forEach(addRoute);
  };
  reset();

  return {
    ...accountOf(world, origin),
    requests: (filter) => log.read(filter),
    clearRequests: () => log.clear(),
    count: (filter) => log.read(filter).length,
    reset,
    certificate: (id, forced) => certificates.force(existing(world, id), forced),
    addSession: (members = {}, behaviour) =>
      viewOf(store, origin(), world.settings).show(agents.connect(members, behaviour)),
    removeSession: (id) => agents.stop(existing(world, id)),
    behave: (id, behaviour) => agents.behave(existing(world, id), behaviour),
    addRoute,
    fault: (options) => faults.add(options),
    clearFaults: () => faults.clear(),
    outage(on, kind = "destroy") {
      outage.kind = on ? kind : undefined;
    },
    apiKeys: {
      revoke: (token) => keyring.revoke(token),
      accept: (token) => keyring.accept(token),
      refuseWith(status) {
        keyring.refusal = status;
      },
    },
  };
}

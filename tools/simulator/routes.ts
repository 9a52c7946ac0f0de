import { collections } from "./collections.ts";
import { edgeModuleRoutes } from "./families/edges/edges.ts";
import { httpsRouteRoutes } from "./families/edges/https-routes.ts";
import { eventSourceRoutes } from "./families/events/event-subscriptions.ts";
import { sessionCommandRoutes } from "./families/sessions/session-commands.ts";
import type { Route } from "./http/route.ts";
import { crudRoutes } from "./resource/crud.ts";

/** Every operation that is served. */
export const routes: readonly Route[] = [
  ...collections.flatMap(crudRoutes),
  ...edgeModuleRoutes,
  ...httpsRouteRoutes,
  ...sessionCommandRoutes,
  ...eventSourceRoutes,
];

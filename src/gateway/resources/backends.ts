import * as z from "zod";
import { defineResource } from "../resource.ts";
import { answer, common, number, refs, text, textMap, texts } from "../wire.ts";

const tunnelGroup = ["description", "metadata", "labels"];

export const tunnelGroupBackends = defineResource({
  name: "tunnel_group_backends",
  title: "tunnel group backend",
  path: "/backends/tunnel_group",
  listKey: "backends",
  idPrefix: "bkdtg_",
  wire: answer({ ...common, labels: textMap, tunnels: refs }),
  create: tunnelGroup,
  update: tunnelGroup,
});

const httpResponse = ["description", "metadata", "body", "headers", "status_code"];

/** Header names come back in lower case. */
export const httpResponseBackends = defineResource({
  name: "http_response_backends",
  title: "HTTP response backend",
  path: "/backends/http_response",
  listKey: "backends",
  idPrefix: "bkdhr_",
  wire: answer({ ...common, body: text, headers: textMap, status_code: number }),
  create: httpResponse,
  update: httpResponse,
});

const several = ["description", "metadata", "backends"];

/** `backends` maps ids to weights from 0 to 10000. A PATCH without it may empty it. */
export const weightedBackends = defineResource({
  name: "weighted_backends",
  title: "weighted backend",
  path: "/backends/weighted",
  listKey: "backends",
  idPrefix: "bkdwd_",
  wire: answer({ ...common, backends: z.record(z.string(), z.number()).nullish() }),
  create: several,
  update: several,
});

/** `backends` lists ids in order. A PATCH without it may empty it. */
export const failoverBackends = defineResource({
  name: "failover_backends",
  title: "failover backend",
  path: "/backends/failover",
  listKey: "backends",
  idPrefix: "bkdfo_",
  wire: answer({ ...common, backends: texts }),
  create: several,
  update: several,
});

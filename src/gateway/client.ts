import type * as z from "zod";
import type { CallOptions } from "./call.ts";
import { readOne } from "./read.ts";
import { GatewayReader, item, moduleOf, reads, readsOne } from "./reader.ts";
import type { Module, ModuleOwner, Remote, Resource } from "./resource.ts";
import { type EventSource, eventSources, type SessionCommand, sessionCommands } from "./resources/index.ts";

export type { CallOptions } from "./call.ts";
export type { ExchangeEvent } from "./http/exchange.ts";
export type { Page } from "./list.ts";
export type { RowProblem } from "./read.ts";
export type { ClientOptions } from "./reader.ts";

/** Members of a request under the names of the service. Undefined ones are not sent. */
export type Body = Readonly<Record<string, unknown>>;

/**
 * The management API of one account: what GatewayReader reads, and the requests that change something. Only the rooms of
 * `src/account` make these requests, since they ask first whether this process may.
 */
export class GatewayClient extends GatewayReader {
  create<Wire extends z.ZodObject>(resource: Resource<Wire>, body: Body, options?: CallOptions): Promise<Remote<Wire>> {
    const verb = resource.verbs.create;
    return this.call(
      { method: "POST", route: resource.path, family: resource, verb, body, read: reads(resource) },
      options,
    );
  }

  /** `body` must have a member: services refuse an empty PATCH. */
  update<Wire extends z.ZodObject>(
    resource: Resource<Wire>,
    id: string,
    body: Body,
    options?: CallOptions,
  ): Promise<Remote<Wire>> {
    return this.call({ method: "PATCH", ...item(resource, "update", id), body, read: readsOne(resource, id) }, options);
  }

  /** Rejects with 404 when the resource does not exist. */
  delete(resource: Resource, id: string, options?: CallOptions): Promise<void> {
    return this.call({ method: "DELETE", ...item(resource, "delete", id), read: nothing }, options);
  }

  /** Replaces the whole configuration of the module. */
  putModule<Wire extends z.ZodObject>(
    module: Module<Wire>,
    owner: ModuleOwner,
    body: Body,
    options?: CallOptions,
  ): Promise<z.output<Wire>> {
    const read = (answer: string) => readOne(module.wire, answer);
    return this.call({ method: "PUT", ...moduleOf(module, "put", owner), body, read }, options);
  }

  deleteModule(module: Module, owner: ModuleOwner, options?: CallOptions): Promise<void> {
    return this.call({ method: "DELETE", ...moduleOf(module, "delete", owner), read: nothing }, options);
  }

  /** Adds one event type to a subscription. */
  createSource(subscriptionId: string, type: string, options?: CallOptions): Promise<EventSource> {
    const { path: route } = eventSources;
    const ids = { subscription_id: subscriptionId };
    const read = (answer: string) => readOne(eventSources.wire, answer);
    return this.call({ method: "POST", route, family: eventSources, ids, body: { type }, read }, options);
  }

  deleteSource(subscriptionId: string, type: string, options?: CallOptions): Promise<void> {
    const [route, ids] = [`${eventSources.path}/{type}`, { subscription_id: subscriptionId, type }];
    return this.call({ method: "DELETE", route, family: eventSources, ids, read: nothing }, options);
  }

  /**
   * `restart`: the agent reconnects, with a new session and a new id. Agents on Windows cannot do that. `stop`: the agent
   * exits. `update`: the agent installs the latest version of its major version. Wait at least 10 seconds before a
   * restart.
   */
  command(command: SessionCommand, id: string, options?: CallOptions): Promise<void> {
    const route = sessionCommands[command];
    const family = { name: "tunnel_sessions" };
    return this.call({ method: "POST", route, family, ids: { id }, body: {}, read: nothing }, options);
  }
}

const nothing = (): void => {};

import { type Control, type Simulator, type SimulatorOptions, startSimulator } from "../simulator.ts";

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: answers of all shapes, which tests look into
  readonly body: any;
}

export interface Account extends AsyncDisposable {
  readonly simulator: Simulator;
  readonly control: Control;
  /** Sends a valid request. `headers` override its headers; undefined removes one. A string is sent as it is. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string | undefined>): Promise<Reply>;
  /** Advances the simulator's clock. */
  pass(milliseconds: number): void;
}

/** Starts a simulator with a clock that stands still, and a client for it. */
export async function openAccount(options: SimulatorOptions = {}): Promise<Account> {
  let now = Date.parse("2026-01-02T03:04:05.678Z");
  const simulator = await startSimulator({ clock: () => now, seed: 1, ...options });
  return {
    simulator,
    control: simulator.control,
    async send(method, path, body, headers = {}) {
      const url = path.startsWith("/") ? `${simulator.url}${path}` : path;
      const all = {
        authorization: `Bearer ${simulator.apiKey}`,
        "svc-version": "2",
        ...(body !== undefined && { "content-type": "application/json" }),
        ...headers,
      };
      const response = await fetch(url, {
        method,
        headers: Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== undefined),
        ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) };
    },
    pass(milliseconds) {
      now += milliseconds;
    },
    [Symbol.asyncDispose]: () => simulator.stop(),
  };
}

import type { View } from "../resource/view.ts";
import type { Members } from "../shape/members.ts";
import type { World } from "../world.ts";

export interface Answer {
  readonly status: number;
  /** Sent as JSON; undefined: no body. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request that has passed the checks that all operations share. */
export interface Call {
  readonly params: Readonly<Record<string, string>>;
  /** Without the question mark. */
  readonly query: string;
  /** Empty when the operation takes no body. */
  readonly body: Members;
  readonly view: View;
  readonly world: World;
}

export interface Route {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** With `{name}` for each parameter. */
  readonly path: string;
  /** Not shown by the API page. */
  readonly undocumented?: true;
  /** `changes` is an object that is not empty. */
  readonly takes: "nothing" | "members" | "changes";
  readonly paged?: true;
  readonly handle: (call: Call) => Answer;
}

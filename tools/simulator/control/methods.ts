import type { Control } from "./control.ts";

type Plain = Exclude<keyof Control, "apiKeys">;

/** The methods of `Control` that can be called over HTTP. */
export const controlMethods = [
  "requests",
  "clearRequests",
  "count",
  "objects",
  "get",
  "put",
  "patch",
  "remove",
  "insert",
  "accountIsEmpty",
  "summary",
  "reset",
  "certificate",
  "addSession",
  "removeSession",
  "behave",
  "addRoute",
  "fault",
  "clearFaults",
  "outage",
] as const satisfies readonly Plain[];

export const keyMethods = ["revoke", "accept", "refuseWith"] as const satisfies readonly (keyof Control["apiKeys"])[];

type Listed = (typeof controlMethods)[number];

/** Fails to compile when a method of `Control` is not listed above. */
export const everyMethodIsListed: Plain extends Listed ? true : never = true;

// biome-ignore lint/suspicious/noExplicitAny: methods of all shapes, looked up by name
type AnyMethod = (...args: any[]) => unknown;

export function methodNamed(control: Control, name: string): AnyMethod | undefined {
  const key = keyMethods.find((method) => `apiKeys.${method}` === name);
  if (key) return control.apiKeys[key];
  const listed = controlMethods.find((method) => method === name);
  return listed && control[listed];
}

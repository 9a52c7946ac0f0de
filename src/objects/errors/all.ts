import * as account from "./account.ts";
import * as change from "./change.ts";
import type { DeclaredError } from "./declare.ts";
import * as deletion from "./deletion.ts";
import * as kubernetes from "./kubernetes.ts";
import * as ownership from "./ownership.ts";
import * as service from "./service.ts";
import * as spec from "./spec.ts";

const exported: Readonly<Record<string, unknown>> = {
  ...account,
  ...change,
  ...deletion,
  ...kubernetes,
  ...ownership,
  ...service,
  ...spec,
};

const isDeclared = (one: unknown): one is DeclaredError<object> => typeof one === "function" && "valuesOf" in one;

/** Everything that the operator may report instead of going on, by its name. */
export const declaredErrors: ReadonlyMap<string, DeclaredError<object>> = new Map(
  Object.entries(exported).filter((entry): entry is [string, DeclaredError<object>] => isDeclared(entry[1])),
);

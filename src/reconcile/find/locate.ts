import type { Remote } from "../../account/inventory.ts";
import { isNamedBySpec } from "../../objects/identity.ts";
import type { ReconcileContext } from "../context.ts";
import { findBySpec } from "./by-spec.ts";
import { findByID } from "./find.ts";

/** The remote of an object, or undefined where it has none and one may be created. */
export const locate = (context: ReconcileContext): Promise<Remote | undefined> =>
  isNamedBySpec(context.kind) ? findBySpec(context) : findByID(context);

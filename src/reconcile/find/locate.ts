import type { Row } from "../../account/inventory.ts";
import { isNamedBySpec } from "../../objects/identity.ts";
import type { Pass } from "../context.ts";
import { named } from "./by-spec.ts";
import { find } from "./find.ts";

/** The remote of an object, or undefined where it has none and one may be created. */
export const locate = (pass: Pass): Promise<Row | undefined> => (isNamedBySpec(pass.kind) ? named(pass) : find(pass));

import { find } from "./find.ts";
import { isNamedBySpec } from "./identity.ts";
import type { Row } from "./inventory.ts";
import { named } from "./named.ts";
import type { Pass } from "./pass.ts";

/** The remote of an object, or undefined where it has none and one may be created. */
export const locate = (pass: Pass): Promise<Row | undefined> => (isNamedBySpec(pass.kind) ? named(pass) : find(pass));

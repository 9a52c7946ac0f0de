import type { Fields } from "./check.ts";
import { bytes, characters } from "./scalars.ts";

/** The two texts that nearly every resource has. */
export const texts: Fields = {
  description: { check: bytes(255) },
  metadata: { check: bytes(4096) },
};

/** The same for resources whose limits the API page states in characters instead of bytes. */
export const textsInCharacters: Fields = {
  description: { check: characters(255) },
  metadata: { check: characters(4096) },
};

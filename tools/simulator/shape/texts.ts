import type { Fields } from "./check.ts";
import { bytes, characters } from "./scalars.ts";

/** The two texts that nearly every resource has. */
export const texts: Fields = {
  description: { check: bytes(255) },
  metadata: { check: bytes(4096) },
};

/** Where the page counts characters rather than bytes. */
export const textsInCharacters: Fields = {
  description: { check: characters(255) },
  metadata: { check: characters(4096) },
};

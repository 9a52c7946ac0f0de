import fc from "fast-check";
import { seed } from "./seed.ts";

// Before each file with unit tests: the random tests that print no seed of their own use this one, and print it when they fail.
fc.configureGlobal({ seed: seed() });

import { asText, defineProgram, positiveNumber, seed, wholeNumber } from "../shared/program.ts";

export const program = defineProgram({
  command: "npm run soak --",
  about: `Lets the operator, compiled as the image runs it, live with edits, deletions, drift and a service that fails in every
way, then with nothing to do, and tells whether anything has grown. Exits with 1 when something has.`,
  options: {
    minutes: { value: "n", about: "of random changes and faults", initial: 30, read: positiveNumber, wholeNumber },
    objects: { value: "n", about: "half ReservedDomain, half TunnelGroupBackend", initial: 2000, read: wholeNumber(1) },
    seed: seed("repeats the choices of a run"),
    operator: { value: "file", about: "what to run", initial: "bundle/dist/main.js", read: asText },
  },
});

import { asText, defineProgram, flag, listOf, UsageError, wholeNumber } from "../shared/program.ts";

export const PHASES = ["create", "restart", "resync", "update", "delete", "trickle", "big", "accounts"] as const;
export type Phase = (typeof PHASES)[number];

export const program = defineProgram({
  command: "npm run bench --",
  about: `Measures the operator, bundled as in the image, against a real Kubernetes API server and a simulator of the
service, each in a process of its own. See docs/performance.md for what the columns mean and what is aimed at.`,
  options: {
    objects: {
      value: "n",
      initial: 2000,
      read: wholeNumber(1),
      about: "half of them ReservedDomain, half TunnelGroupBackend",
    },
    phases: {
      value: "a,b",
      initial: PHASES,
      initially: "all",
      read: phasesIn,
      about: `of ${PHASES.join(", ")}`,
    },
    latency: {
      value: "ms,ms",
      initial: [0, 50],
      read: listOf(wholeNumber()),
      about: "of the service; all phases but big and accounts run at each",
    },
    repeat: { value: "n", about: "and show medians", initial: 3, read: wholeNumber(1) },
    bigObjects: { value: "n", about: "for the phase big", initial: 10_000, read: wholeNumber(1) },
    sizes: {
      value: "n,n",
      initial: [1000, 5000],
      read: listOf(wholeNumber(1)),
      about: "numbers of objects, for the phase accounts",
    },
    objectsPerAccount: { value: "n", about: "for the phase accounts", initial: 1000, read: wholeNumber(1) },
    trickleSeconds: { value: "n", about: "of 20 objects each", initial: 30, read: wholeNumber(1) },
    peer: flag("measure a small operator on controller-runtime as well, and print ratios"),
    limited: flag("with the heap limit that node takes from the chart's memory limit; otherwise without any"),
    operator: { value: "file", about: "what to measure", initial: "bundle/dist/main.js", read: asText },
    json: { value: "file", about: "write the figures there", initial: undefined, read: asText },
    baseline: {
      value: "file",
      initial: undefined,
      read: asText,
      about: "compare with the figures of an earlier --json",
    },
  },
});

/** In the order in which they run, without duplicates. */
function phasesIn(text: string): readonly Phase[] {
  const given = text.split(",");
  const unknown = given.find((name) => !PHASES.some((phase) => phase === name));
  if (unknown !== undefined) throw new UsageError(`has no phase "${unknown}"`);
  return PHASES.filter((phase) => given.includes(phase));
}

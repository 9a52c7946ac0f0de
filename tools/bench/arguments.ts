import { asText, defineProgram, flag, listOf, UsageError, wholeNumber } from "../shared/program.ts";

export const PHASES = ["create", "restart", "resync", "update", "delete", "trickle", "big", "accounts"] as const;
/** The phases beside the Crossplane provider. */
const CROSSPLANE_PHASES = ["fill", "drift"] as const;
export type Phase = (typeof PHASES)[number] | (typeof CROSSPLANE_PHASES)[number];

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
    crossplane: flag(
      `instead of all else: ${CROSSPLANE_PHASES.join(" and ")}, beside a Crossplane provider, with a service that allows few requests`,
    ),
    crossplaneObjects: { value: "n", about: "with --crossplane", initial: 500, read: wholeNumber(1) },
    allowed: { value: "n", about: "requests a minute, with --crossplane", initial: 120, read: wholeNumber(1) },
    minutes: {
      value: "n",
      about: "to wait at most until all are Ready, with --crossplane",
      initial: 60,
      read: wholeNumber(1),
    },
    poll: {
      value: "duration",
      about: "after which the provider looks at an object again, such as 5m, with --crossplane",
      initial: "1m",
      read: duration,
    },
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

function duration(text: string): string {
  if (!/^[1-9]\d*[smh]$/.test(text)) throw new UsageError("must be a number with s, m or h");
  return text;
}

/** In the order in which they run, without duplicates. */
function phasesIn(text: string): readonly (typeof PHASES)[number][] {
  const given = text.split(",");
  const unknown = given.find((name) => !PHASES.some((phase) => phase === name));
  if (unknown !== undefined) throw new UsageError(`has no phase "${unknown}"`);
  return PHASES.filter((phase) => given.includes(phase));
}

import { debianPrograms, howToGet, type Programs } from "../shared/debian.ts";

const PACKAGE = "prometheus";

export type PrometheusPrograms = Programs<"prometheus" | "promtool">;

/** Prometheus and its promtool, in any version. See `debianPrograms` for where they come from. */
export const prometheusPrograms = (): Promise<PrometheusPrograms | undefined> =>
  debianPrograms(PACKAGE, ["prometheus", "promtool"]);

/** For the name of tests that are skipped. */
export const withoutPrometheus = `skipped, because Prometheus is missing: ${howToGet(PACKAGE)}`;

import { stringify } from "yaml";

/**
 * YAML that kubectl and the API server read as it is meant. They read YAML 1.1, where `yes`, `on`, `0b11` and `1_000`
 * without quotes are no texts.
 */
export const kubernetesYAML = (value: unknown): string =>
  stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: "yaml-1.1" });

import type { Logger } from "../../../src/runtime/log.ts";

export interface Line {
  level: "debug" | "info" | "warn" | "error";
  message: string;
  fields: Record<string, unknown>;
}

/** A logger that stores its lines. */
export function recordingLogger(lines: Line[] = [], bindings: object = {}): Logger & { lines: Line[] } {
  const at = (level: Line["level"]) => (fields: object, message: string) => {
    lines.push({ level, message, fields: { ...bindings, ...fields } });
  };
  return {
    lines,
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: (more) => recordingLogger(lines, { ...bindings, ...more }),
  };
}

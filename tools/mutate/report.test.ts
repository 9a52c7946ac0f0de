import { describe, expect, it } from "vitest";
import { formatReport, NOT_CHOSEN, type Report } from "./report.ts";

const source = `function isOpen() {
  return failures >= limit;
}
`;

const report = (status: string, statusReason = ""): Report => {
  const location = { start: { line: 2, column: 10 }, end: { line: 2, column: 27 } };
  return {
    files: { "src/a.ts": { source, mutants: [{ status, statusReason, location, replacement: "failures > limit" }] } },
  };
};

describe("the report", () => {
  it("has a line for what survived", () => {
    expect(formatReport(report("Survived"), 7)).toBe(
      "src/a.ts:2 return failures >= limit;  ->  return failures > limit;\n0 killed, 1 survived of 1, seed 7",
    );
    expect(formatReport(report("NoCoverage"), 7)).toMatch(
      / {2}-> {2}return failures > limit; \(no test comes here\)\n0 killed, 1/,
    );
  });

  it("joins the lines of what is long, and leaves its middle out", () => {
    const location = { start: { line: 1, column: 19 }, end: { line: 3, column: 2 } };
    const files = (text: string) => ({
      files: { "a.ts": { source: text, mutants: [{ status: "Survived", location, replacement: "{}" }] } },
    });
    expect(formatReport(files(source), 1)).toMatch(
      "a.ts:1 function isOpen() { return failures >= limit; }  ->  function isOpen() {}\n",
    );
    expect(formatReport(files(source.replace("limit", "limit".repeat(50))), 1)).toMatch(
      /limitl \.\.\. itlimit.*limit; } {2}->/,
    );
  });

  it.each(["Killed", "Timeout", "RuntimeError"])("counts %s as killed", (status) => {
    expect(formatReport(report(status), 7)).toBe("1 killed, 0 survived of 1, seed 7");
  });

  it.each([
    ["CompileError", NOT_CHOSEN],
    ["Ignored", "excluded"],
  ])("leaves out what was not tried: %s, %s", (status, reason) => {
    expect(formatReport(report(status, reason), 7)).toBe("0 killed, 0 survived of 0, seed 7");
  });

  it("fails for what cannot be judged", () => {
    expect(() => formatReport(report("Pending"), 7)).toThrow("src/a.ts");
  });
});

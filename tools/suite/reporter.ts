import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import {
  DefaultReporter,
  type RunnerTestFile,
  type SerializedError,
  type TestCase,
  type TestModule,
  type TestRunEndReason,
  type TestSpecification,
  type TestSuite,
} from "vitest/node";
import { describeFailure, type Failure } from "./failure.ts";

/** With more files than this, a file that passes gets no line of its own. */
const FEW_FILES = 20;
/** So many lines say how far a run with many files is. */
const PROGRESS_LINES = 5;

declare module "vitest" {
  interface TaskMeta {
    /** What the operator of a failed test printed last. */
    operator?: string;
  }
}

/** What a part of the suite came to: see the variable SUITE_OUTCOME. */
export interface Outcome {
  readonly files: number;
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

/** The file for the Outcome. Whoever set it tells the failures. */
const OUTCOME = process.env["SUITE_OUTCOME"];

/**
 * Prints little while tests pass. Where one fails, the end of the output has all that is needed to look for the cause.
 * Writes its Outcome to the file that the variable SUITE_OUTCOME names.
 */
export class SuiteReporter extends DefaultReporter {
  #files = 0;
  #done = 0;

  override onTestRunStart(specifications: readonly TestSpecification[]): void {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
    const seed = this.ctx.getSeed();
    const isShuffled = process.argv.some((argument) => argument.startsWith("--sequence.shuffle"));
    if (isShuffled) this.log(`In random order: --sequence.seed=${seed ?? this.ctx.config.sequence.seed}`);
  }

  override printTestModule(module: TestModule): void {
    this.#done += 1;
    if (module.state() === "failed" || this.#files <= FEW_FILES) super.printTestModule(module);
    else this.#progress();
  }

  override onTestRunEnd(
    modules: readonly TestModule[],
    errors: readonly SerializedError[],
    reason: TestRunEndReason,
  ): void {
    // of the files that were asked for, this part has none
    if (OUTCOME && modules.length === 0 && errors.length === 0) return;
    super.onTestRunEnd(modules, errors, reason);
  }

  override reportTestSummary(files: RunnerTestFile[], errors: unknown[], leaks: number): void {
    const failures = this.ctx.state.getTestModules().flatMap(failuresOf);
    if (!OUTCOME) for (const line of failures.flatMap(describeFailure)) this.log(line);
    super.reportTestSummary(files, errors, leaks);
    if (OUTCOME) writeFileSync(OUTCOME, JSON.stringify(this.#outcome(failures, errors.length)));
  }

  #progress(): void {
    const step = Math.ceil(this.#files / PROGRESS_LINES);
    if (this.#done % step === 0 && this.#done < this.#files) this.log(`${this.#done} of ${this.#files} files`);
  }

  #outcome(failures: readonly Failure[], errors: number): Outcome {
    const modules = this.ctx.state.getTestModules();
    const tests = modules.flatMap((module) => [...module.children.allTests("passed")]);
    return { files: modules.length, passed: tests.length, failed: failures.length + errors, failures };
  }
}

/** Everything in a file that has failed: tests, and hooks and imports, for want of which tests did not run. */
function failuresOf(module: TestModule): Failure[] {
  const suites: readonly (TestModule | TestSuite)[] = [module, ...module.children.allSuites()];
  const tests: readonly TestCase[] = [...module.children.allTests("failed")];
  const failure = (of: TestModule | TestSuite | TestCase, errors: Failure["errors"]): Failure => ({
    file: relative(module.project.vitest.config.root, module.moduleId),
    project: module.project.name,
    name: "fullName" in of ? of.fullName : "",
    errors,
    operator: of.meta().operator,
  });
  return [
    ...suites.filter((suite) => suite.errors().length > 0).map((suite) => failure(suite, suite.errors())),
    ...tests.map((test) => failure(test, test.result().errors ?? [])),
  ];
}

import { onInterrupt } from "../shared/interrupt.ts";
import { runProgram } from "../shared/program.ts";
import { program } from "./arguments.ts";
import { demo } from "./demo.ts";
import { line } from "./screen/line.ts";
import { Screen } from "./screen/screen.ts";

const INTERRUPTED = 130;

await runProgram(program, async (args) => {
  const screen = new Screen(process.stdout);
  const interrupted = new AbortController();
  process.on("exit", () => screen.restore());
  onInterrupt(() => {
    // the second time: end at once, and everything that was started with it
    if (interrupted.signal.aborted) process.exit(INTERRUPTED);
    screen.live([]);
    screen.print([], line("  stopping ...", "dim"));
    interrupted.abort();
  });
  try {
    return await demo(args, screen, interrupted.signal);
  } catch (error) {
    if (interrupted.signal.aborted) {
      screen.print(line("  everything is stopped and removed", "dim"));
      return args.once ? INTERRUPTED : 0;
    }
    screen.print([], line(`  ${error instanceof Error ? error.message : error}`, "red"));
    return 1;
  }
});

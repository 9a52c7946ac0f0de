import { INTERRUPTED, onInterrupt } from "../shared/interrupt.ts";
import { type Arguments, readArguments, USAGE, UsageError } from "./arguments.ts";
import { demo } from "./demo.ts";
import { line } from "./screen/line.ts";
import { Screen } from "./screen/screen.ts";

function argumentsOrExit(): Arguments {
  try {
    return readArguments(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    console.error(`${error.message}\n\n${USAGE}`);
    process.exit(2);
  }
}

const args = argumentsOrExit();
if (args.help) {
  console.log(USAGE);
  process.exit(0);
}

const screen = new Screen(process.stdout);
const interrupted = new AbortController();
process.on("exit", () => screen.restore());
onInterrupt(() => {
  // whoever asks twice cannot wait; what was started ends with this process all the same
  if (interrupted.signal.aborted) process.exit(INTERRUPTED);
  screen.live([]);
  screen.print([], line("  stopping ...", "dim"));
  interrupted.abort();
});

try {
  process.exitCode = await demo(args, screen, interrupted.signal);
} catch (error) {
  if (interrupted.signal.aborted) {
    screen.print(line("  everything is stopped and removed", "dim"));
    process.exitCode = args.once ? INTERRUPTED : 0;
  } else {
    screen.print([], line(`  ${error instanceof Error ? error.message : error}`, "red"));
    process.exitCode = 1;
  }
}

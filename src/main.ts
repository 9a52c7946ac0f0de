#!/usr/bin/env node
import { basename } from "node:path";
import { terminalOf } from "./cli/terminal/terminal.ts";
import { ConfigError, readConfig, readTerminalConfig } from "./config.ts";
import { faultIn } from "./http/fault.ts";
import { runOperator } from "./run-operator.ts";
import { textOf } from "./runtime/log.ts";
import { OPERATOR_NAME } from "./schema/contract.ts";

const operate = async (): Promise<number> => runOperator(readConfig());

function fail(error: unknown): number {
  const stack = faultIn(error)?.stack;
  const failed = [`Failed: ${textOf(error)}`, ...(stack ? stack.split("\n") : [])];
  terminalOf({ noColour: true }).warn(error instanceof ConfigError ? error.message.split("\n") : failed);
  return 1;
}

/** The name of the file that kubectl runs as its plug-in `kubectl tunnelgateway`. */
const PLUGIN = "kubectl-tunnelgateway";

async function main([, program = "", ...argv]: readonly string[]): Promise<number> {
  const isPlugin = basename(program) === PLUGIN;
  // an operator that runs does not load the commands
  if (!isPlugin && (argv.length === 0 || (argv.length === 1 && argv[0] === "run"))) return operate();
  const { dispatch } = await import("./cli/dispatch.ts");
  const [given, name] = isPlugin
    ? [argv.length > 0 ? argv : ["--help"], "kubectl tunnelgateway"]
    : [argv, OPERATOR_NAME];
  return dispatch(given, terminalOf(readTerminalConfig()), operate, name);
}

process.exitCode = await main(process.argv).catch(fail);

#!/usr/bin/env node
import { parse } from "node:path";
import { terminalOf } from "./cli/terminal/terminal.ts";
import { ConfigError, readConfig, readTerminalConfig } from "./config.ts";
import { faultIn } from "./http/fault.ts";
import { runOperator } from "./run-operator.ts";
import { loadConnection } from "./runtime/connection/kubeconfig.ts";
import { textOf } from "./runtime/log.ts";
import { sourceStack } from "./runtime/stack.ts";
import { OPERATOR_NAME } from "./schema/contract.ts";

/** With a kubeconfig, a word of a person starts the operator, so it says first what it is about to manage. */
async function operate({ yes = false }: { yes?: boolean }): Promise<number> {
  const config = readConfig();
  if (loadConnection(config).isPodOwn) return runOperator(config);
  const { mayRun } = await import("./cli/run.ts");
  return (await mayRun(config, terminalOf(readTerminalConfig()), yes)) ? runOperator(config) : 1;
}

function fail(error: unknown): number {
  const stack = faultIn(error)?.stack;
  const failed = [`Failed: ${textOf(error)}`, ...(stack ? sourceStack(stack).split("\n") : [])];
  terminalOf({ noColour: true }).warn(error instanceof ConfigError ? error.message.split("\n") : failed);
  return 1;
}

/** The name of the file that kubectl runs as its plug-in `kubectl tunnelgateway`, without the .js or .ts that npm may leave. */
const PLUGIN = "kubectl-tunnelgateway";

async function main([, program = "", ...argv]: readonly string[]): Promise<number> {
  // an operator that runs does not load the commands
  if (argv.length === 1 && argv[0] === "run") return operate({});
  const { dispatch } = await import("./cli/dispatch.ts");
  const name = parse(program).name === PLUGIN ? "kubectl tunnelgateway" : OPERATOR_NAME;
  return dispatch(argv, terminalOf(readTerminalConfig()), operate, name);
}

process.exitCode = await main(process.argv).catch(fail);

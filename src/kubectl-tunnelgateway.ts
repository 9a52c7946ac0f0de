#!/usr/bin/env node
// The plug-in of kubectl, under the name by which kubectl looks for it. It imports nothing by itself: an older Node cannot
// load the program, and would say so with a stack trace.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major > 22 || (major === 22 && minor >= 19)) await import("./main.ts");
else {
  process.stderr.write(`kubectl tunnelgateway needs Node.js 22.19 or newer. This is ${process.version}.\n`);
  process.exitCode = 1;
}

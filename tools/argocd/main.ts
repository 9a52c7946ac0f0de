import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { asText, defineProgram, runProgram, UsageError } from "../shared/program.ts";
import { layoutOf } from "./layout.ts";
import { readSources } from "./sources.ts";

const program = defineProgram({
  command: "npm run argocd --",
  about: "Writes health and actions as the repository of Argo CD has them.",
  options: {
    out: {
      value: "folder",
      about: "the root of a checkout of Argo CD, or any other folder",
      initial: "",
      read: asText,
    },
  },
});

await runProgram(program, async ({ out }) => {
  if (out === "") throw new UsageError("--out names the folder to write into");
  const files = layoutOf(await readSources());
  for (const [name, text] of files) {
    const file = join(out, "resource_customizations", name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  console.log(`${files.size} files are in ${join(out, "resource_customizations")}`);
  return 0;
});

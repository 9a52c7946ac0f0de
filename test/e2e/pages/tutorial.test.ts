import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { useWorld } from "../../support/world.ts";
import { Page, Shell } from "../support/page.ts";

/** Does what the tutorial says, with kubectl, and looks at the account in between. */
const world = useWorld({ process: true });

let directory: string;
let shell: Shell;
let page: Page;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "tutorial-page-"));
  await mkdir(join(directory, "bin"));
  const kubectl = join(directory, "bin/kubectl");
  await writeFile(kubectl, `#!/bin/sh\nexec ${world.cluster.kubectl} "$@"\n`);
  await chmod(kubectl, 0o755);
  const kubeconfig = join(directory, "kubeconfig");
  const { stdout } = await world.cluster.kubectlRun(["config", "view", "--raw", "--flatten"]);
  await writeFile(kubeconfig, stdout);
  const env = { PATH: `${join(directory, "bin")}:${process.env["PATH"]}`, HOME: directory, KUBECONFIG: kubeconfig };
  shell = new Shell(directory, {
    env,
    substitutions: new Map([["from default namespace", `from ${world.namespace} namespace`]]),
  });
  await shell.run(`kubectl config set-context --current --namespace=${world.namespace}`);
  page = await Page.read("docs/tutorial.md", shell);
});
afterAll(async () => {
  shell?.leave();
  if (directory) await rm(directory, { recursive: true });
});

const inAccount = (): number => Object.values(world.simulator.control.summary()).reduce((sum, count) => sum + count, 0);

test("the tutorial does what it shows, from a domain to nothing", async () => {
  const before = inAccount();
  await writeFile(join(directory, "domain.yaml"), page.take("Reserve a domain", "yaml"));
  await page.run("Reserve a domain");
  expect(world.simulator.control.objects("reserved_domains")).toMatchObject([{ domain: "hello.example.com" }]);

  await writeFile(join(directory, "service.yaml"), page.take("Say where traffic goes", "yaml"));
  await page.run("Say where traffic goes");
  expect(inAccount()).toBe(before + 5);

  await page.run("Look at it");
  await page.run("Change it");
  expect(world.simulator.control.objects("backends/http_response")).toMatchObject([{ body: "Back at noon." }]);

  await page.run("Delete something that is in use");
  await page.run("Take it down");
  expect(inAccount()).toBe(before);
  expect(page.unused).toEqual([]);
});

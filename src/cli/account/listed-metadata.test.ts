import { expect, it } from "vitest";
import { remotes } from "../../../test/fakes/cli/fixed-account.ts";
import type { Answer } from "../../../test/fakes/cli/fixed-services.ts";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { kinds } from "../../kinds/index.ts";

// Lists leave out `metadata`, and with it the owner marks that a GET shows.

const { run, failing } = useFixedServices();

let reads: string[];

/** `marked`: ids that somebody has marked for another cluster. */
function hideMarks(marked: readonly string[] = []): void {
  reads = [];
  failing(({ method, path }): Answer | undefined => {
    const kind = kinds.find(({ resource, location }) => location.type === "collection" && path === resource.path);
    const rows = (kind && remotes.get(kind)) ?? [];
    if (kind) return ok({ [kind.resource.listKey]: rows.map(({ metadata: _, ...row }) => row), uri: path });
    const found = [...remotes].flatMap(([{ resource }, all]) =>
      all.filter(({ id }) => path === `${resource.path}/${id}`),
    )[0];
    if (!found) return undefined;
    reads.push(`${method} ${found.id}`);
    if (method === "DELETE") return { status: 204, body: "" };
    return marked.includes(found.id) ? ok({ ...found, metadata: '{"tunnelgateway.dev/owner":"c2/a/b"}' }) : ok(found);
  });
}

const ok = (body: object): Answer => ({ status: 200, body });

it.each(["orphans --unmanaged -o json", "import --all", "import --all --exclude-managed", "plan -o json"])(
  "%s says the same as where lists show marks",
  async (line) => {
    const shown = await run(line);
    hideMarks();
    expect(await run(line)).toEqual(shown);
    expect(reads.length).toBeGreaterThan(0);
    expect(new Set(reads).size).toBe(reads.length);
  },
);

it.each(["tree", "users ippolicy/office"])("%s needs no marks, and reads none", async (line) => {
  hideMarks();
  await run(line);
  expect(reads).toEqual([]);
});

it("orphans --delete keeps what somebody has marked since it was listed", async () => {
  hideMarks();
  const { stdout } = await run("orphans --unmanaged -o name");
  const ids = stdout.split("\n").flatMap((line) => /\S+_\S+/.exec(line)?.[0] ?? []);
  expect(ids.length).toBeGreaterThan(0);
  const marked: string[] = [];
  hideMarks(marked);
  const asked = { ask: async () => marked.push(...ids) > 0 };
  const { code, stderr } = await run("orphans --unmanaged --delete", asked);
  expect(stderr).toContain("somebody else has marked it");
  expect(code).toBe(1);
  expect(reads.filter((read) => read.startsWith("DELETE"))).toEqual([]);
});

import { expect, test, vi } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";

const { run, writing } = useFixedServices();

test.each([true, false])(
  "where nothing tells whose the objects are, a person who is shown them decides: %s",
  async (yes) => {
    writing("done");
    const questions: string[] = [];
    const ask = async (question: string) => questions.push(question) > 0 && yes;
    const { code, stdout, stderr } = await run("uninstall --policy delete", { ask });
    expect(questions).toEqual(["Delete 13 objects?"]);
    expect(stdout).toContain("  IPPolicy shop/office: ipp_2leg4kyX69U6IswsdjKIohVXiFIz\n");
    expect({ code, stderr }).toEqual(yes ? { code: 0, stderr: "" } : { code: 1, stderr: "Nothing was deleted" });
    expect(stdout.includes("0 left")).toBe(yes);
  },
);

test("the operator's own pod asks nobody", async () => {
  writing("done");
  vi.stubEnv("POD_NAMESPACE", "gateway");
  expect(await run("uninstall --policy delete")).toMatchObject({ code: 0, stderr: "" });
});

import { expect, it } from "vitest";
import { WriteTurns } from "./write-turns.ts";

it("a write begins when the previous one for its key has ended, even with an error, and delays no other key", async () => {
  const turns = new WriteTurns();
  const first = Promise.withResolvers<void>();
  const began: string[] = [];
  const write = (name: string, until?: Promise<void>) => async () => {
    began.push(name);
    await until;
    return name;
  };
  const failing = turns.run("a", write("a1", first.promise));
  const following = turns.run("a", write("a2"));
  expect(await turns.run("b", write("b1"))).toBe("b1");
  expect(began).toEqual(["a1", "b1"]);
  first.reject(new Error("refused"));
  await expect(failing).rejects.toThrow("refused");
  expect(await following).toBe("a2");
});

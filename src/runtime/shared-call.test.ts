import { describe, expect, it } from "vitest";
import { SharedCall } from "./shared-call.ts";

/** Calls that the test ends; each returns its number. */
function calls() {
  const pending: PromiseWithResolvers<number>[] = [];
  const shared = new SharedCall(() => {
    const call = Promise.withResolvers<number>();
    pending.push(call);
    return call.promise;
  });
  const begun = async () => {
    await new Promise(setImmediate);
    return pending.length;
  };
  return { shared, pending, begun };
}

describe("SharedCall", () => {
  it("gives callers that ask during a call the answer of the next one", async () => {
    const { shared, pending, begun } = calls();
    const first = shared.ask();
    const later = [shared.ask(), shared.ask(), shared.ask()];
    expect(await begun()).toBe(1);
    pending[0]?.resolve(1);
    expect(await first).toBe(1);
    expect(await begun()).toBe(2);
    pending[1]?.resolve(2);
    expect(await Promise.all(later)).toEqual([2, 2, 2]);
  });

  it("gives no caller the answer of a call that began before its question", async () => {
    const { shared, pending, begun } = calls();
    const first = shared.ask();
    const second = shared.ask();
    pending[0]?.resolve(1);
    await first;
    expect(await begun()).toBe(2);
    const third = shared.ask();
    pending[1]?.resolve(2);
    expect(await second).toBe(2);
    expect(await begun()).toBe(3);
    pending[2]?.resolve(3);
    expect(await third).toBe(3);
  });

  it("caches nothing", async () => {
    const { shared, pending, begun } = calls();
    const first = shared.ask();
    pending[0]?.resolve(1);
    await first;
    const second = shared.ask();
    expect(await begun()).toBe(2);
    pending[1]?.resolve(2);
    expect(await second).toBe(2);
  });

  it("rejects only for the callers of the call that failed", async () => {
    const { shared, pending, begun } = calls();
    const first = shared.ask();
    const second = shared.ask();
    pending[0]?.reject(new Error("lost"));
    await expect(first).rejects.toThrow("lost");
    expect(await begun()).toBe(2);
    pending[1]?.resolve(2);
    expect(await second).toBe(2);
  });
});

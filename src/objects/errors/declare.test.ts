import { describe, expect, it } from "vitest";
import { Blocked, Retry, Waiting } from "../reconcile-error.ts";
import { declaredErrors } from "./all.ts";
import { blocked, retry, waiting } from "./declare.ts";

const taken = blocked("AlreadyExists", ({ port }: { port: number }) => `Choose another port than ${port}`, { port: 7 });

describe("a declared error", () => {
  it.each([
    [waiting, Waiting],
    [blocked, Blocked],
    [retry, Retry],
  ])("is what an object reports, with the values in its text", (declare, Type) => {
    const cause = new Error("7 is taken");
    const error = declare("InUse", ({ id }: { id: string }) => `Leave ${id}`, { id: "a" })(
      { id: "b" },
      { cause, afterSeconds: 9 },
    );
    expect(error).toBeInstanceOf(Type);
    expect(error).toMatchObject({ reason: "InUse", message: "Leave b", afterSeconds: 9, cause });
  });

  it("gives its values back, and those of no other error", () => {
    const other = blocked("AlreadyExists", ({ port }: { port: number }) => `Choose another port than ${port}`, {
      port: 7,
    });
    expect(taken.valuesOf(taken({ port: 8 }))).toEqual({ port: 8 });
    expect([other.valuesOf(taken({ port: 8 })), taken.valuesOf(new Error("x")), taken.valuesOf(undefined)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("may have a reason that its values say", () => {
    const failing = retry(
      ({ isQuota }: { isQuota: boolean }) => (isQuota ? "QuotaExceeded" : "InvalidSpec"),
      () => "m",
      { isQuota: true },
    );
    expect([failing.reason, failing({ isQuota: false }).reason]).toEqual([undefined, "InvalidSpec"]);
  });

  it("has its values in no member that a log would print", () => {
    expect(JSON.stringify(taken({ port: 8 }))).not.toContain("8");
  });
});

it.each([...declaredErrors])("%s is one line, and its values are read back", (_, declared) => {
  for (const values of declared.examples) {
    const error = declared(values);
    expect(error.message).toMatch(/^\S.*\S$/);
    expect(error.message).not.toMatch(/undefined|\[object/);
    expect(declared.valuesOf(error)).toBe(values);
  }
});

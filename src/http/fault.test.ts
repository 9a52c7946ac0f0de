import assert from "node:assert";
import { expect, it } from "vitest";
import { faultIn, isFault, proxyAdvice, proxyStatusOf } from "./fault.ts";

const thrownBy = (act: () => unknown): unknown => {
  try {
    return act();
  } catch (error) {
    return error;
  }
};
const missing = undefined as unknown as { connect: () => void };
const coded = (code: string, message: string) => Object.assign(new Error(message), { code });

it.each([
  thrownBy(() => missing.connect()),
  thrownBy(() => new URL("no address")),
  thrownBy(() => assert.equal(1, 2)),
  thrownBy(() => new Array(-1)),
  coded("UND_ERR_INVALID_ARG", "invalid path"),
])("%s is a mistake of the program, also as a cause", (error) => {
  expect(isFault(error)).toBe(true);
  expect(faultIn(new Error("the call failed", { cause: new Error("it", { cause: error }) }))).toBe(error);
});

it.each([
  coded("ECONNREFUSED", "connect ECONNREFUSED"),
  coded("UND_ERR_CONNECT_TIMEOUT", "Connect Timeout Error"),
  coded("UND_ERR_INVALID_ARG", "Proxy Authentication Required (407)"),
  coded("UND_ERR_ABORTED", "Proxy response (403) !== 200 when HTTP Tunneling"),
  new AggregateError([], "all attempts failed"),
  new DOMException("aborted", "AbortError"),
  "TypeError",
  undefined,
])("%s is none", (error) => {
  expect(isFault(error)).toBe(false);
});

it("knows with which status a proxy refused", () => {
  expect(proxyStatusOf(coded("UND_ERR_ABORTED", "Proxy response (403) !== 200 when HTTP Tunneling"))).toBe(403);
  expect(proxyStatusOf(coded("UND_ERR_INVALID_ARG", "Proxy Authentication Required (407)"))).toBe(407);
  expect(proxyStatusOf(new Error("anything"))).toBeUndefined();
  expect([407, 401].map(proxyAdvice)).toEqual(Array(2).fill(expect.stringContaining("the password")));
  expect(proxyAdvice(403)).toContain("let the proxy connect to this host");
});

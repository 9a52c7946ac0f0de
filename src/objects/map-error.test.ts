import { describe, expect, it } from "vitest";
import { type Failure, GatewayError, NO_API_KEY, PROXY_REFUSED } from "../gateway/errors.ts";
import { reconcileErrorOf, retryAfterSeconds } from "./map-error.ts";
import { Blocked, Outdated, Retry, Waiting } from "./reconcile-error.ts";

const failure = (more: Pick<Failure, "kind"> & Partial<Failure>) =>
  new GatewayError({ method: "POST", route: "/ip_policies", problem: "what happened", ...more });

describe("reconcileErrorOf", () => {
  it("throws what a mistake of the program caused, since waiting does not help", () => {
    const cause = new TypeError("connect is not a function");
    const error = failure({ kind: "unsent", cause });
    expect(() => reconcileErrorOf(error)).toThrow(error);
  });

  it.each([
    ["the API key is empty", "it is empty"],
    ["the API key could not be read (ENOENT)", "it could not be read (ENOENT)"],
    ["the API key has characters that cannot be sent", "it has characters that cannot be sent"],
  ])("says of a key why it cannot be used: %s", (said, told) => {
    const error = failure({ kind: "unsent", code: NO_API_KEY, cause: new Error(said) });
    expect(reconcileErrorOf(error)?.message).toBe(`Set the API key of the account, or of the operator: ${told}`);
  });

  it("says to look at the proxy that refuses", () => {
    const error = reconcileErrorOf(failure({ kind: "unsent", code: PROXY_REFUSED }));
    expect(error?.message).toMatch(/^Check the proxy to the service: /);
  });

  it.each([
    ["a time-out", { kind: "unknown" }, Retry, "ServiceUnavailable"],
    ["a connection that is refused", { kind: "unsent" }, Retry, "ServiceUnavailable"],
    ["no API key", { kind: "unsent", code: NO_API_KEY }, Retry, "AccountNotReady"],
    ["a 500", { kind: "failed", status: 500 }, Retry, "ServiceUnavailable"],
    ["a 429", { kind: "limited", status: 429 }, Retry, "RateLimited"],
    ["an unreadable answer", { kind: "unreadable", status: 200 }, Retry, "UnexpectedResponse"],
    ["a redirect", { kind: "redirected", status: 302 }, Retry, "UnexpectedResponse"],
    ["a 401", { kind: "refused", status: 401 }, Blocked, "Unauthorized"],
    ["a 403", { kind: "refused", status: 403 }, Blocked, "Forbidden"],
    ["a 400", { kind: "refused", status: 400 }, Blocked, "InvalidSpec"],
    ["a 402", { kind: "refused", status: 402 }, Blocked, "QuotaExceeded"],
    ["a 422 that tells of a quota", { kind: "refused", status: 422, code: "ERR_QUOTA" }, Blocked, "QuotaExceeded"],
    ["a 403 that tells of a limit", { kind: "refused", status: 403, code: "LIMIT_REACHED" }, Blocked, "QuotaExceeded"],
    ["a 404", { kind: "refused", status: 404 }, Blocked, "InvalidSpec"],
    ["a 409", { kind: "refused", status: 409 }, Blocked, "InvalidSpec"],
    ["a 413", { kind: "refused", status: 413 }, Blocked, "InvalidSpec"],
    ["a 422", { kind: "refused", status: 422 }, Blocked, "InvalidSpec"],
    ["a 405, as in maintenance", { kind: "refused", status: 405 }, Retry, "UnexpectedResponse"],
    ["a 407 of a proxy", { kind: "refused", status: 407 }, Retry, "UnexpectedResponse"],
    ["a 408", { kind: "refused", status: 408 }, Retry, "UnexpectedResponse"],
    ["a 425", { kind: "refused", status: 425 }, Retry, "UnexpectedResponse"],
    ["a 499, which means nothing", { kind: "refused", status: 499 }, Retry, "UnexpectedResponse"],
    [
      "a 400 to a GET, which carries no spec",
      { kind: "refused", status: 400, method: "GET" },
      Retry,
      "UnexpectedResponse",
    ],
    ["a 404 to a GET", { kind: "refused", status: 404, method: "GET" }, Retry, "UnexpectedResponse"],
  ] as const)("of %s", (_, given, type, reason) => {
    const error = failure(given);
    const found = reconcileErrorOf(error);
    expect(found).toBeInstanceOf(type);
    expect(found?.reason).toBe(reason);
    expect(found?.cause).toBe(error);
  });

  it("quotes the service's message, or else what happened", () => {
    const quoted = reconcileErrorOf(failure({ kind: "refused", status: 400, serviceMessage: "domain is taken" }));
    expect(quoted?.message).toContain("domain is taken");
    expect(quoted?.message).not.toContain("what happened");
    expect(reconcileErrorOf(failure({ kind: "refused", status: 400 }))?.message).toContain("what happened");
  });

  it.each(["limited", "failed"] as const)("keeps Retry-After of an answer that is %s, up to ten minutes", (kind) => {
    expect(reconcileErrorOf(failure({ kind, retryAfterSeconds: 17 }))?.afterSeconds).toBe(17);
    expect(reconcileErrorOf(failure({ kind }))?.afterSeconds).toBeUndefined();
    // a day may be a mistake of the service
    expect(reconcileErrorOf(failure({ kind, retryAfterSeconds: 86_400 }))?.afterSeconds).toBe(600);
  });

  it.each([new Waiting("InUse", "w"), new Blocked("InUse", "b"), new Retry("Creating", "r")])(
    "of $name is the same error",
    (error) => {
      expect(reconcileErrorOf(error)).toBe(error);
    },
  );

  it("is undefined when somebody else wrote first", () => {
    expect(reconcileErrorOf(new Outdated("the object has changed"))).toBeUndefined();
  });

  it("rethrows a fault in the program", () => {
    const fault = new TypeError("undefined is not a function");
    expect(() => reconcileErrorOf(fault)).toThrow(fault);
  });
});

describe("retryAfterSeconds", () => {
  it.each([
    ["half an hour when only a person can help", new Blocked("InvalidSpec", "m"), 1800],
    ["as the error says, also when only a person can help", new Blocked("InvalidSpec", "m", { afterSeconds: 5 }), 5],
    ["as the error says", new Waiting("InUse", "m", { afterSeconds: 300 }), 300],
    ["left to the backoff while waiting", new Waiting("ReferenceNotReady", "m"), undefined],
    ["left to the backoff after a failure", new Retry("ServiceUnavailable", "m"), undefined],
  ])("is %s", (_, error, seconds) => {
    expect(retryAfterSeconds(error)).toBe(seconds);
  });
});

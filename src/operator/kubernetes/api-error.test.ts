import { describe, expect, it } from "vitest";
import { KubeUnreachable, kubeErrorOf } from "../../runtime/connection/errors.ts";
import { toReconcileError } from "./api-error.ts";

const answer = (status: number, message: string, causes: object[] = [], reason = "Invalid") =>
  kubeErrorOf(status, JSON.stringify({ kind: "Status", message, reason, details: { causes } }));

const tooLong = {
  reason: "FieldValueTooLong",
  field: "metadata.annotations",
  message: "Too long: may not be more than 262144 bytes",
};
const unchecked = {
  reason: "FieldValueInvalid",
  field: "<nil>",
  message:
    "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation",
};

describe("an answer of the API server", () => {
  it.each<[string, unknown, string, string, string]>([
    [
      "about annotations that are full, which the API server says three times",
      answer(422, "…", [tooLong, tooLong, tooLong, unchecked]),
      "Blocked",
      "WriteRefused",
      "Make the object smaller: metadata.annotations: Too long: may not be more than 262144 bytes. Annotations of other tools often take the most",
    ],
    [
      "about a request that is too large",
      answer(413, "Request entity too large: limit is 3145728", [], "RequestEntityTooLarge"),
      "Blocked",
      "WriteRefused",
      "Make the object smaller: Request entity too large: limit is 3145728. Annotations of other tools often take the most",
    ],
    [
      "about an object that etcd does not take",
      answer(500, "etcdserver: request is too large", [], "InternalError"),
      "Blocked",
      "WriteRefused",
      "Make the object smaller: etcdserver: request is too large. Annotations of other tools often take the most",
    ],
    [
      "about several fields",
      answer(422, "…", [
        { field: "spec.a", message: "Required value" },
        { field: "spec.b", message: 'Unsupported value: "x: y": supported values: "a", "b"' },
        { field: "spec.c", message: 'Invalid value: "a \\" b": must be short' },
        { field: "spec.d", message: "Invalid value: 12: must be less: than 10" },
      ]),
      "Blocked",
      "WriteRefused",
      'Correct the object, or what refuses to let it be written: spec.a: Required value; spec.b: Unsupported value: supported values: "a", "b"; spec.c: must be short; spec.d: must be less: than 10',
    ],
    [
      "of a policy",
      answer(422, "…", [{ message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no" }]),
      "Blocked",
      "WriteRefused",
      "Correct the object, or what refuses to let it be written: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no",
    ],
    [
      "of a webhook",
      answer(400, 'admission webhook "w.example" denied the request: not today', [], "BadRequest"),
      "Blocked",
      "WriteRefused",
      'Correct the object, or what refuses to let it be written: admission webhook "w.example" denied the request: not today',
    ],
    [
      "of a webhook with the status of a missing right",
      answer(403, 'admission webhook "w.example" denied the request: not today', [], "Forbidden"),
      "Blocked",
      "WriteRefused",
      'Correct the object, or what refuses to let it be written: admission webhook "w.example" denied the request: not today',
    ],
    [
      "about a missing right",
      answer(
        403,
        'ippolicies.tunnelgateway.dev "a" is forbidden: User "system:serviceaccount:gateway-policies:operator" cannot patch resource "ippolicies" in API group "tunnelgateway.dev"',
        [],
        "Forbidden",
      ),
      "Retry",
      "Forbidden",
      'Grant the operator\'s service account the right: ippolicies.tunnelgateway.dev "a" is forbidden: User "system:serviceaccount:gateway-policies:operator" cannot patch resource "ippolicies" in API group "tunnelgateway.dev"',
    ],
    [
      "about an outage of its own",
      answer(503, "no etcd", [], ""),
      "Retry",
      "Pending",
      "Waiting for the Kubernetes API: no etcd",
    ],
    [
      "that it has too much to do",
      answer(429, "later", [], ""),
      "Retry",
      "Pending",
      "Waiting for the Kubernetes API: later",
    ],
    [
      "that the token is old",
      answer(401, "Unauthorized", [], ""),
      "Retry",
      "Pending",
      "Waiting for the Kubernetes API: Unauthorized",
    ],
    [
      "that none came",
      new KubeUnreachable("ETIMEDOUT", "no answer"),
      "Retry",
      "Pending",
      "Waiting for the Kubernetes API: no answer",
    ],
  ])("%s is told once, in its words", (_, error, name, reason, message) => {
    expect(toReconcileError(error)).toMatchObject({ name, reason, message });
  });

  it("about a Secret is told without its values, which it might quote", () => {
    const telling = { what: 'Secret "token"', quotesSecrets: true };
    const told = (error: unknown) => (toReconcileError(error, telling) as Error).message;
    expect(told(answer(422, "no: s3cret", [{ field: "data", message: "s3cret" }, { field: "data" }]))).toBe(
      'Correct Secret "token", or what refuses to let it be written: data',
    );
    expect(told(answer(400, 'webhook denied "s3cret"', [], "BadRequest"))).toBe(
      'Correct Secret "token", or what refuses to let it be written: BadRequest (status 400)',
    );
  });

  it.each([
    ["a conflict", answer(409, "changed", [], "Conflict")],
    ["a failed test of a patch", answer(422, "test failed")],
  ])("%s is no failure of the object", (_, error) => {
    expect(toReconcileError(error)).toMatchObject({ name: "Outdated" });
  });

  it("leaves a fault of the program as it is", () => {
    const fault = new TypeError("x");
    expect(toReconcileError(fault)).toBe(fault);
  });
});

import { expect, test } from "vitest";
import { selfSigned } from "../../tools/simulator/certificates/self-signed.ts";
import { certificatesProblem, keyPairProblem } from "./pem.ts";

const { certificatePem, privateKeyPem } = selfSigned({ commonName: "one", authority: true });

test("a private key is not sent where the service shows what it was sent", () => {
  const both = `${certificatePem}\n${privateKeyPem}`;
  expect(certificatesProblem(certificatePem)).toBeUndefined();
  expect(certificatesProblem(both)).toMatch(/^it has a private key/);
  expect(keyPairProblem({ "tls.crt": certificatePem, "tls.key": privateKeyPem })).toBeUndefined();
  expect(keyPairProblem({ "tls.crt": both, "tls.key": privateKeyPem })).toMatch(/^key "tls.crt" has a private key/);
});

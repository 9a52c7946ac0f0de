import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";
import { isIPv4 } from "node:net";
import { days } from "../shape/time.ts";
import { bits, boolean, der, integer, octets, oid, sequence, set, tagged, time, utf8 } from "./der.ts";

export interface SelfSignedOptions {
  readonly commonName: string;
  readonly organization?: string;
  /** The attribute serialNumber of the subject, which is not the serial number of the certificate. */
  readonly subjectSerialNumber?: string;
  /** Common name of the issuer that the certificate claims. Default: the subject. */
  readonly issuerName?: string;
  readonly dnsNames?: readonly string[];
  /** IPv4 only. */
  readonly ips?: readonly string[];
  readonly notBefore?: Date;
  /** Default: 90 days after `notBefore`. */
  readonly notAfter?: Date;
  /** May sign others. Default false. */
  readonly authority?: boolean;
  /** Default `ecdsa`. A process generates one RSA key and uses it for all certificates, since that takes long. */
  readonly keyType?: "rsa" | "ecdsa" | "ed25519";
}

export interface KeyedCertificate {
  readonly certificatePem: string;
  /** PKCS #8. */
  readonly privateKeyPem: string;
}

interface Algorithm {
  readonly keys: () => { publicKey: KeyObject; privateKey: KeyObject };
  readonly identifier: Buffer;
  readonly digest: string | null;
}

let rsaKeys: ReturnType<Algorithm["keys"]> | undefined;

const algorithms: Readonly<Record<"rsa" | "ecdsa" | "ed25519", Algorithm>> = {
  rsa: {
    keys() {
      rsaKeys ??= generateKeyPairSync("rsa", { modulusLength: 2048 });
      return rsaKeys;
    },
    identifier: sequence(oid("1.2.840.113549.1.1.11"), der(0x05)),
    digest: "sha256",
  },
  ecdsa: {
    keys: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
    identifier: sequence(oid("1.2.840.10045.4.3.2")),
    digest: "sha256",
  },
  ed25519: {
    keys: () => generateKeyPairSync("ed25519"),
    identifier: sequence(oid("1.3.101.112")),
    digest: null,
  },
};

/** A self-signed certificate. Node can sign but not encode certificates, so the DER is written here. */
export function selfSigned(options: SelfSignedOptions): KeyedCertificate {
  const { keys, identifier, digest } = algorithms[options.keyType ?? "ecdsa"];
  const { publicKey, privateKey } = keys();
  const subject = nameOf(options);
  const notBefore = options.notBefore ?? new Date();
  const notAfter = options.notAfter ?? new Date(notBefore.getTime() + days(90));
  const body = sequence(
    tagged(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    identifier,
    options.issuerName ? nameOf({ commonName: options.issuerName }) : subject,
    sequence(time(notBefore), time(notAfter)),
    subject,
    publicKey.export({ format: "der", type: "spki" }),
    tagged(3, sequence(...extensions(options))),
  );
  const certificate = sequence(body, identifier, bits(sign(digest, body, privateKey)));
  return {
    certificatePem: pem("CERTIFICATE", certificate),
    privateKeyPem: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  };
}

function nameOf({ commonName, organization, subjectSerialNumber }: SelfSignedOptions): Buffer {
  const attribute = (type: string, value: string) => set(sequence(oid(type), utf8(value)));
  const parts = organization ? [attribute("2.5.4.10", organization)] : [];
  const numbered = subjectSerialNumber ? [attribute("2.5.4.5", subjectSerialNumber)] : [];
  return sequence(...parts, attribute("2.5.4.3", commonName), ...numbered);
}

function extensions({ authority = false, dnsNames = [], ips = [] }: SelfSignedOptions): Buffer[] {
  const extension = (type: string, value: Buffer) => sequence(oid(type), boolean(true), octets(value));
  const names = [
    ...dnsNames.map((name) => der(0x82, Buffer.from(name))),
    ...ips.filter(isIPv4).map((ip) => der(0x87, Buffer.from(ip.split(".").map(Number)))),
  ];
  const constraints = extension("2.5.29.19", authority ? sequence(boolean(true)) : sequence());
  // authority: keyCertSign and cRLSign; leaf: digitalSignature and keyEncipherment
  const usage = extension("2.5.29.15", authority ? bits(Buffer.from([0x06]), 1) : bits(Buffer.from([0xa0]), 5));
  const purposes = extension("2.5.29.37", sequence(oid("1.3.6.1.5.5.7.3.1"), oid("1.3.6.1.5.5.7.3.2")));
  const alternatives = sequence(oid("2.5.29.17"), octets(sequence(...names)));
  return [constraints, usage, ...(authority ? [] : [purposes]), ...(names.length > 0 ? [alternatives] : [])];
}

function pem(label: string, data: Buffer): string {
  const lines = data.toString("base64").match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ""].join("\n");
}

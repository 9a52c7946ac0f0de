/** Certificates with their keys, for tests only. The simulator creates such pairs, but `src` may not import it. */
const pairs: readonly (readonly [certificate: string, key: string])[] = [
  [
    `-----BEGIN CERTIFICATE-----
MIIBHTCB0KADAgECAhAB7cwcHXTuNzgTgSb90AYMMAUGAytlcDAOMQwwCgYDVQQD
DANvbmUwIBcNMjYwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMA4xDDAKBgNV
BAMMA29uZTAqMAUGAytlcAMhANEz7NelKBDKYD8pS2aJPwODs+EhxDFIEuGKwtNr
aGvNo0IwQDAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIFoDAgBgNVHSUBAf8E
FjAUBggrBgEFBQcDAQYIKwYBBQUHAwIwBQYDK2VwA0EAnjf/dBJdCVRqsw9VwDdW
zegxj2SM3vC5ortbNAopJ6ksVEx2HtlCr04HY4fs7U4X5AZUGXu+JkpATj7vhH+q
DA==
-----END CERTIFICATE-----
`,
    `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIF7rLo87ipjg0EXzBwk4TmToFTIHkVAPj56ZqVwCCUzx
-----END PRIVATE KEY-----
`,
  ],
  [
    `-----BEGIN CERTIFICATE-----
MIIBHTCB0KADAgECAhAB+6pU7uDTiH6XkcR53Wv4MAUGAytlcDAOMQwwCgYDVQQD
DAN0d28wIBcNMjYwMTAxMDAwMDAwWhgPMjEyNjAxMDEwMDAwMDBaMA4xDDAKBgNV
BAMMA3R3bzAqMAUGAytlcAMhAFPPo1/NbmrkLmxmNfWFReWectvCN6SuDZHBcIdq
6y1io0IwQDAMBgNVHRMBAf8EAjAAMA4GA1UdDwEB/wQEAwIFoDAgBgNVHSUBAf8E
FjAUBggrBgEFBQcDAQYIKwYBBQUHAwIwBQYDK2VwA0EASKSrHDsLGttLMtxH/nv5
PdNyfSRBhgLyeblGZ4/YyzTFHva9zVbVdLX950Gue33Q0oZHFXjBqRZcCyrhWIyJ
BA==
-----END CERTIFICATE-----
`,
    `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIH8+/ZcEDTmoMXMAlNH9NSU7APck3jdEn/4dTwzqycnD
-----END PRIVATE KEY-----
`,
  ],
  [
    `-----BEGIN CERTIFICATE-----
MIIBITCB1KADAgECAhABay6pIQbCzzKq7z4MJX8AMAUGAytlcDAQMQ4wDAYDVQQD
DAV0aHJlZTAgFw0yNjAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowEDEOMAwG
A1UEAwwFdGhyZWUwKjAFBgMrZXADIQAvd8ycLIJmIPv/sikwlpUqUhJ7y3Z0KGo9
Nf7ibAfJkqNCMEAwDAYDVR0TAQH/BAIwADAOBgNVHQ8BAf8EBAMCBaAwIAYDVR0l
AQH/BBYwFAYIKwYBBQUHAwEGCCsGAQUFBwMCMAUGAytlcANBAGATk6MDLrpi81wW
Wctbk1WFuzi2fG+UUYD7dVbP9Pb0L25Yba9JPArKHtpZNhsYTHZ97SeOQEKQLjQj
KVgcfAk=
-----END CERTIFICATE-----
`,
    `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIJWarZ9TRfrufcfuxJq6gtg3edqNROD7R0mB7nQDmLbl
-----END PRIVATE KEY-----
`,
  ],
  [
    `-----BEGIN CERTIFICATE-----
MIIBHzCB0qADAgECAhABx8jJ5mHbmi5nqjLVuPLIMAUGAytlcDAPMQ0wCwYDVQQD
DARmb3VyMCAXDTI2MDEwMTAwMDAwMFoYDzIxMjYwMTAxMDAwMDAwWjAPMQ0wCwYD
VQQDDARmb3VyMCowBQYDK2VwAyEA0+Qi4ncGq9gZtsONoVisNWCPkqDkI1Ge7gF2
N3KSspqjQjBAMAwGA1UdEwEB/wQCMAAwDgYDVR0PAQH/BAQDAgWgMCAGA1UdJQEB
/wQWMBQGCCsGAQUFBwMBBggrBgEFBQcDAjAFBgMrZXADQQCqboHGWMPXNHSth77x
xKwX/mnl9PFs6vEBknVBaISS08mvI8IwpZk6MqLl6znBnxAWoUqwHVsmsV2x6yw6
rWsE
-----END CERTIFICATE-----
`,
    `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEILmMpaGcP93w37pztL+ZQvsmrP6+xozGfLldEf2Zh8Wo
-----END PRIVATE KEY-----
`,
  ],
];

const names = ["first", "second", "third", "fourth"] as const;
export type PairName = (typeof names)[number];

/** The data of a Secret of type kubernetes.io/tls. */
export function keyPair(name: PairName): { "tls.crt": string; "tls.key": string } {
  const [certificate = "", key = ""] = pairs[names.indexOf(name)] ?? [];
  return { "tls.crt": certificate, "tls.key": key };
}

export const keyPairs = names.map(keyPair);

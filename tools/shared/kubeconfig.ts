export interface Access {
  readonly server: string;
  /** PEM in base64. Without it, certificates are checked as usual. */
  readonly certificateAuthority?: string;
  /** Default false. */
  readonly skipsTLSVerification?: boolean;
  /** Without it, requests carry no credential. */
  readonly token?: string;
}

/**
 * The text of a kubeconfig with one cluster and one user, which needs no other file. It is JSON, so that the operators
 * that tests start need not load a YAML parser.
 */
export function kubeconfigFor({ server, certificateAuthority, skipsTLSVerification, token }: Access): string {
  const name = "test";
  const cluster = {
    server,
    ...(certificateAuthority !== undefined && { "certificate-authority-data": certificateAuthority }),
    ...(skipsTLSVerification && { "insecure-skip-tls-verify": true }),
  };
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster }],
    users: [{ name, user: token === undefined ? {} : { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  });
}

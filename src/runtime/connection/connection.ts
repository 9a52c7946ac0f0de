import type { TlsOptions } from "../../http/dispatcher.ts";

export interface Credentials {
  /** Sent with every request. Secret. */
  headers: Readonly<Record<string, string | string[]>>;
  tls: TlsOptions;
}

/** Address and credentials of an API server. */
export interface Connection {
  /** URL, with the path in front of /api and /apis if there is one. */
  server: string;
  /** The namespace of the kubeconfig context or of the pod. */
  namespace?: string;
  /** The context of the kubeconfig. */
  context?: string;
  /** Whether it is that of the service account of the pod. A process in a pod may have a kubeconfig all the same. */
  isPodOwn?: true;
  /** Undefined: the API server is reached directly. */
  proxy?: URL | undefined;
  /** Reads tokens and certificates. `fresh`: the last ones were refused, so they are not taken from a cache. */
  credentials(options: { fresh: boolean }): Promise<Credentials>;
}

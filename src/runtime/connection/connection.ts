/** What undici needs to know about TLS towards the API server. */
export interface TlsOptions {
  ca?: string | Buffer;
  cert?: string | Buffer;
  key?: string | Buffer;
  pfx?: string | Buffer;
  passphrase?: string;
  servername?: string;
  rejectUnauthorized?: boolean;
}

export interface Credentials {
  /** sent with every request; secret */
  headers: Readonly<Record<string, string>>;
  tls: TlsOptions;
}

/** Where an API server is and how to be let in. */
export interface Connection {
  /** URL, possibly with a path in front of /api and /apis */
  server: string;
  /** of the kubeconfig context, or of the pod */
  namespace?: string;
  proxyUrl?: string;
  /** Reads tokens and certificates. `fresh`: those of before were refused, so nothing kept may be returned. */
  credentials(options: { fresh: boolean }): Promise<Credentials>;
}

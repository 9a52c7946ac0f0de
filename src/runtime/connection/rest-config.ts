/** A text that is in a file, or in the kubeconfig itself, encoded as base64. */
export interface FileOrData {
  data?: string | undefined;
  file?: string | undefined;
}

/**
 * Where an API server is and how to be let in, as a kubeconfig or a pod's service account says. Files are not read yet.
 */
export interface RestConfig {
  /** without a trailing slash */
  server: string;
  namespace?: string | undefined;
  proxyUrl?: string | undefined;
  ca: FileOrData;
  skipVerification?: boolean | undefined;
  servername?: string | undefined;
  cert: FileOrData;
  key: FileOrData;
  token?: string | undefined;
  tokenFile?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** The user entry has more than all this: only client-node knows what to make of it. */
  needsPlugin?: boolean | undefined;
}

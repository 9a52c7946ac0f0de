/** The content of a file, either by its path or as base64. */
export interface FileOrData {
  data?: string | undefined;
  file?: string | undefined;
}

/** Address and credentials of an API server, from a kubeconfig or a pod's service account. Files are not read yet. */
export interface RestConfig {
  /** URL without a trailing slash. */
  server: string;
  namespace?: string | undefined;
  /** The context of the kubeconfig. */
  context?: string | undefined;
  proxyUrl?: string | undefined;
  /** What the entry of the cluster says to credential plug-ins. */
  execConfig?: unknown;
  ca: FileOrData;
  skipVerification?: boolean | undefined;
  servername?: string | undefined;
  cert: FileOrData;
  key: FileOrData;
  token?: string | undefined;
  tokenFile?: string | undefined;
  username?: string | undefined;
  password?: string | undefined;
  /** Groups to impersonate. */
  groups?: readonly string[] | undefined;
  /** The user entry has members that only client-node understands, such as `exec`. */
  needsPlugin?: boolean | undefined;
}

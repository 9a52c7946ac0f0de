/** Classes of errors that no host can cause: the program has called something wrongly, or has read what is not there. */
const FAULTS = /^(Type|Reference|Range|Syntax|Eval|URI)Error$/;

/**
 * Whether an error is a mistake of the program, and not a failure of a host or of the way to it. Waiting does not help
 * against it, so it must never be told as an outage. A copy of an error is recognised by its name.
 */
export function isFault(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("code" in error && error.code === "ERR_ASSERTION") return true;
  if ("code" in error && error.code === "UND_ERR_INVALID_ARG") return proxyStatusOf(error) === undefined;
  return FAULTS.test(error.name);
}

/** The mistake of the program that an error reports, itself or by one of its causes. */
export function faultIn(error: unknown): Error | undefined {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (isFault(one)) return one;
  }
  return undefined;
}

/**
 * The status with which a proxy refused to connect to a host. undici says so only in a message, and calls a 407 of a proxy
 * to a host without TLS an invalid argument.
 */
export function proxyStatusOf({ message }: Error): number | undefined {
  const [, tunnel, forward] =
    /^Proxy response \((\d{3})\)|^Proxy Authentication Required \((407)\)/.exec(message) ?? [];
  const status = tunnel ?? forward;
  return status === undefined ? undefined : Number(status);
}

/** What a person has to do about the refusal of a proxy. Tinyproxy answers 401 instead of 407. */
export const proxyAdvice = (status: number): string =>
  status === 407 || status === 401
    ? `correct the user and the password of the proxy, which answered ${status}`
    : `let the proxy connect to this host, or use another proxy: it answered ${status}`;

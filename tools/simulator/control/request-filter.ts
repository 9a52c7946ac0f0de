export interface RequestFilter {
  readonly method?: string;
  /** A prefix of the path. A RegExp, or a string that begins with `^`, is a pattern instead. */
  readonly path?: string | RegExp;
}

export interface RequestLine {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
}

export function matches({ method, path }: RequestFilter, request: RequestLine): boolean {
  if (method !== undefined && method.toUpperCase() !== request.method) return false;
  if (path === undefined) return true;
  if (path instanceof RegExp) return new RegExp(path.source, path.flags.replace(/[gy]/g, "")).test(request.path);
  return path.startsWith("^") ? new RegExp(path).test(request.path) : request.path.startsWith(path);
}

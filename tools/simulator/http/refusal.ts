/** Thrown wherever a request is refused. `dispatch.ts` makes an answer of it. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  readonly code: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: number, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.status = status;
    this.code = `ERR_GATEWAY_${code}`;
    this.headers = headers;
  }
}

export const invalid = (message: string): Refusal => new Refusal(400, 202, message);
export const badRequest = (message: string): Refusal => new Refusal(400, 201, message);
export const unauthorized = (status: 401 | 403, message: string): Refusal => new Refusal(status, 206, message);
export const notFound = (message: string): Refusal => new Refusal(404, 404, message);
export const unsupported = (message: string): Refusal => new Refusal(405, 405, message);
export const conflict = (message: string): Refusal => new Refusal(409, 409, message);
export const inUse = (status: 400 | 409, message: string): Refusal => new Refusal(status, 446, message);
export const commandFailed = (message: string): Refusal => new Refusal(400, 701, message);
export const tooManyRequests = (seconds: number): Refusal =>
  new Refusal(429, 226, "Your account has exceeded its rate limit", { "retry-after": String(seconds) });

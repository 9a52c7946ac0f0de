/** One DER element: tag, length, content. */
export function der(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.from([tag]), length(body.length), body]);
}

function length(size: number): Buffer {
  if (size < 0x80) return Buffer.from([size]);
  const hex = size.toString(16);
  const digits = Buffer.from(hex.length % 2 ? `0${hex}` : hex, "hex");
  return Buffer.concat([Buffer.from([0x80 | digits.length]), digits]);
}

export const sequence = (...content: readonly Buffer[]): Buffer => der(0x30, ...content);
export const set = (...content: readonly Buffer[]): Buffer => der(0x31, ...content);
export const integer = (value: Buffer): Buffer => der(0x02, value);
export const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
export const octets = (value: Buffer): Buffer => der(0x04, value);
export const bits = (value: Buffer, unused = 0): Buffer => der(0x03, Buffer.from([unused]), value);
export const utf8 = (value: string): Buffer => der(0x0c, Buffer.from(value));
/** Explicit context tag. */
export const tagged = (tag: number, content: Buffer): Buffer => der(0xa0 | tag, content);

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}

/** UTCTime until 2049, GeneralizedTime after, as RFC 5280 asks. */
export function time(date: Date): Buffer {
  const digits = `${date.toISOString().replace(/[-:T]|\.\d+/g, "")}`;
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(digits.slice(2))) : der(0x18, Buffer.from(digits));
}

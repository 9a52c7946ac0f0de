import { createSocket, type RemoteInfo, type Socket } from "node:dgram";
import type { AddressInfo } from "node:net";

const TYPES: Readonly<Record<string, number>> = { A: 1, NS: 2, CNAME: 5, AAAA: 28 };

/** The answers of RFC 1035: no error, the server failed, no such name. */
const CODES = { found: 0, failed: 2, absent: 3 } as const;

const TTL_SECONDS = 1;

const nameOnWire = (name: string): Buffer =>
  Buffer.concat([
    ...name.split(".").map((label) => Buffer.concat([Buffer.from([label.length]), Buffer.from(label)])),
    Buffer.from([0]),
  ]);

/** A DNS server on loopback. It answers for one zone, whose records are names, and counts the queries. */
export class DNSServer implements AsyncDisposable {
  /** The targets by type and name, such as `CNAME www.example.com`. */
  readonly zone = new Map<string, readonly string[]>();
  /** The queries in order, such as `CNAME www.example.com`. */
  readonly asked: string[] = [];
  /** Whether every query is answered with SERVFAIL. */
  failing = false;
  readonly #socket: Socket;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (message, from) => this.#answer(message, from));
  }

  static async start(): Promise<DNSServer> {
    const socket = createSocket("udp4");
    const server = new DNSServer(socket);
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return server;
  }

  /** The address in the form of `DNS_RESOLVERS`. */
  get address(): string {
    return `127.0.0.1:${(this.#socket.address() as AddressInfo).port}`;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#socket.close(() => resolve()));
  }

  #answer(message: Buffer, { address, port }: RemoteInfo): void {
    const labels: string[] = [];
    let at = 12;
    for (let length = message.readUInt8(at); length > 0; length = message.readUInt8(at)) {
      labels.push(message.toString("ascii", at + 1, at + 1 + length).toLowerCase());
      at += 1 + length;
    }
    const question = message.subarray(12, at + 5);
    const number = message.readUInt16BE(at + 1);
    const type = Object.keys(TYPES).find((one) => TYPES[one] === number) ?? String(number);
    const key = `${type} ${labels.join(".")}`;
    this.asked.push(key);
    const targets = this.failing ? [] : (this.zone.get(key) ?? []);
    const header = Buffer.alloc(12);
    header.writeUInt16BE(message.readUInt16BE(0), 0);
    // An authoritative answer, with recursion if the query asked for it.
    header.writeUInt16BE(0x8580 | this.#codeFor(labels.join(".")), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(targets.length, 6);
    const answers = targets.map((target) => answerOnWire(number, target));
    this.#socket.send(Buffer.concat([header, question, ...answers]), port, address);
  }

  #codeFor(name: string): number {
    if (this.failing) return CODES.failed;
    return [...this.zone.keys()].some((key) => key.endsWith(` ${name}`)) ? CODES.found : CODES.absent;
  }
}

/** The name of an answer is that of the question, at byte 12 of the message. */
function answerOnWire(type: number, target: string): Buffer {
  const data = nameOnWire(target);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(TTL_SECONDS, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

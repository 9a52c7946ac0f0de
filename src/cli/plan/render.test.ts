import { expect, test } from "vitest";
import type { Block } from "../../plan/blocks.ts";
import { printed } from "../terminal/line.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { renderPlan } from "./render.ts";

const about = (kind: string, name: string) => ({ kind, namespace: "team", name, requests: [] });

const blocks: Block[] = [
  {
    ...about("TCPEdge", "db"),
    action: "create",
    fields: [
      { path: "description", new: "Database of the shop, for the people in the office and for those at home" },
      { path: "ip_restriction.ip_policy_ids", new: ["id of IPPolicy/office"] },
    ],
  },
  {
    ...about("IPPolicy", "office"),
    action: "update",
    id: "ipp_1",
    fields: [
      { path: "description", old: "a", new: "b" },
      { path: "labels.team", old: "x" },
    ],
  },
  {
    ...about("TLSCertificate", "web"),
    action: "replace",
    id: "cert_1",
    interrupts: true,
    fields: [{ path: "private_key_pem", secret: true }],
  },
  { ...about("IPPolicy", "home"), action: "adopt", id: "ipp_2", fields: [{ path: "metadata", new: "(owner mark)" }] },
  { ...about("IPPolicy", "old"), action: "delete", id: "ipp_3", fields: [] },
  { ...about("IPPolicy", "bad"), action: "blocked", fields: [], reason: "InvalidSpec", message: "Correct it" },
  { ...about("TCPEdge", "later"), action: "waiting", fields: [], reason: "ReferenceNotReady", message: "Create it" },
];

const shown = (blocks: readonly Block[], terminal: Terminal, around = { complete: true, count: 3 }): string =>
  printed(renderPlan(blocks, terminal, around), terminal.hasColours === true);

const terminal = (more: Partial<Terminal> = {}): Terminal => ({ say: () => {}, warn: () => {}, ...more });

test.each([
  ["in a pipe", {}],
  ["at 80 columns", { columns: 80 }],
  ["at 160 columns, with colours", { columns: 160, hasColours: true }],
])("%s", (_, more) => {
  expect(shown(blocks, terminal(more))).toMatchSnapshot();
});

test("no line is wider than the terminal, except for the sums", () => {
  const lines = shown(blocks, terminal({ columns: 80 }))
    .split("\n")
    .slice(0, -1);
  expect(Math.max(...lines.map((line) => line.length))).toBe(80);
});

test("a plan without changes says no more than is known", () => {
  expect(shown([], terminal())).toBe("Nothing to do: the account is as the objects say");
  expect(shown([], terminal(), { complete: false, count: 3 })).toBe("Nothing to do, as far as could be read");
  expect(shown([], terminal(), { complete: true, count: 0 })).toBe("Nothing to do: there are no objects");
});

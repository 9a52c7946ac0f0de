import { expect, test } from "vitest";
import { printed } from "../terminal/line.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { type ComparedObject, renderDiff } from "./render.ts";

const about = (kind: string, name: string) => ({ kind, namespace: "team", name });

const objects: ComparedObject[] = [
  {
    ...about("TCPEdge", "db"),
    id: "edgtcp_1",
    inAccount: true,
    fields: [
      {
        path: "description",
        state: "differs",
        account: "Database of the shop, changed by somebody with a browser",
        spec: "Database of the shop",
      },
      { path: "metadata", state: "unmanaged", account: '{"team":"shop"}' },
      { path: "backend.backend_id", state: "differs", spec: "bkdtg_1" },
      { path: "labels.app", state: "differs", account: "db" },
      { path: "region", state: "differs", account: "eu", spec: "us", immutable: true },
      { path: "oidc.client_secret", state: "hidden", secret: true },
      { path: "certificate_pem", state: "differs", secret: true },
    ],
  },
  { ...about("IPPolicy", "office"), id: "ipp_1", inAccount: true, fields: [] },
  {
    ...about("IPPolicy", "later"),
    inAccount: false,
    fields: [],
    reason: "SecretNotReady",
    message: 'Create Secret "key" in this namespace',
  },
];

const shown = (...args: Parameters<typeof renderDiff>): string =>
  printed(renderDiff(...args), args[1].hasColours === true);

const terminal = (more: Partial<Terminal> = {}): Terminal => ({ say: () => {}, warn: () => {}, ...more });

test("differing, unmanaged and hidden fields are shown apart", () => {
  expect(shown(objects, terminal())).toMatchInlineSnapshot(`
    "TCPEdge team/db (edgtcp_1)
      Differs: the account → the spec
          ~ description         "Database of the shop, changed by somebody with a browser" → "Database of the shop"
          + backend.backend_id  "bkdtg_1"
          - labels.app          "db"
          ~ region              "eu" → "us"  (cannot be changed in place)
          ~ certificate_pem     (secret, changed)
      Unmanaged: the account has it, the spec does not say
            metadata  "{\\"team\\":\\"shop\\"}"
      From a Secret: the service does not show it
            oidc.client_secret  (secret)

    IPPolicy team/office (ipp_1) is as the spec says

    IPPolicy team/later is not in the account yet
      SecretNotReady: Create Secret "key" in this namespace"
  `);
});

test("a change that is too wide for the terminal takes a line for each value", () => {
  const lines = shown(objects, terminal({ columns: 80 })).split("\n");
  expect(lines.slice(2, 5)).toEqual([
    "      ~ description",
    '            "Database of the shop, changed by somebody with a browser"',
    '          → "Database of the shop"',
  ]);
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
});

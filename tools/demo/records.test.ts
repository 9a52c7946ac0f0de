import { beforeEach, describe, expect, it } from "vitest";
import { recordChanges } from "./records.ts";
import { plain } from "./screen/line.ts";

let domains: string[];
let zone: Map<string, string>;
let shown: () => Promise<string[]>;

beforeEach(() => {
  domains = ["shop.example.com", "docs.example.com"];
  zone = new Map();
  const cname = async (name: string) => [zone.get(name) ?? []].flat();
  const records = recordChanges({ cname }, { objects: () => domains.map((domain) => ({ domain })) });
  shown = async () => (await records()).map(plain);
});

describe("the DNS records", () => {
  it("are shown when they come, once", async () => {
    expect(await shown()).toEqual([]);
    zone.set("shop.example.com", "a.example.net");
    expect(await shown()).toEqual(["dns      CNAME shop.example.com → a.example.net"]);
    expect(await shown()).toEqual([]);
  });

  it("are shown when they change, and when they go", async () => {
    zone.set("shop.example.com", "a.example.net");
    await shown();
    zone.set("shop.example.com", "b.example.net");
    expect(await shown()).toEqual(["dns      CNAME shop.example.com → b.example.net"]);
    zone.clear();
    expect(await shown()).toEqual(["dns      CNAME shop.example.com is gone"]);
    expect(await shown()).toEqual([]);
  });

  it("are shown to go also after their domain", async () => {
    zone.set("shop.example.com", "a.example.net");
    await shown();
    domains = [];
    expect(await shown()).toEqual([]);
    zone.clear();
    expect(await shown()).toEqual(["dns      CNAME shop.example.com is gone"]);
  });
});

import { describe, expect, it, test } from "vitest";
import { SSHCredential } from "../kinds/ssh-credential.ts";
import { TCPEdge } from "../kinds/tcp-edge.ts";
import { bindRule, hostname, hostport, hostportPattern } from "./hosts.ts";
import { differences } from "./wire/compare.ts";

describe("one host, however it is spelled", () => {
  it.each([
    ["shop.example.com", "SHOP.example.Com"],
    ["shop.example.com", "shop.example.com."],
    ["shop.example.com", " shop.example.com "],
    ["xn--bcher-kva.example", "bücher.example"],
    ["xn--bcher-kva.example", "BÜCHER.example."],
    ["xn--bcher-kva.example", "XN--bcher-kva.example"],
    ["*.xn--bcher-kva.example", "*.bücher.example"],
    ["_dmarc.example.com", "_DMARC.example.com"],
  ])("%s is %s", (one, other) => expect(hostname(other)).toBe(one));

  it.each([
    ["a.example.com:443", "A.example.com.:443"],
    ["xn--bcher-kva.example:1", "Bücher.example:1"],
    ["a.example.com:80", "a.example.com:080"],
    ["1:1", "1:1"],
  ])("%s is %s", (one, other) => expect(hostport(other)).toBe(one));

  it.each([
    ["bind:*.example.com", "bind:*.Example.com."],
    ["bind:*", "bind:*"],
    ["*", "*"],
  ])("%s is %s", (one, other) => expect(bindRule(other)).toBe(one));
});

describe("an address is a host name and a port", () => {
  it.each(["a:1", "a.example.:65535", "*.bücher.example:443", "हिन्दी.example:1", "_a-b.example:1", "192.0.2.1:1"])(
    "%s",
    (text) => expect(text).toMatch(hostportPattern),
  );
  it.each(["a", "a:0", "a:65536", "a..b:1", ".a:1", "*:1", "-a:1", "a-:1", "a b:1", "a?x@:1", '"a":5', "a\u0000:1"])(
    "but not %j",
    (text) => expect(text).not.toMatch(hostportPattern),
  );
});

describe("what is no host stays as it is", () => {
  it.each([undefined, null, 1, "not a host\u00a0at all ü"])("%j", (value) => expect(hostname(value)).toEqual(value));
  test("a label keeps its case", () => expect(bindRule("bind:App=Web")).toBe("bind:App=Web"));
});

describe("an account that spells it in another way has no difference", () => {
  it.each([
    [
      "TCPEdge",
      TCPEdge,
      { hostports: ["B.example.com:1", "bücher.example:2"] },
      { hostports: ["xn--bcher-kva.example:2", "b.example.com:1"] },
    ],
    [
      "SSHCredential",
      SSHCredential,
      { acl: ["bind:*.Example.com", "bind:A=b"] },
      { acl: ["bind:A=b", "bind:*.example.com"] },
    ],
    ["SSHCredential", SSHCredential, { acl: ["*", "*"] }, { acl: ["*"] }],
  ])("%s %#", (_, { spec }, wanted, seen) => expect(differences(spec, wanted, seen, Object.keys(wanted))).toEqual([]));

  it("and another host is one", () => {
    expect(differences(TCPEdge.spec, { hostports: ["a:1"] }, { hostports: ["b:1"] }, [])).toHaveLength(1);
    expect(differences(SSHCredential.spec, { acl: ["bind:A=b"] }, { acl: ["bind:a=b"] }, [])).toHaveLength(1);
  });
});

import { describe, expect, it } from "vitest";
import { parseProxy, proxyFor } from "./proxies.ts";

describe("the address of a proxy", () => {
  it.each([
    ["http://proxy.example:3128", "http://proxy.example:3128/"],
    ["https://ann:pw@proxy.example", "https://ann:pw@proxy.example/"],
    ["proxy.example:3128", "http://proxy.example:3128/"],
    ["ann:p%40w@proxy.example:3128", "http://ann:p%40w@proxy.example:3128/"],
    ["proxy.example", "http://proxy.example/"],
    ["localhost:3128", "http://localhost:3128/"],
    ["socks5://proxy.example:1080", "socks5://proxy.example:1080"],
    ["socks5h://proxy.example:1080", "socks5://proxy.example:1080"],
    ["ftp://proxy.example", undefined],
    ["http://user:hunter2@:bad", undefined],
    ["http://user:hunter%2@proxy.example", undefined],
    ["::", undefined],
  ])("%j is %j", (text, href) => {
    expect(parseProxy(text)?.href).toBe(href);
  });
});

describe("NO_PROXY", () => {
  const proxies = { http: new URL("http://one"), https: new URL("http://two") };

  // What golang.org/x/net/http/httpproxy v0.61.0 says of each, which kubectl and most programs of a cluster use.
  it.each([
    ["", "https://example.com", "proxy"],
    ["*", "https://example.com", "direct"],
    ["a.test, *", "https://10.0.0.1", "direct"],
    [" example.com ", "https://example.com", "direct"],
    ["example.com", "http://example.com", "direct"],
    ["example.com", "https://www.example.com", "direct"],
    ["example.com", "https://notexample.com", "proxy"],
    ["example.com", "https://example.com.", "proxy"],
    ["EXAMPLE.com", "https://example.com:8443", "direct"],
    [".example.com", "https://example.com", "proxy"],
    [".example.com", "https://www.example.com", "direct"],
    ["*.example.com", "https://example.com", "proxy"],
    ["*.example.com", "https://www.example.com", "direct"],
    ["*example.com", "https://notexample.com", "proxy"],
    ["example.com:8443", "https://example.com", "proxy"],
    ["example.com:8443", "https://example.com:8443", "direct"],
    [".example.com:443", "https://www.example.com", "direct"],
    ["example.com:", "https://example.com:8443", "direct"],
    ["com:80", "http://example.com", "direct"],
    ["com:80", "https://example.com", "proxy"],
    ["example.com a.test", "https://example.com", "proxy"],
    ["http://example.com", "https://example.com", "proxy"],
    ["example.com/", "https://example.com", "proxy"],
    ["10.0.0.0/8", "https://10.0.0.1", "direct"],
    ["10.1.2.3/8", "https://10.0.0.1:8443", "direct"],
    ["10.0.0.0/8", "https://11.0.0.1", "proxy"],
    ["10.0.0.0/8", "https://[::ffff:10.0.0.1]", "direct"],
    ["0.0.0.0/0", "https://11.0.0.1", "direct"],
    ["0.0.0.0/0", "https://example.com", "proxy"],
    ["10.0.0.1/33", "https://10.0.0.1", "proxy"],
    ["::/0", "https://[fd00::1]", "direct"],
    ["fd00::1/128", "https://[fd00::1]", "direct"],
    ["fd00::1/129", "https://[fd00::1]", "proxy"],
    ["::/0", "https://10.0.0.1", "proxy"],
    ["fd00::/8", "https://[fd00::1]:8443", "direct"],
    ["fd00::1", "https://[fd00::1]", "direct"],
    ["[fd00::1]", "https://[fd00::1]", "proxy"],
    ["[fd00::1]:443", "https://[fd00::1]", "direct"],
    ["[fd00::1]:443", "https://[fd00::1]:8443", "proxy"],
    ["fd00::1%eth0", "https://[fd00::1]", "proxy"],
    ["10.0.0.1", "https://10.0.0.1", "direct"],
    ["10.0.0.1:8443", "https://10.0.0.1", "proxy"],
    ["10.", "https://10.0.0.1", "proxy"],
    ["bücher.test", "https://www.bücher.test", "direct"],
    ["xn--bcher-kva.test", "https://bücher.test", "direct"],
    [":", "https://example.com", "proxy"],
    ["*:443", "https://example.com", "proxy"],
    ["/8", "https://example.com", "proxy"],
    ["", "https://localhost:8443", "direct"],
    ["", "https://foo.localhost", "proxy"],
    ["", "https://127.9.9.9", "direct"],
    ["", "https://127.255.255.254", "direct"],
    ["", "https://128.0.0.1", "proxy"],
    ["", "https://[::1]:6443", "direct"],
    ["", "https://[::ffff:127.0.0.1]", "direct"],
  ])("%j makes the way to %s: %s", (noProxy, url, way) => {
    expect(proxyFor({ ...proxies, noProxy }, new URL(url)) ? "proxy" : "direct").toBe(way);
  });

  it("leaves each scheme its own proxy", () => {
    expect(proxyFor(proxies, new URL("http://example.com"))?.host).toBe("one");
    expect(proxyFor(proxies, new URL("https://example.com"))?.host).toBe("two");
    expect(proxyFor({ http: proxies.http }, new URL("https://example.com"))).toBeUndefined();
  });
});

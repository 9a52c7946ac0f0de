import { expect, test } from "vitest";
import { type Asked, addressOf, newToken, refusalOf } from "./guard.ts";

const place = { port: 8765, token: "a".repeat(43) };
const asked: Asked = {
  method: "GET",
  url: "/topology",
  host: "127.0.0.1:8765",
  origin: undefined,
  cookie: `theme=dark; tunnelgateway-8765=${place.token}`,
};

test.each<[string, Partial<Asked>, number | undefined]>([
  ["a page with its cookie", {}, undefined],
  ["by the other name of this machine", { host: "localhost:8765" }, undefined],
  ["files to plan, from the page", { method: "POST", url: "/plan", origin: "http://127.0.0.1:8765" }, undefined],
  ["a name that leads here", { host: "evil.example:8765" }, 421],
  ["another port", { host: "127.0.0.1:80" }, 421],
  ["no Host", { host: undefined }, 421],
  ["from a page elsewhere", { origin: "https://evil.example" }, 403],
  ["from a page without an origin", { origin: "null" }, 403],
  ["from another port of this machine", { method: "POST", url: "/plan", origin: "http://127.0.0.1:9000" }, 403],
  ["no cookie", { cookie: undefined }, 403],
  ["the cookie of another start", { cookie: "tunnelgateway-8765=b" }, 403],
  ["the cookie of another port", { cookie: `tunnelgateway-1=${place.token}` }, 403],
  ["another token", { url: "/?token=b", cookie: undefined }, 403],
  ["another token of the same length", { url: `/?token=${"b".repeat(43)}`, cookie: undefined }, 403],
  ["the token in a POST", { method: "POST", url: `/plan?token=${place.token}`, cookie: undefined }, 403],
  ["files sent to a page", { method: "POST" }, 405],
  ["DELETE", { method: "DELETE" }, 405],
  ["HEAD", { method: "HEAD" }, 405],
  ["OPTIONS", { method: "OPTIONS" }, 405],
  ["a path outside", { url: "//evil.example/" }, 400],
  ["a path of a proxy", { url: "http://evil.example/" }, 400],
  ["a backslash", { url: "/\\evil.example" }, 400],
])("%s", (_, change, status) => {
  expect(refusalOf({ ...asked, ...change }, place)?.status).toBe(status);
});

test("the token of the address becomes a cookie that no script and no other page has", () => {
  const { pathname, search } = new URL(addressOf(place));
  const first = { ...asked, cookie: undefined, url: `${pathname}${search}&text=a` };
  expect(refusalOf(first, place)).toEqual({
    status: 303,
    location: "/?text=a",
    cookie: `tunnelgateway-8765=${place.token}; Path=/; HttpOnly; SameSite=Strict`,
  });
});

test("the one-time token gets the cookie of the lasting one, once", () => {
  const own = { ...place, oneTimeToken: "o".repeat(43) };
  const first = { ...asked, cookie: undefined, url: `/?token=${own.oneTimeToken}` };
  expect(refusalOf({ ...first, host: "evil.example" }, own)?.status).toBe(421);
  const cookie = expect.stringMatching(`^tunnelgateway-8765=${place.token};`);
  expect(refusalOf(first, own)).toEqual({ status: 303, location: "/", cookie });
  const line = expect.stringMatching(/^Open the address that the command has printed/);
  expect(refusalOf(first, own)).toEqual({ status: 403, line });
  expect(refusalOf({ ...first, url: `/?token=${place.token}` }, own)?.status).toBe(303);
  expect(refusalOf({ ...asked, cookie: `tunnelgateway-8765=${"o".repeat(43)}` }, own)?.status).toBe(403);
});

test("each start has another token", () => {
  expect(newToken()).not.toBe(newToken());
  expect(newToken().length).toBeGreaterThan(40);
});

import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test, vi } from "vitest";
import { HOSTILE, hostile } from "../../../test/fakes/cli/hostile.ts";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { paths, serving } from "../../../test/fakes/cli/serving.ts";
import { Canaries, canary } from "../../../test/support/canaries.ts";

const { failing, altering, run } = useFixedServices();

test("shows what the commands print", () =>
  serving(async ({ get }) => {
    const overview = (await get("/")).text;
    expect(overview).toContain("Needs a person");
    const { attention, waiting } = JSON.parse((await run("status -o json")).stdout);
    expect(attention.length + waiting.length).toBeGreaterThan(0);
    for (const { name } of [...attention, ...waiting]) expect(overview).toContain(name);
    const topology = (await get("/topology")).text;
    for (const { kind, name } of JSON.parse((await run("tree -o json")).stdout))
      if (name) expect(topology).toContain(`${kind}%2Fshop%2F${name}`);
    const unmanaged = (await get("/unmanaged")).text;
    for (const { id } of JSON.parse((await run("orphans --unmanaged -o json")).stdout)) expect(unmanaged).toContain(id);
  }));

test("every page is whole, without a script", () =>
  serving(async ({ get }) => {
    for (const path of paths) {
      const { status, text } = await get(path);
      expect(`${path} ${status}`).toBe(`${path} 200`);
      expect(text).toMatch(/<h1>[^<]+<\/h1>/);
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).not.toMatch(/[>"]undefined|\[object|NaN|style="|onclick/);
    }
    expect((await get("/node?key=TCPEdge/shop/none")).status).toBe(404);
    expect((await get("/../../etc/passwd")).status).toBe(404);
    expect((await get("/constructor")).status).toBe(404);
  }));

test("plans files that are sent, and keeps none", () =>
  serving(async ({ send }) => {
    const edge = "apiVersion: tunnelgateway.dev/v1\nkind: TCPEdge\nmetadata: {name: ssh}\nspec: {description: SSH}\n";
    const { status, text } = await send({ "edge.yaml": edge, "notes.yaml": "a: [" });
    expect(status).toBe(200);
    expect(text).toContain("TCPEdge shop/ssh");
    expect(text).toContain("change-create");
    expect(text).toContain("notes.yaml:1: Correct the YAML");
    expect((await send({})).text).toContain("there are no manifests in these");
    const large = await send({ "large.yaml": "#".repeat(10_000_001) });
    expect(large.status).toBe(413);
  }));

describe("text of strangers", () => {
  test("is text in every page", async () => {
    altering((body) => hostile(body, `${HOSTILE}<script>alert(1)</script>'"><img src=x onerror=alert(1)>`) as object);
    await serving(async ({ get }) => {
      for (const path of paths) {
        const { text } = await get(path);
        expect(text.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
        expect(text).not.toMatch(/<script>|<img|onerror=alert\(1\)>/);
      }
      expect((await get("/topology")).text).toContain("&#60;script&#62;");
    });
  });

  test("is text in what an account or a cluster says that refuses", async () => {
    const body = { message: HOSTILE, msg: `<b>${HOSTILE}` };
    for (const isService of [true, false]) {
      failing(({ path }) => (/^\/apis?(\/|$)/.test(path) === isService ? undefined : { status: 403, body }));
      await serving(async ({ get }) => {
        for (const path of paths) {
          const { text } = await get(path);
          expect(text.replaceAll("\n", "")).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
          expect(text).not.toContain("<b>");
        }
      });
    }
  });
});

test("no value of a Secret is in any answer", async () => {
  const [value, key] = [canary(true), canary(true)];
  const canaries = new Canaries();
  canaries.add("Secret", value);
  canaries.add("API key", key);
  const data = Object.fromEntries(
    ["token", "api-key", "tls.key", "tls.crt", "value", "secret"].map((name) => [name, btoa(value)]),
  );
  failing(({ path }) =>
    /^\/api\/v1\/namespaces\/[^/]+\/secrets\//.test(path) ? { status: 200, body: { metadata: {}, data } } : undefined,
  );
  vi.stubEnv("GATEWAY_API_KEY", key);
  await serving(async ({ get, send }) => {
    const answers = [...paths, "/style.css", "/page.js"].map(async (path) => (await get(path)).text);
    answers.push(send({ "x.yaml": "a: 1" }).then(({ text }) => text));
    for (const text of await Promise.all(answers)) expect(canaries.in(text)).toEqual([]);
  });
});

describe("says in one line", () => {
  test("that a port is in use", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await once(other, "listening");
    const { port } = other.address() as AddressInfo;
    const ended = await run(`ui --port ${port}`);
    other.close();
    expect(ended).toMatchObject({
      code: 1,
      stderr: `Give another --port, or 0 for one that is free: ${port} is in use`,
    });
  });

  test("ui --open: that there is no browser, and goes on", async () => {
    vi.stubEnv("PATH", "");
    await serving(
      async ({ warned, get }) => {
        await vi.waitFor(() => expect(warned.join()).toContain("No browser could be opened"));
        expect((await get("/plan")).status).toBe(200);
      },
      { open: true },
    );
  });

  test.each(["x", "70000", "-1"])("that %s is no port", async (port) => {
    expect(await run(`ui --port=${port}`)).toMatchObject({ code: 2, stderr: expect.stringMatching(/^--port must be/) });
  });

  test("what of the account could not be read, and shows the rest", async () => {
    failing(({ path }) => (/^\/apis?(\/|$)/.test(path) ? undefined : { status: 401, body: { msg: "no" } }));
    await serving(async ({ get }) => {
      const { text } = await get("/");
      expect(text).toMatch(/This is only a part:.*Replace the API key/);
      expect(text).toContain("Account not read");
      expect(text).toContain("refused");
    });
  });

  test("that a kind may not be listed, and shows the rest", async () => {
    const body = { kind: "Status", code: 403, reason: "Forbidden", message: "no" };
    failing(({ path }) => (path.endsWith("/tcpedges") ? { status: 403, body } : undefined));
    await serving(async ({ get }) => {
      expect((await get("/")).text).toMatch(/This is only a part:.*right to list.*tcpedges/);
      expect((await get("/topology")).text).toContain("IPPolicy%2Fshop%2Foffice");
    });
  });

  test("that the cluster cannot be used, on each page", async () => {
    const body = { kind: "Status", code: 401, reason: "Unauthorized", message: "no" };
    failing(({ path }) => (/^\/apis?(\/|$)/.test(path) ? { status: 401, body } : undefined));
    await serving(async ({ get }) => {
      expect(await get("/")).toMatchObject({
        status: 503,
        text: expect.stringContaining("Sign in to the cluster again"),
      });
    });
  });
});

test("an account is read once a minute, and again when a person asks", async () => {
  const lists: string[] = [];
  failing(({ path }) => {
    if (path.endsWith("/ip_policies")) lists.push(path);
    return undefined;
  });
  await serving(async ({ get }) => {
    for (const path of ["/", "/topology", "/unmanaged", "/?read=now"]) await get(path);
    expect(lists).toHaveLength(1);
  });
});

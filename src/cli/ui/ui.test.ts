import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { HOSTILE, hostile } from "../../../test/fakes/cli/hostile.ts";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";
import { paths, serving } from "../../../test/fakes/cli/serving.ts";
import { Canaries, canary } from "../../../test/support/canaries.ts";
import type { ManagedObject } from "../../objects/object.ts";
import { ownerMark } from "../../objects/ownership.ts";
import { OWNER_KEY } from "../../schema/contract.ts";

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
    // people know it by the address at which they reach it
    expect((await get("/topology?text=5.TCP.gateway.example:20413")).text).toMatch(/[1-9]\d* (is|are) shown/);
    const unmanaged = (await get("/unmanaged")).text;
    for (const { id } of JSON.parse((await run("orphans --unmanaged -o json")).stdout)) expect(unmanaged).toContain(id);
  }));

test.each([
  [{}, "-A"],
  [{ allNamespaces: true }, "-A"],
  [{ namespace: "shop" }, "-n shop"],
  [{ namespace: "shop", allNamespaces: true }, "-A"],
])("with %j, the commands beside its parts are about the same objects: %s", (flags, said) =>
  serving(async ({ get }) => {
    const named = [];
    for (const path of paths) {
      const { text } = await get(path);
      named.push(
        ...[...text.matchAll(/(?:status|tree|orphans)(?: --unmanaged)? (-A|-n \S+?)(?=[ <])/g)].map(([, one]) => one),
      );
    }
    expect(new Set(named)).toEqual(new Set([said]));
    expect(named.length).toBeGreaterThan(9);
  }, flags),
);

test("says when it takes another id for that of the cluster than the marks of the objects have", async () => {
  vi.stubEnv("CLUSTER_ID", "c7");
  await serving(async ({ get }) => {
    expect((await get("/unmanaged")).text).toMatch(/Set CLUSTER_ID as the operator has it: .* have the id c1/);
  });
});

test("objects of other accounts are shown as the cluster knows them, and each account can be shown alone", async () => {
  const account = { metadata: { namespace: "shop", name: "other" }, spec: {}, status: {} };
  altering((body, { path }) => {
    const items = (body as { items?: ManagedObject[] }).items ?? [];
    if (path.endsWith("/gatewayaccounts")) return { ...body, items: [account] };
    if (!path.endsWith("/tcpedges")) return body;
    const moved = ({ status, ...object }: ManagedObject) => ({
      ...object,
      status: { ...status, id: "edge_other", account: "other" },
    });
    return { ...body, items: items.map((one) => (one.metadata.name === "refused" ? moved(one) : one)) };
  });
  await serving(async ({ get }) => {
    const [all, other, own] = await Promise.all(
      ["", "?account=shop/other", "?account=operator"].map(async (query) => (await get(`/topology${query}`)).text),
    );
    expect(all).toContain("1 object is in another account");
    expect(other).toMatch(/1 is shown.*TCPEdge%2Fshop%2Frefused/s);
    expect(other).not.toContain("IPPolicy%2Fshop%2Foffice");
    expect(own).toContain("IPPolicy%2Fshop%2Foffice");
    expect(own).not.toContain("TCPEdge%2Fshop%2Frefused");
    expect(await get("/node?key=TCPEdge/shop/refused")).toMatchObject({ status: 200 });
    // its remote is in an account that nobody has read
    expect((await get("/unmanaged")).text).not.toContain("TCPEdge/refused");
  });
});

test("what another cluster owns is called so, also where another object uses it", async () => {
  altering((body) => {
    const { backends } = body as { backends?: { id: string }[] };
    const metadata = ownerMark({ cluster: "c2", namespace: "shop", name: "db" });
    if (!backends?.some(({ id }) => id === "bkdtg_1")) return body;
    return {
      ...body,
      backends: backends.map((one) => ({ ...one, metadata: JSON.stringify({ [OWNER_KEY]: metadata }) })),
    };
  });
  await serving(async ({ get }) => {
    const [user, used] = [await get("/node?key=TLSEdge/shop/shop"), await get("/node?key=TunnelGroupBackend/bkdtg_1")];
    expect(used.text).toMatch(/badge other.*names shop\/db in cluster c2/s);
    expect(user.text).toMatch(/badge other[^/]*\/span> of another cluster<\/span> <a href="[^"]*bkdtg_1"/);
  });
});

test("an address that leads to an edge that is not Ready says so, in the picture, as text, and on its page", async () => {
  altering((body, { path }) => {
    const items = (body as { items?: ManagedObject[] }).items ?? [];
    const isBroken = ({ metadata }: ManagedObject) => path.endsWith("/tcpedges") && metadata.name === "db";
    const broken = items.find(({ metadata }) => metadata.name === "refused")?.status?.conditions ?? [];
    const changed = items.map((one) =>
      isBroken(one) ? { ...one, status: { ...one.status, conditions: broken } } : one,
    );
    return items.some(isBroken) ? { ...body, items: changed } : body;
  });
  await serving(async ({ get }) => {
    const [picture, text, page] = await Promise.all(
      ["/topology", "/topology?as=text", "/node?key=ReservedAddress/shop/db"].map(
        async (path) => (await get(path)).text,
      ),
    );
    expect(picture).toMatch(/Ready, leads to TCPEdge\/db: InvalidSpec<\/title>/);
    expect(picture).toMatch(/box ready address to-attention.*class="trouble"[^>]*>! leads to InvalidSpec</s);
    expect(text).toMatch(/ReservedAddress\/db +shop +True +Available, leads to InvalidSpec/);
    expect(page).toMatch(/badge attention.*leads to InvalidSpec<.*TCPEdge%2Fshop%2Fdb/s);
    expect((await get("/")).text).toMatch(
      /ReservedAddress\/db<\/a> <span class="where">shop<\/span> <span class="badge attention">.*leads to<\/span> .*>TCPEdge\/db<\/a>: .*>InvalidSpec</,
    );
  });
});

test("the overview leads to what is no fault of an object", () =>
  serving(async ({ get }) => {
    const { drifted, certificates } = JSON.parse((await run("status -A -o json")).stdout);
    const ending = certificates.filter(
      ({ until }: { until: string }) => Date.parse(until) - Date.now() < 30 * 86_400_000,
    );
    const left = JSON.parse((await run("orphans --unmanaged -A -o json")).stdout).filter(
      ({ id }: { id?: string }) => id,
    );
    const { text } = await get("/");
    expect(text).toContain(`<a href="/drift">${drifted.length} object`);
    expect(text).toContain(`<a href="/certificates">${ending.length} certificate`);
    expect(text).toMatch(/<a href="\/unmanaged">\d+ resources? ha/);
    expect(left.length).toBeGreaterThan(0);
  }));

test("a picture that is folded says what is in it", () =>
  serving(async ({ get }) => {
    const { text } = await get("/topology");
    expect(text).toMatch(
      /<summary>Traffic in shop <span class="count">\d+<\/span> .*class="badge attention">.*needs? a person/,
    );
  }));

test.each([
  ["", true],
  ["from=IPPolicy/shop/office", true],
  ["from=IPPolicy/shop/office&up=1", true],
  ["from=TunnelGroupBackend/bkdtg_1", true],
  ["kind=TCPEdge", true],
  ["state=attention", true],
  ["text=ipp_left", true],
  ["text=e", false],
  ["text=tn_1", false],
])("the command beside the topology with %j prints the same text", (query, isNamed) =>
  serving(async ({ get }) => {
    const page = (await get(`/topology?${query}`)).text;
    const asText = /href="([^"]*as=text)"/.exec(page)?.[1]?.replaceAll("&#38;", "&") ?? "";
    const command = /class="command"[^>]*>kubectl tunnelgateway ([^<]+)</.exec(
      page.split('id="topology"')[1] ?? "",
    )?.[1];
    expect(command).toMatch(/^tree /);
    expect(page.includes("As text with all that is not filtered")).toBe(!isNamed);
    if (!isNamed) return;
    const text = /<pre[^>]*>(.*)<\/pre>/s.exec((await get(asText)).text)?.[1];
    const { stdout } = await run(command ?? "");
    expect(text?.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(code))).toBe(stdout);
  }),
);

test("every page is whole, without a script", () =>
  serving(async ({ get }) => {
    for (const path of paths) {
      const { status, text } = await get(path);
      expect(`${path} ${status}`).toBe(`${path} 200`);
      expect(text).toMatch(/<h1>[^<]+<\/h1>/);
      expect(text.match(/<script/g)).toHaveLength(1);
      expect(text).not.toMatch(/[>"]undefined|\[object|NaN|style="|onclick/);
      const ids = [...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
      expect(ids).toEqual([...new Set(ids)]);
    }
    expect((await get("/node?key=TCPEdge/shop/none")).status).toBe(404);
    expect((await get("/../../etc/passwd")).status).toBe(404);
    expect((await get("/constructor")).status).toBe(404);
  }));

/** What a browser loads at most for a page, compressed. */
const MOST_BYTES = 350 * 1024;

test("a page loads little, and nothing from elsewhere", () =>
  serving(async ({ get }) => {
    const bytesOf = async (path: string) => gzipSync((await get(path)).text).length;
    for (const path of paths) {
      const { text } = await get(path);
      const loaded = [...text.matchAll(/<(?:link|script|img|iframe|source)\b[^>]* (?:href|src)="([^"]+)"/g)];
      const files = loaded.map(([, file = ""]) => file);
      expect(files).toEqual(["/style.css", "/page.js"]);
      const sizes = await Promise.all([path, ...files].map(bytesOf));
      expect(sizes.reduce((sum, one) => sum + one)).toBeLessThan(MOST_BYTES);
    }
  }));

test("plans files that are sent, and keeps none", () =>
  serving(async ({ send }) => {
    const edge = "apiVersion: tunnelgateway.dev/v1\nkind: TCPEdge\nmetadata: {name: ssh}\nspec: {description: SSH}\n";
    const { status, text } = await send({ "edge.yaml": edge, "notes.yaml": "a: [" });
    expect(status).toBe(200);
    expect(text).toContain("TCPEdge shop/ssh");
    expect(text).toContain("change-create");
    expect(text).toContain("notes.yaml:1: Correct the YAML");
    expect((await send({})).text).toContain("there are no manifests of tunnelgateway.dev/v1 in these");
    const folder = { "shop/a/edge.yml": edge, "shop/README.md": "# No manifest", "shop/.yaml": "a: [" };
    const planned = (await send(folder, "folder")).text;
    expect(planned).toContain("TCPEdge shop/ssh");
    expect(planned).not.toContain("This is only a part");
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

  test("ui --open: nothing, and the browser gets an address that opens the page once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "ui-"));
    onTestFinished(() => rm(folder, { recursive: true }));
    const file = join(folder, "address");
    for (const opener of ["xdg-open", "open"])
      await writeFile(join(folder, opener), `#!/bin/sh\necho "$1" > '${file}'\n`, { mode: 0o755 });
    vi.stubEnv("PATH", folder);
    const opened = () =>
      vi.waitFor(async () => {
        const text = await readFile(file, "utf8");
        expect(text).toMatch(/token=.*\n/);
        return text.trim();
      });
    await serving(
      async ({ address, warned }) => {
        const given = await opened();
        expect(given).not.toBe(address);
        const first = await fetch(given, { redirect: "manual" });
        const headers = { cookie: (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
        expect((await fetch(new URL("/plan", address), { headers })).status).toBe(200);
        expect((await fetch(given, { redirect: "manual" })).status).toBe(403);
        expect((await fetch(address, { redirect: "manual" })).status).toBe(303);
        expect(warned.join()).not.toContain("No browser");
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

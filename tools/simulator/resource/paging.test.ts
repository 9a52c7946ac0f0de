import { describe, expect, it } from "vitest";
import { collections } from "../collections.ts";
import { type Account, openAccount } from "../testing/account.ts";

/** All pages, following `next_page_uri` as it is given. */
async function pages({ send }: Account, path: string, key: string): Promise<string[][]> {
  const all: string[][] = [];
  for (let next: string | null = path; next; ) {
    const { body } = await send("GET", next);
    all.push(body[key].map((item: { metadata: string }) => item.metadata));
    next = body.next_page_uri;
  }
  return all;
}

const fill = ({ control }: Account, collection: string, count: number) =>
  Array.from({ length: count }, (_, index) => control.insert(collection, { metadata: `${index}` }));

describe("lists", () => {
  it.each([
    ["api_keys", "keys", /^http:\/\/127\.0\.0\.1:\d+\/api_keys\?before_id=ak_\w+&limit=2$/],
    ["ip_policies", "ip_policies", /^\/ip_policies\?before_id=ipp_\w+&limit=2$/],
  ])("%s give pages, newest first, by the address they name", async (name, key, form) => {
    await using account = await openAccount({ pageSize: 2 });
    fill(account, name, 5);
    const first = await account.send("GET", `/${name}`);
    expect(first.body.next_page_uri).toMatch(form);
    expect(await pages(account, `/${name}`, key)).toEqual([["4", "3"], ["2", "1"], ["0"]]);
  });

  it("end without an address when the last page is full", async () => {
    await using account = await openAccount({ pageSize: 2 });
    fill(account, "ip_policies", 4);
    expect(await pages(account, "/ip_policies", "ip_policies")).toEqual([
      ["3", "2"],
      ["1", "0"],
    ]);
  });

  it("use both forms of addresses, each for several collections", () => {
    const listed = collections.filter((collection) => collection.verbs.list);
    const paths = listed.filter((collection) => collection.nextPage === "path");
    expect(paths.length).toBeGreaterThan(3);
    expect(listed.length - paths.length).toBeGreaterThan(3);
  });

  it("go on where they were when rows come and go meanwhile", async () => {
    await using account = await openAccount({ pageSize: 2 });
    const rows = fill(account, "ip_policies", 5);
    const { body } = await account.send("GET", "/ip_policies");
    account.control.insert("ip_policies", { metadata: "new" });
    account.control.remove(String(rows[3]?.id));
    account.control.remove(String(rows[2]?.id));
    expect(await pages(account, body.next_page_uri, "ip_policies")).toEqual([["1", "0"]]);
  });

  it("lack a row when one is removed meanwhile and pages are numbered", async () => {
    await using account = await openAccount({ pageSize: 2, paging: "number" });
    const rows = fill(account, "ip_policies", 5);
    expect(await pages(account, "/ip_policies", "ip_policies")).toEqual([["4", "3"], ["2", "1"], ["0"]]);
    const { body } = await account.send("GET", "/ip_policies");
    account.control.remove(String(rows[4]?.id));
    expect(await pages(account, body.next_page_uri, "ip_policies")).toEqual([["1", "0"]]);
  });

  it("have pages of 100 by default", async () => {
    await using account = await openAccount();
    fill(account, "ip_policies", 101);
    const sizes = (await pages(account, "/ip_policies", "ip_policies")).map((page) => page.length);
    expect(sizes).toEqual([100, 1]);
  });

  it("are empty without rows", async () => {
    await using account = await openAccount();
    const { body } = await account.send("GET", "/event_destinations");
    expect(body).toMatchObject({ event_destinations: [], uri: "/event_destinations", next_page_uri: null });
  });

  it("do not take addresses from before a reset", async () => {
    await using account = await openAccount({ pageSize: 1 });
    fill(account, "ip_policies", 2);
    const { body } = await account.send("GET", "/ip_policies");
    account.control.reset();
    expect((await account.send("GET", body.next_page_uri)).status).toBe(400);
  });
});

describe("lists that lag", () => {
  it("show the account as it was, while a GET shows it as it is", async () => {
    await using account = await openAccount({ listLagMs: 1000 });
    const list = async () => (await pages(account, "/ip_policies", "ip_policies"))[0];
    const [kept, changed, removed] = fill(account, "ip_policies", 3).map(({ id }) => String(id));
    expect(await list()).toEqual([]);
    account.pass(1500);
    expect(await list()).toEqual(["2", "1", "0"]);

    account.control.insert("ip_policies", { metadata: "3" });
    account.control.patch(String(changed), { metadata: "changed" });
    account.control.remove(String(removed));
    expect(await list()).toEqual(["2", "1", "0"]);
    expect((await account.send("GET", `/ip_policies/${changed}`)).body.metadata).toBe("changed");
    expect((await account.send("GET", `/ip_policies/${removed}`)).status).toBe(404);
    expect((await account.send("GET", `/ip_policies/${kept}`)).status).toBe(200);

    account.pass(1000);
    expect(await list()).toEqual(["3", "changed", "0"]);
  });
});

import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { Inventory } from "./inventory.ts";

let inventory: Inventory;

beforeEach(() => {
  inventory = new Inventory();
});

const row = (id: string, version = 1) => ({ id, version });

describe("a list", () => {
  it("is known from when it began", () => {
    expect(inventory.listedAt).toBeUndefined();
    inventory.recordList([row("a")], 7);
    expect(inventory.listedAt).toBe(7);
    expect(inventory.all()).toEqual([row("a")]);
  });

  it("tells what has changed since, and nothing the first time", () => {
    expect(inventory.recordList([row("a"), row("b")], 1)).toEqual({ changed: [], absent: [] });
    expect(inventory.recordList([row("a"), row("b", 2), row("c")], 2)).toEqual({ changed: ["b", "c"], absent: [] });
    expect(inventory.recordList([row("a"), row("b", 2), row("c")], 3)).toEqual({ changed: [], absent: [] });
  });

  it("tells the first time what differs from an answer before", () => {
    inventory.recordWrite(row("a"), 1);
    inventory.recordWrite(row("b"), 1);
    expect(inventory.recordList([row("a", 2), row("b"), row("c")], 2)).toEqual({ changed: ["a"], absent: [] });
  });

  it("tells what is not there any more", () => {
    inventory.recordList([row("a"), row("b")], 1);
    expect(inventory.recordList([row("b")], 2)).toEqual({ changed: [], absent: ["a"] });
    expect(inventory.get("a")).toBeUndefined();
  });

  it("keeps the old object of an equal row, so that a quiet list leaves nothing behind", () => {
    inventory.recordList([row("a")], 1);
    const known = inventory.get("a");
    inventory.recordList([row("a")], 2);
    expect(inventory.get("a")).toBe(known);
  });

  it("keeps what is known of a row that could not be read", () => {
    inventory.recordList([row("a")], 1);
    expect(inventory.recordList([], 2, new Set(["a"]))).toEqual({ changed: [], absent: [] });
    expect(inventory.get("a")).toEqual(row("a"));
  });

  it("does not know a row that could not be read before either", () => {
    inventory.recordList([], 1, new Set(["a"]));
    expect(inventory.get("a")).toBeUndefined();
  });

  it("takes the last of a row that came twice, as rows move from page to page", () => {
    inventory.recordList([row("a", 1), row("a", 1)], 1);
    expect(inventory.all()).toEqual([row("a", 1)]);
  });
});

describe("a list that ends after one that began later", () => {
  it("says nothing", () => {
    inventory.recordList([row("a")], 1);
    inventory.recordDeleted("a", 5);
    inventory.recordList([row("b")], 6);
    expect(inventory.recordList([row("a")], 3)).toEqual({ changed: [], absent: [] });
    expect(inventory.all()).toEqual([row("b")]);
    expect(inventory.listedAt).toBe(6);
  });
});

describe("an own write", () => {
  it("is not undone by a list that began before it", () => {
    inventory.recordWrite(row("a", 2), 5);
    expect(inventory.recordList([row("a", 1)], 4)).toEqual({ changed: [], absent: [] });
    expect(inventory.get("a")).toEqual(row("a", 2));
  });

  it("is not lost to a list that began before it", () => {
    inventory.recordWrite(row("a"), 5);
    expect(inventory.recordList([], 4).absent).toEqual([]);
    expect(inventory.get("a")).toEqual(row("a"));
  });

  it("gives way to a list that began after it", () => {
    inventory.recordList([], 1);
    inventory.recordWrite(row("a", 2), 5);
    expect(inventory.recordList([row("a", 3)], 6).changed).toEqual(["a"]);
    expect(inventory.get("a")).toEqual(row("a", 3));
  });
});

describe("a removal", () => {
  it("is not undone by a list that began before it", () => {
    inventory.recordWrite(row("a"), 1);
    inventory.recordDeleted("a", 5);
    expect(inventory.recordList([row("a")], 4)).toEqual({ changed: [], absent: [] });
    expect(inventory.get("a")).toBeUndefined();
  });

  it("gives way to a list that began after it", () => {
    inventory.recordDeleted("a", 5);
    inventory.recordList([row("a", 2)], 6);
    expect(inventory.get("a")).toEqual(row("a", 2));
  });

  it("gives way to a later answer", () => {
    inventory.recordDeleted("a", 5);
    inventory.recordWrite(row("a", 2), 6);
    inventory.recordList([], 4);
    expect(inventory.get("a")).toEqual(row("a", 2));
  });
});

describe("a row that was read by itself", () => {
  it("does not undo an own write that ended while it was under way", () => {
    inventory.recordWrite(row("a", 2), 5);
    inventory.recordRead(row("a", 1), 4);
    expect(inventory.get("a")).toEqual(row("a", 2));
  });

  it("does not bring back what was deleted while it was under way", () => {
    inventory.recordWrite(row("a"), 1);
    inventory.recordDeleted("a", 5);
    inventory.recordRead(row("a"), 4);
    expect(inventory.get("a")).toBeUndefined();
  });

  it("is known although a list before had lagged behind", () => {
    inventory.recordList([], 1);
    inventory.recordRead(row("a"), 2);
    expect(inventory.get("a")).toEqual(row("a"));
    expect(inventory.seenAt("a")).toBe(2);
  });
});

describe("the inventory", () => {
  /** An own write or removal, a write of somebody else, and lists and reads that begin, and end in any order. */
  interface Step {
    do: "put" | "drop" | "theirs" | "begin" | "end" | "ask" | "answer";
    id: string;
  }

  /** An account with a version for each of its rows: the time of the write that made it. */
  class Account {
    readonly inventory = new Inventory();
    readonly rows = new Map<string, number>();
    readonly own = new Map<string, { at: number; did: "put" | "drop" }>();
    readonly lists: { at: number; rows: { id: string; version: number }[] }[] = [];
    readonly reads: { at: number; row: { id: string; version: number } }[] = [];

    take({ do: did, id }: Step, now: number): void {
      const next = <T>(all: T[]) => (id === "a" ? all.shift() : all.pop());
      const steps: Record<Step["do"], () => unknown> = {
        put: () => this.#write(id, "put", now),
        drop: () => this.#write(id, "drop", now),
        theirs: () => this.rows.set(id, now),
        begin: () => this.lists.push({ at: now, rows: Array.from(this.rows, ([one, version]) => row(one, version)) }),
        end: () => this.#end(next(this.lists)),
        ask: () => this.#ask(id, now),
        answer: () => this.#answer(next(this.reads)),
      };
      steps[did]();
    }

    #ask(id: string, now: number): void {
      const version = this.rows.get(id);
      if (version !== undefined) this.reads.push({ at: now, row: row(id, version) });
    }

    #end(list: (typeof this.lists)[number] | undefined): void {
      if (list) this.inventory.recordList(list.rows, list.at);
    }

    #answer(read: (typeof this.reads)[number] | undefined): void {
      if (read) this.inventory.recordRead(read.row, read.at);
    }

    #write(id: string, did: "put" | "drop", now: number): void {
      this.own.set(id, { at: now, did });
      if (did === "put") {
        this.rows.set(id, now);
        this.inventory.recordWrite(row(id, now), now);
      } else {
        this.rows.delete(id);
        this.inventory.recordDeleted(id, now);
      }
    }
  }

  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      do: fc.constantFrom("put", "drop", "theirs", "begin", "end", "ask", "answer"),
      id: fc.constantFrom("a", "b", "c"),
    }),
    { maxLength: 40, size: "max" },
  );

  it("never shows an older state than the latest own write, whatever lists and reads are under way", () => {
    fc.assert(
      fc.property(steps, (taken) => {
        const account = new Account();
        taken.forEach((step, index) => {
          account.take(step, index + 1);
          for (const [id, { at, did }] of account.own) {
            const shown = account.inventory.get(id)?.["version"];
            if (shown === undefined) expect(did).toBe("drop");
            else expect(shown).toBeGreaterThanOrEqual(at);
          }
        });
      }),
      { numRuns: 500 },
    );
  });
});

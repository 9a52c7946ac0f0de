import fc from "fast-check";
import { beforeEach, describe, expect, it } from "vitest";
import { OWNER_KEY } from "../../schema/contract.ts";
import { Inventory } from "./inventory.ts";

let inventory: Inventory;

beforeEach(() => {
  inventory = new Inventory();
});

const remote = (id: string, version = 1) => ({ id, version });

describe("the absence of a remote", () => {
  it("is proved by a list of one page that began late enough", () => {
    const inventory = new Inventory();
    expect(inventory.provesAbsence(0)).toBe(false);
    inventory.recordList([], 5);
    expect([5, 6].map((since) => inventory.provesAbsence(since))).toEqual([true, false]);
  });

  it("is proved by two lists of several pages that both began late enough", () => {
    const inventory = new Inventory();
    inventory.recordList([], 5, { pages: 2 });
    expect(inventory.provesAbsence(0)).toBe(false);
    inventory.recordList([], 7, { pages: 2 });
    expect([5, 6].map((since) => inventory.provesAbsence(since))).toEqual([true, false]);
  });

  it("is not proved for a row that only the previous list shows, until an answer shows it or not", () => {
    const mark = JSON.stringify({ "tunnelgateway.dev/owner": "c/n/a" });
    const row = { id: "a", metadata: mark } as never;
    const hiding = () => {
      const inventory = new Inventory();
      inventory.recordList([row], 1, { pages: 2 });
      inventory.recordList([], 2, { pages: 2 });
      return inventory;
    };
    expect(hiding().hidden).toEqual([row]);
    expect(hiding().markedFor("n/a")).toEqual([row]);
    expect(hiding().get("a")).toBeUndefined();
    const [gone, there, missing, listed] = [hiding(), hiding(), hiding(), hiding()];
    gone.recordGone("a", 3);
    there.recordRead(row, 3);
    missing.recordList([], 3, { pages: 2 });
    listed.recordList([], 3);
    expect([gone, there, missing, listed].map(({ hidden }) => hidden)).toEqual([[], [], [], []]);
    expect(there.markedFor("n/a")).toEqual([row]);
  });
});

describe("a list", () => {
  it("dates from when it began", () => {
    expect(inventory.listedAt).toBeUndefined();
    inventory.recordList([remote("a")], 7);
    expect(inventory.listedAt).toBe(7);
    expect(inventory.all()).toEqual([remote("a")]);
  });

  it("reports changes since the previous list, and nothing the first time", () => {
    expect(inventory.recordList([remote("a"), remote("b")], 1)).toEqual({ changed: [], absent: [] });
    expect(inventory.recordList([remote("a"), remote("b", 2), remote("c")], 2)).toEqual({
      changed: ["b", "c"],
      absent: [],
    });
    expect(inventory.recordList([remote("a"), remote("b", 2), remote("c")], 3)).toEqual({ changed: [], absent: [] });
  });

  it("reports, the first time, remotes that differ from an earlier answer", () => {
    inventory.recordWrite(remote("a"), 1);
    inventory.recordWrite(remote("b"), 1);
    expect(inventory.recordList([remote("a", 2), remote("b"), remote("c")], 2)).toEqual({ changed: ["a"], absent: [] });
  });

  it("reports remotes that are gone", () => {
    inventory.recordList([remote("a"), remote("b")], 1);
    expect(inventory.recordList([remote("b")], 2)).toEqual({ changed: [], absent: ["a"] });
    expect(inventory.get("a")).toBeUndefined();
  });

  it("keeps the old object of an equal remote, so that a list without changes makes no garbage", () => {
    inventory.recordList([remote("a")], 1);
    const known = inventory.get("a");
    inventory.recordList([remote("a")], 2);
    expect(inventory.get("a")).toBe(known);
  });

  it("leaves a known remote as it is when its row cannot be parsed", () => {
    inventory.recordList([remote("a")], 1);
    expect(inventory.recordList([], 2, { unreadable: new Map([["a", undefined]]) })).toEqual({
      changed: [],
      absent: [],
    });
    expect(inventory.get("a")).toEqual(remote("a"));
  });

  it("does not add a new remote whose row cannot be parsed", () => {
    inventory.recordList([], 1, { unreadable: new Map([["a", undefined]]) });
    expect(inventory.get("a")).toBeUndefined();
  });

  it("does not miss a remote whose row cannot be parsed, until a later answer lacks it", () => {
    const unreadable = new Map([["a", undefined]]);
    inventory.recordList([], 1, { unreadable });
    expect([inventory.isMissing("a"), inventory.isMissing("b")]).toEqual([false, true]);
    inventory.recordGone("a", 2);
    expect(inventory.isMissing("a")).toBe(true);
    inventory.recordList([], 3, { unreadable });
    expect(inventory.isMissing("a")).toBe(false);
    inventory.recordList([], 4);
    expect(inventory.isMissing("a")).toBe(true);
  });

  it("misses a remote that a read found gone after the list with its row began", () => {
    inventory.recordGone("a", 2);
    inventory.recordList([], 1, { unreadable: new Map([["a", undefined]]) });
    expect(inventory.isMissing("a")).toBe(true);
  });

  it("counts a remote once that two pages show, because rows move while pages are read", () => {
    inventory.recordList([remote("a", 1), remote("a", 1)], 1);
    expect(inventory.all()).toEqual([remote("a", 1)]);
  });
});

describe("a list that ends after one that began later", () => {
  it("is ignored", () => {
    inventory.recordList([remote("a")], 1);
    inventory.recordDeleted("a", 5);
    inventory.recordList([remote("b")], 6);
    expect(inventory.recordList([remote("a")], 3)).toEqual({ changed: [], absent: [] });
    expect(inventory.all()).toEqual([remote("b")]);
    expect(inventory.listedAt).toBe(6);
  });
});

describe("an own write", () => {
  it("is not undone by a list that began earlier", () => {
    inventory.recordWrite(remote("a", 2), 5);
    expect(inventory.recordList([remote("a", 1)], 4)).toEqual({ changed: [], absent: [] });
    expect(inventory.get("a")).toEqual(remote("a", 2));
  });

  it("is not removed by a list that began earlier", () => {
    inventory.recordWrite(remote("a"), 5);
    expect(inventory.recordList([], 4).absent).toEqual([]);
    expect(inventory.get("a")).toEqual(remote("a"));
  });

  it("is replaced by a list that began later", () => {
    inventory.recordList([], 1);
    inventory.recordWrite(remote("a", 2), 5);
    expect(inventory.recordList([remote("a", 3)], 6).changed).toEqual(["a"]);
    expect(inventory.get("a")).toEqual(remote("a", 3));
  });
});

describe("an own delete", () => {
  it("is not undone by a list that began earlier", () => {
    inventory.recordWrite(remote("a"), 1);
    inventory.recordDeleted("a", 5);
    expect(inventory.recordList([remote("a")], 4)).toEqual({ changed: [], absent: [] });
    expect(inventory.get("a")).toBeUndefined();
  });

  it("is replaced by a list that began later", () => {
    inventory.recordDeleted("a", 5);
    inventory.recordList([remote("a", 2)], 6);
    expect(inventory.get("a")).toEqual(remote("a", 2));
  });

  it("is replaced by a later answer", () => {
    inventory.recordDeleted("a", 5);
    inventory.recordWrite(remote("a", 2), 6);
    inventory.recordList([], 4);
    expect(inventory.get("a")).toEqual(remote("a", 2));
  });
});

describe("a read", () => {
  it("does not undo an own write that ended during the read", () => {
    inventory.recordWrite(remote("a", 2), 5);
    inventory.recordRead(remote("a", 1), 4);
    expect(inventory.get("a")).toEqual(remote("a", 2));
  });

  it("does not bring back a remote that was deleted during the read", () => {
    inventory.recordWrite(remote("a"), 1);
    inventory.recordDeleted("a", 5);
    inventory.recordRead(remote("a"), 4);
    expect(inventory.get("a")).toBeUndefined();
  });

  it("adds a remote that the list before did not have", () => {
    inventory.recordList([], 1);
    inventory.recordRead(remote("a"), 2);
    expect(inventory.get("a")).toEqual(remote("a"));
    expect([inventory.seenAt("a"), inventory.seenAt("b")]).toEqual([2, undefined]);
  });

  it("ends what was known of a deletion, so that the remote can be missing again", () => {
    inventory.recordList([remote("a")], 1);
    inventory.recordDeleted("a", 5);
    inventory.recordRead(remote("a", 2), 5);
    inventory.recordList([], 5);
    expect(inventory.isMissing("a")).toBe(true);
  });
});

describe("the inventory", () => {
  /** Own writes and deletes, writes by another client, and lists and reads that begin and end in any order. */
  interface Step {
    do: "write" | "delete" | "writeByOther" | "beginList" | "endList" | "beginRead" | "endRead";
    id: string;
  }

  /** An account whose remotes have as version the time of their latest write. */
  class Account {
    readonly inventory = new Inventory();
    readonly rows = new Map<string, number>();
    readonly own = new Map<string, { at: number; did: "write" | "delete" }>();
    readonly lists: { at: number; rows: { id: string; version: number }[] }[] = [];
    readonly reads: { at: number; row: { id: string; version: number } }[] = [];

    take({ do: did, id }: Step, now: number): void {
      const next = <T>(all: T[]) => (id === "a" ? all.shift() : all.pop());
      const steps: Record<Step["do"], () => unknown> = {
        write: () => this.#write(id, "write", now),
        delete: () => this.#write(id, "delete", now),
        writeByOther: () => this.rows.set(id, now),
        beginList: () =>
          this.lists.push({ at: now, rows: Array.from(this.rows, ([one, version]) => remote(one, version)) }),
        endList: () => this.#endList(next(this.lists)),
        beginRead: () => this.#beginRead(id, now),
        endRead: () => this.#endRead(next(this.reads)),
      };
      steps[did]();
    }

    #beginRead(id: string, now: number): void {
      const version = this.rows.get(id);
      if (version !== undefined) this.reads.push({ at: now, row: remote(id, version) });
    }

    #endList(list: (typeof this.lists)[number] | undefined): void {
      if (list) this.inventory.recordList(list.rows, list.at);
    }

    #endRead(read: (typeof this.reads)[number] | undefined): void {
      if (read) this.inventory.recordRead(read.row, read.at);
    }

    #write(id: string, did: "write" | "delete", now: number): void {
      this.own.set(id, { at: now, did });
      if (did === "write") {
        this.rows.set(id, now);
        this.inventory.recordWrite(remote(id, now), now);
      } else {
        this.rows.delete(id);
        this.inventory.recordDeleted(id, now);
      }
    }
  }

  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.record({
      do: fc.constantFrom("write", "delete", "writeByOther", "beginList", "endList", "beginRead", "endRead"),
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
            if (shown === undefined) expect(did).toBe("delete");
            else expect(shown).toBeGreaterThanOrEqual(at);
          }
        });
      }),
      { numRuns: 500 },
    );
  });
});

describe("a remote that other credentials have reported and no answer has shown", () => {
  beforeEach(() => {
    inventory.recordList([remote("a")], 1);
    expect(inventory.isMissing("b")).toBe(true);
    inventory.recordReported("b", 5);
  });

  it("is not missing because of a list from before the report", () => {
    expect(inventory.isMissing("b")).toBe(false);
    expect(inventory.get("b")).toBeUndefined();
    inventory.recordList([remote("a")], 4);
    expect(inventory.isMissing("b")).toBe(false);
  });

  it("is missing when a later list lacks it", () => {
    inventory.recordList([remote("a")], 6);
    expect(inventory.isMissing("b")).toBe(true);
  });

  it("is missing when a read does not find it", () => {
    inventory.recordGone("b", 6);
    expect(inventory.isMissing("b")).toBe(true);
  });

  it("is forgotten after ten minutes, so that memory does not grow without lists", () => {
    inventory.recordReported("c", 600_005);
    expect([inventory.isMissing("b"), inventory.isMissing("c")]).toEqual([false, false]);
    inventory.recordReported("c", 600_006);
    expect([inventory.isMissing("b"), inventory.isMissing("c")]).toEqual([true, false]);
  });

  it("is not missing because of a first list that began before the report", () => {
    const inventory = new Inventory();
    inventory.recordReported("b", 5);
    inventory.recordList([], 4);
    expect(inventory.isMissing("b")).toBe(false);
  });
});

const marked = (object: string) => ({ id: "a", metadata: JSON.stringify({ [OWNER_KEY]: `c/${object}` }) }) as never;

it("a remote whose mark changes belongs to the other object from then on", () => {
  inventory.recordWrite(marked("n/first"), 1);
  inventory.recordWrite(marked("n/second"), 2);
  expect(inventory.markedFor("n/first")).toEqual([]);
  expect(inventory.markedFor("n/second")).toEqual([marked("n/second")]);
});

it("a remote that comes back belongs only to the object that its present mark names", () => {
  inventory.recordWrite(marked("n/first"), 1);
  inventory.recordDeleted("a", 2);
  inventory.recordWrite(marked("n/second"), 3);
  expect(inventory.markedFor("n/first")).toEqual([]);
  expect(inventory.markedFor("n/second")).toEqual([marked("n/second")]);
});

it("listeners are called for each known remote that an answer shows changed or gone", () => {
  const seen: unknown[] = [];
  inventory.onChange((before, after) => seen.push([before["version"], after?.["version"]]));
  inventory.recordWrite(remote("a", 1), 1);
  expect(seen.splice(0)).toEqual([]);
  inventory.recordWrite(remote("a", 2), 2);
  expect(seen.splice(0)).toEqual([[1, 2]]);
  inventory.recordRead(remote("a", 3), 3);
  inventory.recordList([remote("a", 3)], 4);
  inventory.recordList([], 5);
  expect(seen.splice(0)).toEqual([
    [2, 3],
    [3, undefined],
  ]);
  inventory.recordWrite(remote("a", 4), 6);
  inventory.recordDeleted("a", 7);
  inventory.recordDeleted("a", 8);
  expect(seen).toEqual([[4, undefined]]);
});

it("a deletion by this process explains why a list lacks the remote, if the list did not begin later", () => {
  inventory.recordList([remote("a")], 1);
  inventory.recordDeleted("a", 5);
  inventory.recordList([], 5);
  expect(inventory.isMissing("a")).toBe(false);
  inventory.recordList([], 6);
  expect(inventory.isMissing("a")).toBe(true);
});

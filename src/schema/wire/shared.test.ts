import { describe, expect, it } from "vitest";
import { EventSubscription } from "../../kinds/event-subscription.ts";
import { ReservedDomain } from "../../kinds/reserved-domain.ts";
import { plan } from "../../reconcile/desired/plan.ts";
import type { OthersEntries } from "./shared.ts";

const entries = (keys: readonly string[]) => keys.map((type) => ({ type }));

interface Row {
  why: string;
  own: string[] | undefined;
  seen: string[];
  /** Entries that this object had put in before. */
  ours?: string[];
  theirs?: Partial<OthersEntries>;
  description?: string;
  /** What is sent; nothing where nothing is. */
  sent?: string[];
}

const rows: Row[] = [
  { why: "all that is wanted is there", own: ["a.v0"], seen: ["a.v0"], ours: ["a.v0"] },
  { why: "others have put in more", own: ["a.v0"], seen: ["x.v0", "a.v0"], ours: ["a.v0"] },
  { why: "another object has put in more", own: ["a.v0"], seen: ["a.v0", "b.v0"], theirs: { wanted: ["b.v0"] } },
  { why: "another object is about to put in more", own: ["a.v0"], seen: ["a.v0"], theirs: { wanted: ["b.v0"] } },
  { why: "another object is about to take out its own", own: [], seen: ["b.v0"], theirs: { leaving: ["b.v0"] } },
  { why: "nothing was ever listed here", own: undefined, seen: ["x.v0"] },
  { why: "one is missing", own: ["a.v0", "b.v0"], seen: ["x.v0", "a.v0"], sent: ["a.v0", "b.v0", "x.v0"] },
  { why: "one is no longer listed", own: ["a.v0"], seen: ["a.v0", "b.v0"], ours: ["a.v0", "b.v0"], sent: ["a.v0"] },
  { why: "the list was removed", own: undefined, seen: ["x.v0", "b.v0"], ours: ["b.v0"], sent: ["x.v0"] },
  { why: "the list was removed and is gone", own: undefined, seen: ["x.v0"], ours: ["b.v0"] },
  {
    why: "one is no longer listed, but another object wants it",
    own: ["a.v0"],
    seen: ["a.v0", "b.v0"],
    ours: ["a.v0", "b.v0"],
    theirs: { wanted: ["b.v0"] },
  },
  {
    why: "a text has changed, with others at work on the list",
    own: ["a.v0"],
    seen: ["a.v0", "x.v0", "c.v0"],
    theirs: { wanted: ["b.v0"], leaving: ["c.v0"] },
    description: "new",
    sent: ["a.v0", "x.v0", "b.v0"],
  },
  {
    why: "an object that goes wanted one that is listed here",
    own: ["a.v0"],
    seen: [],
    theirs: { leaving: ["a.v0"] },
    sent: ["a.v0"],
  },
];

describe("a shared list", () => {
  it.each(rows)("$why", ({ own, seen, ours = [], theirs, description, sent }) => {
    const made = plan(EventSubscription, {
      wanted: { ...(own && { sources: entries(own) }), ...(description && { description }) },
      seen: { sources: entries(seen) },
      applied: ours.length > 0 ? ["sources", ...ours.map((key) => `sources/${key}`)] : [],
      renewed: [],
      ...(theirs && { others: { sources: { wanted: [], leaving: [], ...theirs } } }),
    });
    expect(made.body["sources"]).toEqual(sent && entries(sent));
  });
});

it("a list that is not shared is as the spec has it", () => {
  const made = plan(ReservedDomain, {
    wanted: { metadata: "m" },
    seen: { metadata: "n" },
    applied: ["metadata"],
    renewed: [],
    others: { sources: { wanted: ["a.v0"], leaving: [] } },
  });
  expect(made.body).not.toHaveProperty("sources");
});

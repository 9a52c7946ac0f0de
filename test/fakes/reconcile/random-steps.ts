import fc from "fast-check";
import { type Player, players } from "./random-rivals.ts";
import { subjects } from "./random-subjects.ts";

export const verbs = ["create", "get", "update", "delete", "list"] as const;
export const writes = ["annotate", "writeStatus", "removeFinalizer"] as const;
/** What an overloaded API server refuses: `ask` is the question for the GatewayAccount of an object. */
export const refusals = [...writes, "ask"] as const;
/** Of a fault in two words, the first says what becomes of the request, and the second is the status of its answer. */
export const faults = [
  ...["late", "late 408", "lost", "swallowed", "unsent", "unreadable", "done 400", "done 408", "done 429"],
  ...["400", "405", "429", "500", "503"],
] as const;

/** The objects between which a remote moves. */
export const sides = ["heir", "subject"] as const;
/** Which of the two objects agree to the move. */
export const sayings = ["both", "giver", "taker"] as const;

const all = [...subjects.keys()];
const subject = fc.constantFrom(...all);
const steps = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("apply"), subject, variant: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("delete"), subject, retain: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("reconcile"), subject }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("everything") }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("drift"), subject }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drop"), subject }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("rotate") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("resync") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restore"), subject }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("fault"),
      verb: fc.constantFrom(...verbs),
      how: fc.constantFrom(...faults),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("kill"), write: fc.constantFrom(...writes) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("refuse"),
      write: fc.constantFrom(...refusals),
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("restart") }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("arrive") }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("rival"),
      subject,
      player: fc.constantFrom(...players),
      observes: fc.boolean(),
      elsewhere: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("end rivals"), player: fc.constantFrom(...players) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("move"),
      subject,
      to: fc.constantFrom(...sides),
      says: fc.constantFrom(...sayings),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("finish move"), subject }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("end heir"), subject }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("change cluster id") }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("swap key"), wrong: fc.boolean(), times: fc.integer({ min: 0, max: 6 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("back up") }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restore backup"), subject }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("wait"), seconds: fc.constantFrom(1, 5, 60, 600) }) },
);
/** The subjects of a run: all, or only a few, because some bugs need several steps with one subject. */
export const subjectSets = fc.oneof(fc.constant(all), fc.subarray(all, { minLength: 1 }));
/** The steps of a run. */
export const stepLists: fc.Arbitrary<Step[]> = fc.array(steps, { minLength: 5, maxLength: 50, size: "max" });
/**
 * Runs that take several steps in a row which are rare at random: the subjects that are there, those of the steps, and
 * the steps. They cause all that the test demands.
 */
const rareRunsWithSteps: [number[], number[], Step[]][] = [
  [
    [0, 4],
    all,
    [
      { do: "delete", subject: 0 },
      { do: "reconcile", subject: 0 },
    ],
  ],
  [[0], all, [{ do: "drift", subject: 0 }, { do: "resync" }, { do: "reconcile", subject: 0 }]],
  [
    [0],
    all,
    [
      { do: "rival", subject: 0, player: "cluster" },
      { do: "rival", subject: 0, player: "namespace" },
      { do: "everything" },
      { do: "delete", subject: 0, retain: true },
      { do: "everything" },
      { do: "everything" },
      { do: "end rivals", player: "namespace" },
      { do: "everything" },
    ],
  ],
  [
    [0],
    all,
    [
      { do: "move", subject: 0, to: "heir", says: "both" },
      { do: "everything" },
      { do: "everything" },
      { do: "finish move", subject: 0 },
      { do: "change cluster id" },
      { do: "swap key", wrong: true, times: 0 },
      { do: "everything" },
      { do: "swap key", wrong: false, times: 0 },
    ],
  ],
  [
    [3],
    all,
    [
      { do: "back up" },
      { do: "drop", subject: 3 },
      { do: "resync" },
      { do: "everything" },
      { do: "restore backup", subject: 3 },
    ],
  ],
  [
    [3],
    all,
    [
      { do: "back up" },
      { do: "move", subject: 3, to: "heir", says: "both" },
      { do: "everything" },
      { do: "everything" },
      { do: "restore backup", subject: 3 },
      { do: "apply", subject: 3, variant: 1 },
      { do: "everything" },
    ],
  ],
  [
    [5],
    all,
    [
      { do: "rotate" },
      { do: "everything" },
      { do: "everything" },
      { do: "restore", subject: 5 },
      { do: "refuse", write: "writeStatus", times: 1 },
      { do: "everything" },
      { do: "apply", subject: 3, variant: 1 },
      { do: "kill", write: "annotate" },
      { do: "everything" },
      { do: "restart" },
    ],
  ],
  // A list is read with the wrong key, and the right key is back before the proof of the key has ended.
  [
    [0, 3, 5],
    [4],
    [
      { do: "restart" },
      { do: "apply", subject: 0, variant: 0 },
      { do: "reconcile", subject: 0 },
      { do: "delete", subject: 0, retain: true },
      { do: "swap key", wrong: true, times: 2 },
      { do: "everything" },
      { do: "swap key", wrong: false, times: 1 },
      { do: "apply", subject: 0, variant: 0 },
      { do: "reconcile", subject: 0 },
    ],
  ],
  // The first object of a remote that moved comes back from a backup. It had it before, and the mark names the other one.
  [
    [0],
    [0, 5],
    [
      { do: "back up" },
      { do: "wait", seconds: 1 },
      { do: "move", subject: 0, to: "heir", says: "both" },
      { do: "everything" },
      { do: "restore backup", subject: 0 },
      { do: "everything" },
      { do: "rival", subject: 0, player: "namespace", observes: false },
      { do: "delete", subject: 0, retain: false },
      { do: "restore", subject: 0 },
      { do: "refuse", write: "annotate", times: 1 },
      { do: "delete", subject: 0, retain: false },
    ],
  ],
  // A remote moves back to an object that has the name of its first one.
  [
    [0],
    all,
    [
      { do: "move", subject: 0, to: "heir", says: "both" },
      { do: "finish move", subject: 0 },
      { do: "everything" },
      { do: "everything" },
      { do: "move", subject: 0, to: "subject", says: "both" },
      { do: "everything" },
      { do: "finish move", subject: 0 },
      { do: "everything" },
    ],
  ],
  // What only the account of the wrong key has is observed, and must not prove this key.
  [
    [0],
    all,
    [
      { do: "swap key", wrong: true, times: 0 },
      { do: "rival", subject: 0, player: "namespace", observes: true, elsewhere: true },
      { do: "everything" },
      { do: "resync" },
      { do: "apply", subject: 0, variant: 1 },
      { do: "everything" },
    ],
  ],
  // The object that a remote moved to is deleted while an edge refers to the former one, which no longer has it.
  [
    [0],
    all,
    [
      { do: "move", subject: 0, to: "heir", says: "both" },
      { do: "apply", subject: 4, variant: 0 },
      { do: "everything" },
      { do: "end heir", subject: 0 },
      { do: "everything" },
    ],
  ],
  [
    [2, 3],
    [0, 2, 3, 5],
    [
      { do: "change cluster id" },
      { do: "drop", subject: 0 },
      { do: "fault", verb: "update", how: "400" },
      { do: "reconcile", subject: 2 },
      { do: "apply", subject: 0, variant: 0 },
      { do: "drift", subject: 0 },
    ],
  ],
];

/** What shows the one remote that is always recorded. */
export const anchors = ["list", "module"] as const;

/** Each of these runs, with lists that show the owner marks and with lists that leave them out. */
export const rareRuns = rareRunsWithSteps.flatMap((run): [...typeof run, boolean, (typeof anchors)[number]][] => [
  [...run, false, "list"],
  [...run, true, "module"],
]);

/** One step, with the parameters that its type takes. */
export type Step = { do: string } & Partial<{
  subject: number;
  variant: number;
  retain: boolean;
  verb: (typeof verbs)[number];
  how: (typeof faults)[number];
  write: (typeof refusals)[number];
  times: number;
  seconds: number;
  player: Player;
  observes: boolean;
  /** Whether only the account of the wrong key has the remote. */
  elsewhere: boolean;
  to: (typeof sides)[number];
  says: (typeof sayings)[number];
  wrong: boolean;
}>;

/** The step, with its subject chosen from these. */
export const withSubjectFrom = (indexes: readonly number[], step: Step): Step => ({
  ...step,
  subject: indexes[(step.subject ?? 0) % indexes.length] as number,
});

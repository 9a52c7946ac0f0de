/**
 * How deep values of others may be nested. Functions that call themselves for each level, such as JSON.stringify and
 * comparisons, end the call stack at some thousands, and with it a list of the whole account.
 */
export const MAX_DEPTH = 100;

export interface Flaw {
  /** Such as `policy.inbound[0].config.limit`; the beginning of it where the value is nested too deep. */
  readonly path: string;
  /** `deep`: nested too deep. `number`: JavaScript holds another number than the one that was written. */
  readonly what: "deep" | "number";
}

interface Place {
  readonly value: unknown;
  readonly depth: number;
  readonly name: string | number;
  readonly in?: Place | undefined;
}

/** A part of a value that this program cannot carry from one side to the other as it is. Calls itself nowhere. */
export const flawIn = (value: unknown): Flaw | undefined => firstFlaw(value, isInexact);

/** Whether a value is nested too deep to be read. */
export const isTooDeep = (value: unknown): boolean => firstFlaw(value, () => false) !== undefined;

function firstFlaw(value: unknown, isFlaw: (number: number) => boolean): Flaw | undefined {
  const open: Place[] = [{ value, depth: 0, name: "" }];
  for (let place = open.pop(); place; place = open.pop()) {
    if (typeof place.value === "number" && isFlaw(place.value)) return { path: pathOf(place), what: "number" };
    const members = membersOf(place.value);
    if (members.length > 0 && place.depth >= MAX_DEPTH) return { path: pathOf(place), what: "deep" };
    for (const [name, value] of members) if (mayHaveFlaw(value)) open.push(memberOf(place, name, value));
  }
  return undefined;
}

const membersOf = (value: unknown): [string, unknown][] =>
  typeof value === "object" && value !== null ? Object.entries(value) : [];

/** Most members are texts, and every row of every list is walked. */
const mayHaveFlaw = (value: unknown): boolean => typeof value === "number" || typeof value === "object";

const memberOf = (place: Place, name: string, value: unknown): Place => ({
  value,
  depth: place.depth + 1,
  in: place,
  name: Array.isArray(place.value) ? Number(name) : name,
});

/** Beyond 2^53, several whole numbers become the same one when they are read. */
const isInexact = (number: number): boolean =>
  !Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number));

/** More names would make a message that nobody reads. */
const MOST_NAMES = 8;

function pathOf(place: Place): string {
  const names: (string | number)[] = [];
  for (let one: Place | undefined = place; one?.in; one = one.in) names.unshift(one.name);
  const [first = "", ...rest] = names.slice(0, MOST_NAMES);
  return `${first}${rest.map((name) => (typeof name === "number" ? `[${name}]` : `.${name}`)).join("")}`;
}

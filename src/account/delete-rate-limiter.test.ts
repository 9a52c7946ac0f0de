import { beforeEach, describe, expect, it } from "vitest";
import { VirtualClock } from "../../test/fakes/runtime/virtual-clock.ts";
import { DeleteRateLimiter } from "./delete-rate-limiter.ts";

let clock: VirtualClock;

beforeEach(() => {
  clock = new VirtualClock();
});

const ids = (count: number) => Array.from({ length: count }, (_, index) => `id-${index}`);

describe("six deletes a minute", () => {
  it("may be sent at once, and each further one has to wait longer", () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    expect(ids(9).map((id) => limiter.secondsUntilTurn(id, "team-a"))).toEqual([0, 0, 0, 0, 0, 0, 10, 20, 30]);
  });

  it("keep their turns when the same remotes ask again", async () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    for (const id of ids(8)) limiter.secondsUntilTurn(id, "team-a");
    await clock.advance(5000);
    expect(limiter.secondsUntilTurn("id-6", "team-a")).toBe(5);
    expect(limiter.secondsUntilTurn("another", "team-a")).toBe(25);
    await clock.advance(5000);
    expect(limiter.secondsUntilTurn("id-6", "team-a")).toBe(0);
    expect(limiter.secondsUntilTurn("id-7", "team-a")).toBe(10);
  });

  it("keep their order when one of them is known to be gone", () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    for (const id of ids(9)) limiter.secondsUntilTurn(id, "team-a");
    limiter.forget("id-6");
    expect(["id-8", "id-7"].map((id) => limiter.secondsUntilTurn(id, "team-a"))).toEqual([20, 10]);
  });

  it("are the limit of every minute after the first one, whose burst adds another six", async () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    const gone: number[] = [];
    let waiting = ids(40);
    for (let second = 0; second < 600; second += 1) {
      waiting = waiting.filter((id) => {
        if (limiter.secondsUntilTurn(id, "team-a") > 0) return true;
        gone.push(second);
        return false;
      });
      await clock.advance(1000);
    }
    expect(waiting).toEqual([]);
    // the burst of six, and one every ten seconds
    expect(gone.filter((second) => second < 60)).toHaveLength(11);
    expect(gone.filter((second) => second >= 60 && second < 120)).toHaveLength(6);
    expect(
      ids(9)
        .map((id) => limiter.secondsUntilTurn(`later-${id}`, "team-a"))
        .slice(0, 7),
    ).toEqual([0, 0, 0, 0, 0, 0, 10]);
  });
});

describe("deletes of several namespaces", () => {
  it("take turns, however many one namespace has", async () => {
    const limiter = new DeleteRateLimiter(clock, 60);
    const waiting = ids(560).filter((id) => limiter.secondsUntilTurn(id, "team-a") > 0);
    expect(waiting).toHaveLength(500);
    expect(limiter.secondsUntilTurn("b-0", "team-b")).toBe(2);
    expect(limiter.secondsUntilTurn("b-1", "team-b")).toBe(4);
    expect(limiter.secondsUntilTurn("c-0", "team-c")).toBe(3);
    const waiters = [...waiting.map((id) => [id, "team-a"]), ["b-0", "team-b"], ["b-1", "team-b"], ["c-0", "team-c"]];
    const turns: string[] = [];
    for (let second = 1; second <= 6; second += 1) {
      await clock.advance(1000);
      const next = waiters.filter(([id = "", namespace = ""]) => limiter.secondsUntilTurn(id, namespace) === 0);
      turns.push(...next.map(([, namespace = ""]) => namespace));
      for (const one of next) waiters.splice(waiters.indexOf(one), 1);
    }
    expect(turns).toEqual(["team-a", "team-b", "team-c", "team-a", "team-b", "team-a"]);
  });

  it("do not wait for remotes that no longer ask", async () => {
    const limiter = new DeleteRateLimiter(clock, 6);
    for (const id of ids(106)) limiter.secondsUntilTurn(id, "team-a");
    expect(limiter.secondsUntilTurn("a-last", "team-a")).toBe(1010);
    await clock.advance(1_200_000);
    for (const id of ids(6)) expect(limiter.secondsUntilTurn(`later-${id}`, "team-a")).toBe(0);
    expect(limiter.secondsUntilTurn("one-more", "team-a")).toBe(10);
  });
});

it("a namespace whose last waiting remote is gone has to line up again", () => {
  const limiter = new DeleteRateLimiter(clock, 6);
  for (const id of ids(6)) limiter.secondsUntilTurn(id, "team-a");
  expect(limiter.secondsUntilTurn("a-0", "team-a")).toBe(10);
  expect(limiter.secondsUntilTurn("b-0", "team-b")).toBe(20);
  limiter.forget("a-0");
  expect(limiter.secondsUntilTurn("a-1", "team-a")).toBe(20);
  expect(limiter.secondsUntilTurn("b-0", "team-b")).toBe(10);
});

it("a remote waits in one namespace, that of the object which asked last", () => {
  const limiter = new DeleteRateLimiter(clock, 6);
  for (const id of ids(6)) limiter.secondsUntilTurn(id, "team-a");
  for (const id of ["moved", "a-1"]) limiter.secondsUntilTurn(id, "team-a");
  expect(limiter.secondsUntilTurn("moved", "team-b")).toBe(20);
  expect(limiter.secondsUntilTurn("a-1", "team-a")).toBe(10);
});

it.each([
  [70_000, 4, "both keep their places"],
  [75_000, 5, "the first one has lost its place"],
  [80_001, 6, "both have lost their places"],
])(
  "a delete that does not ask again within a minute after its turn loses its place: after %d ms, %d others go, since %s",
  async (passed, count) => {
    const limiter = new DeleteRateLimiter(clock, 6);
    for (const id of [...ids(6), "first", "second"]) limiter.secondsUntilTurn(id, "team-a");
    await clock.advance(passed);
    const others = ids(8).map((id) => limiter.secondsUntilTurn(`later-${id}`, "team-a"));
    expect(others.filter((seconds) => seconds === 0)).toHaveLength(count);
  },
);

it("makes no delete wait without a limit", () => {
  const limiter = new DeleteRateLimiter(clock, 0);
  expect(ids(100).filter((id) => limiter.secondsUntilTurn(id, "team-a") > 0)).toEqual([]);
});

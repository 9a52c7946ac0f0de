import { describe, expect, test } from "vitest";
import { ListRoom, type Reading, sizeOf } from "./list-room.ts";

const MIB = 1024 * 1024;

/** Whether an answer of so much fits into a list under way. */
function fits(reading: Reading, mib: number): boolean {
  try {
    reading.onAnswer(mib * MIB);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ reason: "UnexpectedResponse", message: "Do this: there is no room for the list" });
    return false;
  }
}

describe("lists of all accounts have one room", () => {
  const roomOf = (mib: number) => {
    const room = new ListRoom({ bytes: mib * MIB, way: "Do this" });
    const begin = (list: string) => room.begin(list, "the list");
    /** A list of about this size is read and kept. */
    const keep = (list: string, mib: number) => {
      const reading = begin(list);
      expect(fits(reading, mib)).toBe(true);
      reading.add("x".repeat(mib * MIB));
      reading.keep();
    };
    /** Whether an answer of so much fits, if it is read by itself. */
    const takes = (list: string, mib: number): boolean => {
      const reading = begin(list);
      const isTaken = fits(reading, mib);
      reading.fail(new Error("ended"));
      return isTaken;
    };
    return { room, begin, keep, takes };
  };

  test("a list takes half of what the others leave", () => {
    const { keep, takes } = roomOf(64);
    expect([takes("one", 33), takes("one", 32)]).toEqual([false, true]);
    keep("one", 32);
    expect([takes("other", 17), takes("other", 16)]).toEqual([false, true]);
    keep("other", 16);
    expect([takes("third", 9), takes("third", 8)]).toEqual([false, true]);
  });

  test("pages that arrive count, before anything is read in them", () => {
    const { begin, takes } = roomOf(64);
    const one = begin("one");
    expect(fits(one, 32)).toBe(true);
    expect([takes("other", 17), takes("other", 16)]).toEqual([false, true]);
    one.fail(new Error("ended"));
    expect(takes("other", 17)).toBe(true);
  });

  describe("two that read one list at the same time", () => {
    test("count each by itself", () => {
      const { begin, takes } = roomOf(64);
      const [one, again] = [begin("one"), begin("one")];
      expect(fits(one, 20)).toBe(true);
      expect([fits(again, 13), fits(again, 12)]).toEqual([false, true]);
      expect([takes("other", 17), takes("other", 16)]).toEqual([false, true]);
      one.add("small");
      one.keep();
      expect([takes("other", 27), takes("other", 25)]).toEqual([false, true]);
      again.fail(new Error("ended"));
      expect(takes("other", 31)).toBe(true);
    });

    test("do not forget each other when one begins or ends", () => {
      const { begin, takes } = roomOf(64);
      const one = begin("one");
      expect(fits(one, 20)).toBe(true);
      begin("one").fail(new Error("ended"));
      expect([takes("other", 23), takes("other", 22)]).toEqual([false, true]);
    });

    test("have room for one of them, and for small lists", () => {
      const { begin, keep } = roomOf(64);
      keep("one", 32);
      const one = begin("one");
      expect(fits(one, 32)).toBe(true);
      expect(() => begin("one").add("x".repeat(2 * MIB))).toThrow("there is no room for the list");
      begin("one").add("x".repeat(MIB / 2));
      one.keep();
      begin("one").add("x".repeat(2 * MIB));
    });
  });

  test("a list that was read can be read again, and a small one always", () => {
    const { room, keep, takes } = roomOf(8);
    keep("one", 4);
    keep("other", 2);
    expect([takes("one", 5), takes("one", 4)]).toEqual([false, true]);
    keep("third", 1);
    expect([takes("third", 2), takes("fourth", 1)]).toEqual([false, true]);
    room.release("one");
    room.release("other");
    expect(takes("third", 3)).toBe(true);
  });

  test("of a page with much that is not kept, only what is kept counts in the end", () => {
    const { begin } = roomOf(64);
    const one = begin("one");
    expect(fits(one, 30)).toBe(true);
    one.add("small");
    one.keep();
    const other = begin("other");
    expect(fits(other, 31)).toBe(true);
    other.fail(new Error("ended"));
    expect(fits(begin("one"), 30)).toBe(true);
  });

  describe("pages of which nothing is kept, each nearly half of the room", () => {
    const names = Array.from({ length: 10 }, (_, index) => `list ${index}`);
    const readInTurn = () => {
      const { begin, keep } = roomOf(64);
      for (const name of names) {
        const reading = begin(name);
        expect(fits(reading, 31)).toBe(true);
        reading.add("small");
        reading.keep();
      }
      return { begin, keep };
    };

    test("do not arrive all at once, and each can be read again when no other arrives", () => {
      const { begin } = readInTurn();
      const readings = names.map(begin);
      expect(readings.filter((reading) => fits(reading, 31))).toHaveLength(1);
      for (const reading of readings) reading.fail(new Error("ended"));
      for (const name of names) {
        const reading = begin(name);
        expect(fits(reading, 31)).toBe(true);
        reading.fail(new Error("ended"));
      }
    });

    test("can be read again when the others have grown, but then less of them can be kept", () => {
      const { begin, keep } = readInTurn();
      keep("list 0", 31);
      const second = begin("list 1");
      expect(fits(second, 31)).toBe(true);
      expect(() => second.add("x".repeat(31 * MIB))).toThrow("there is no room for the list");
      expect(second.fail(new Error("ended"))).toMatchObject({ reason: "UnexpectedResponse" });
      keep("list 1", 16);
      const third = begin("list 2");
      expect([fits(third, 31), fits(begin("list 3"), 31)]).toEqual([true, false]);
    });
  });

  describe("what is read one by one", () => {
    const piecesOf = (mib: number) => {
      const { room, takes } = roomOf(mib);
      const begin = (piece: string) => room.begin("pieces", "the list", piece);
      const read = (piece: string, mib: number) =>
        room.read("pieces", "the list", async (reading) => reading.add("x".repeat(mib * MIB)), piece);
      return { room, takes, begin, read };
    };

    test("takes half of what the others leave, however small each piece is", async () => {
      const { read, takes } = piecesOf(64);
      const pieces = Array.from({ length: 100 }, (_, index) => read(`piece ${index}`, 1));
      const answers = await Promise.allSettled(pieces);
      expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(32);
      expect([takes("other", 17), takes("other", 16)]).toEqual([false, true]);
    });

    test("can be read again, also where there is no room for more", async () => {
      const { read } = piecesOf(64);
      await Promise.all([read("one", 20), read("other", 12)]);
      await read("one", 20);
      await expect(read("other", 13)).rejects.toThrow("there is no room");
      await read("one", 19);
      await read("other", 13);
    });

    test("gives its room back piece by piece", async () => {
      const { room, read } = piecesOf(64);
      await Promise.all([read("one", 20), read("other", 12)]);
      room.keep("pieces", "one", 4 * MIB);
      await read("third", 16);
      room.drop("pieces", "other");
      await read("fourth", 12);
      room.release("pieces");
      await read("one", 32);
    });

    test("counts while it arrives, beside other pieces", async () => {
      const { begin, read } = piecesOf(64);
      await read("one", 10);
      const [one, other] = [begin("one"), begin("other")];
      expect([fits(other, 23), fits(other, 22)]).toEqual([false, true]);
      expect([fits(one, 11), fits(one, 10)]).toEqual([false, true]);
      other.fail(new Error("ended"));
      expect(fits(one, 32)).toBe(true);
    });

    test("leaves nothing behind if it is kept nowhere", async () => {
      const { room, takes } = piecesOf(64);
      await room.readOnce("the list", async (reading) => reading.add("x".repeat(30 * MIB)));
      expect(takes("other", 32)).toBe(true);
    });
  });

  test("the reason is that there is no room, whatever the failure of the request says", async () => {
    const { room } = roomOf(8);
    const reading = room.read("one", "the list", async (reading) => {
      fits(reading, 5);
      throw new Error("the answer was cut off");
    });
    await expect(reading).rejects.toThrow("there is no room for the list");
  });
});

test("the size of a value is at least that of its texts, at any depth", () => {
  const large = "x".repeat(MIB);
  expect(sizeOf(large)).toBeGreaterThanOrEqual(MIB);
  expect(sizeOf({ policy: { inbound: [{ config: { a: [large, large], [large]: null } }] } })).toBeGreaterThan(3 * MIB);
  expect(sizeOf(Array(1000).fill(1))).toBeGreaterThan(8000);
  expect(sizeOf(undefined)).toBeLessThan(100);
});

import { randomBytes } from "node:crypto";
import { access, constants, link, open, readFile, realpath, rename, rm, stat } from "node:fs/promises";
import { textOf } from "../../runtime/log.ts";
import { CommandError } from "./terminal.ts";

/** A file as a command has read it. */
export interface TextFile {
  /** As the user names it. */
  name: string;
  /** Unset: there is no such file. */
  text: string | undefined;
}

/** Throws CommandError if the file cannot be read, or is not UTF-8: it would be written as another text. */
export async function readTextFile(name: string): Promise<TextFile> {
  const bytes = await bytesOf(name);
  const text = bytes?.toString("utf8");
  if (bytes && !bytes.equals(Buffer.from(text ?? "")))
    throw new CommandError(`Save ${name} as UTF-8: it has bytes that are no text`);
  return { name, text };
}

/**
 * The one way in which commands write files. Guarantees: whoever reads the file finds the former text or the new one,
 * whole, also when the process dies or the disk is full; links stay links, and the file keeps its mode, and its owner where
 * the user may give files away.
 * Throws CommandError, and leaves the file as it is, if somebody has edited it since it was read.
 */
export async function writeTextFile({ name, text: before }: TextFile, text: string): Promise<void> {
  await refuseEdited(name, before);
  const path = before === undefined ? name : await tellFailure(name, realpath(name));
  const beside = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    const mode = before === undefined ? 0o666 : await modeOfWritable(name, path);
    await tellFailure(name, writeNew(beside, text, mode));
    await refuseEdited(name, before);
    await (before === undefined ? addFile(name, beside) : tellFailure(name, rename(beside, path)));
  } finally {
    await rm(beside, { force: true });
  }
}

async function refuseEdited(name: string, before: string | undefined): Promise<void> {
  if ((await bytesOf(name))?.toString("utf8") !== before) throw editedMeanwhile(name);
}

const editedMeanwhile = (name: string): CommandError =>
  new CommandError(`Run this again: somebody has changed ${name} meanwhile, and it was left as it is`);

/** What the new file has to be like. A file with several names would be written under one of them only. */
async function modeOfWritable(name: string, path: string): Promise<{ mode: number; uid: number; gid: number }> {
  await tellFailure(name, access(path, constants.W_OK));
  const { nlink, mode, uid, gid } = await tellFailure(name, stat(path));
  if (nlink > 1) throw new CommandError(`Replace ${name} by a copy of it: it is a hard link, and would be one no more`);
  return { mode: mode & 0o7777, uid, gid };
}

async function writeNew(path: string, text: string, like: number | { mode: number; uid: number; gid: number }) {
  const file = await open(path, "wx", typeof like === "number" ? like : 0o600);
  try {
    await file.writeFile(text);
    if (typeof like !== "number") {
      const { uid, gid } = await file.stat();
      if (uid !== like.uid || gid !== like.gid) await file.chown(like.uid, like.gid).catch(() => undefined);
      await file.chmod(like.mode);
    }
    await file.sync();
  } finally {
    await file.close();
  }
}

/** A link fails where somebody has made the file meanwhile. Some file systems have none. */
async function addFile(name: string, beside: string): Promise<void> {
  try {
    await link(beside, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") throw editedMeanwhile(name);
    await tellFailure(name, rename(beside, name));
  }
}

async function bytesOf(name: string): Promise<Buffer | undefined> {
  try {
    return await readFile(name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw unusable(name, error);
  }
}

const tellFailure = <T>(name: string, done: Promise<T>): Promise<T> =>
  done.catch((error: unknown) => {
    throw unusable(name, error);
  });

const unusable = (name: string, cause: unknown): CommandError =>
  new CommandError(`Let ${name} be read and written, then run this again: ${textOf(cause)}`, { cause });

import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { Writable } from "node:stream";
import { promisify } from "node:util";
import { EnvHttpProxyAgent } from "undici";
import { type Binaries, binariesIn, cacheDirectory, exists, fill } from "./cache.ts";
import { megabytes, type Progress, type Report, reporting } from "./progress.ts";
import { checksumIn, type PublishedFile, publishedFiles, type Servers } from "./published.ts";
import { pinnedTool, type ToolName } from "./tools.ts";
import { fileFrom, type TransferOptions, textFrom } from "./transfer.ts";

export interface DownloadOptions extends Report {
  readonly servers?: Servers | undefined;
  /** A certificate authority to trust besides the system's. */
  readonly ca?: string | undefined;
  readonly answerMs?: number | undefined;
  readonly pauseMs?: number | undefined;
  readonly limit?: number | undefined;
  readonly open?: ((path: string) => Writable) | undefined;
}

/**
 * Downloads the published binaries of a tool into the user's cache folder, unless they are there. Each is checked
 * against the checksum that is published with it.
 */
export async function downloadTool(name: ToolName, options: DownloadOptions = {}): Promise<Binaries> {
  const { version } = await pinnedTool(name);
  const files = publishedFiles({ name, version }, process, options.servers);
  if (files.length === 0) throw new Error(`no ${name} is published for ${process.platform} on ${process.arch}`);
  const directory = folderOf(name, version);
  await fill(directory, { ...options, what: `the download of ${name} ${version}` }, async (unfinished) => {
    const dispatcher = new EnvHttpProxyAgent(options.ca ? { connect: { ca: options.ca } } : {});
    try {
      const sums: string[] = [];
      // All checksums first: they are small, and show soon whether the server can be reached.
      for (const file of files)
        sums.push(checksumIn(await textFrom(file.checksumURL, { ...options, dispatcher }), file));
      for (const [index, file] of files.entries()) {
        await download(file, unfinished, { ...options, dispatcher, sha256: sums[index] as string });
      }
    } finally {
      await dispatcher.destroy();
    }
    options.onProgress?.(`downloaded ${name} ${version}`);
  });
  return binariesOf(directory, files);
}

/** The binaries of a tool that were downloaded earlier. */
export async function downloadedTool(name: ToolName): Promise<Binaries | undefined> {
  const { version } = await pinnedTool(name);
  const directory = folderOf(name, version);
  return (await exists(directory)) ? binariesOf(directory, publishedFiles({ name, version })) : undefined;
}

const binariesOf = (directory: string, files: readonly PublishedFile[]): Binaries => {
  return binariesIn(
    directory,
    files.map(({ binary }) => binary),
  );
};

const folderOf = (name: ToolName, version: string): string => cacheDirectory({ name, version }, "published");

type Download = DownloadOptions & TransferOptions & { readonly sha256: string };

async function download(file: PublishedFile, directory: string, options: Download): Promise<void> {
  const { binary, url, member } = file;
  const what = `downloading ${binary} from ${new URL(url).host}`;
  let state: Progress = { done: 0, text: "0 MB" };
  options.onProgress?.(what);
  const path = join(directory, member ? `${binary}.archive` : binary);
  {
    using _ = reporting(options, what, () => state);
    const onBytes = (done: number, total: number | undefined) => {
      const text = total === undefined ? megabytes(done) : `${megabytes(done)} of ${megabytes(total)}`;
      state = { done, total, text };
    };
    await fileFrom(url, path, { ...options, onBytes });
  }
  if (member) await unpack(path, member, directory);
}

/** Leaves the binary in the directory, and removes the archive. The tar of macOS reads zip too. */
async function unpack(archive: string, member: string, directory: string): Promise<void> {
  const flags = ["--strip-components=1", "--no-same-owner"];
  await promisify(execFile)("tar", ["-xf", archive, "-C", directory, ...flags, member]);
  await rm(archive);
}

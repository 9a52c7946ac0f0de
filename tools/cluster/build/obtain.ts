import { buildTool, builtTool } from "./build.ts";
import type { Binaries } from "./cache.ts";
import { type DownloadOptions, downloadedTool, downloadTool } from "./download.ts";
import type { ToolName } from "./tools.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Which way CLUSTER_BINARIES allows, if it does not allow both. */
export function onlyWay(env: Environment = process.env): "download" | "build" | undefined {
  const given = env["CLUSTER_BINARIES"];
  if (!given) return undefined;
  if (given === "download" || given === "build") return given;
  throw new Error("CLUSTER_BINARIES must be download or build, or unset: a download is tried first, then a build");
}

/** The binaries of a tool that are in the user's cache folder. */
export async function cachedTool(name: ToolName, env: Environment = process.env): Promise<Binaries | undefined> {
  const only = onlyWay(env);
  const downloaded = only === "build" ? undefined : await downloadedTool(name);
  return downloaded ?? (only === "download" ? undefined : await builtTool(name));
}

/** The binaries of a tool: those in the cache, else downloaded, else built. */
export async function obtainTool(
  name: ToolName,
  options: DownloadOptions = {},
  env: Environment = process.env,
): Promise<Binaries> {
  const only = onlyWay(env);
  const cached = await cachedTool(name, env);
  if (cached) return cached;
  if (only !== "build") {
    try {
      return await downloadTool(name, options);
    } catch (error) {
      options.signal?.throwIfAborted();
      if (only === "download") throw error;
      options.onProgress?.(`building ${name}, since it cannot be downloaded: ${(error as Error).message}`);
    }
  }
  return buildTool(name, options);
}

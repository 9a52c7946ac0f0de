import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseAllDocuments } from "yaml";
import type { RouteId } from "../simulator/settings.ts";
import type { KubeJSON } from "./objects.ts";

const directory = join(import.meta.dirname, "../../examples");

/** The HTTPS edge routes that examples configure. The operator cannot create them: a simulator has to have them. */
export async function exampleRoutes(): Promise<RouteId[]> {
  const routes = (await examples()).filter(({ kind }) => kind === "HTTPSEdgeRoute");
  return routes.map(({ spec: { edgeId, routeId } }) => ({ edgeId, routeId }));
}

/** The objects of examples/*.yaml, in the order of the files. */
export async function examples(): Promise<KubeJSON[]> {
  const files = (await readdir(directory)).filter((name) => name.endsWith(".yaml")).sort();
  const texts = await Promise.all(files.map((name) => readFile(join(directory, name), "utf8")));
  return texts.flatMap((text) => parseAllDocuments(text).map((document) => document.toJS())).filter(Boolean);
}

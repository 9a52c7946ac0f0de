import { readdir, readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { buffer as bytesOf } from "node:stream/consumers";
import {
  type DocumentOptions,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type ParseOptions,
  parseAllDocuments,
  type SchemaOptions,
} from "yaml";
import { customResources } from "../../kinds/index.ts";
import type { KubeObject } from "../../runtime/object.ts";
import { API_VERSION, GROUP } from "../../schema/contract.ts";
import { CommandError, UsageError } from "../terminal/terminal.ts";
import { documentsOf } from "./json-documents.ts";
import { numbersAsKubectl } from "./kubectl-numbers.ts";
import { kustomize } from "./kustomize.ts";

/** An object as a file describes it. */
export interface Manifest {
  /** FILE:LINE of its beginning. */
  where: string;
  object: KubeObject & Record<string, unknown>;
  /** FILE:LINE of the field with this path, such as `spec.a[0].b`. Unset: only the beginning is known. */
  at?: (path: string) => string;
}

export interface Manifests {
  manifests: Manifest[];
  /** One line for each file or document that is no manifest or a duplicate. */
  problems: string[];
  /** One line for each object that has a kind of this operator, and is of another API. */
  leftOut: string[];
  /** Where each manifest is, by what no two may have in common. */
  places: Map<string, string>;
}

export const noManifests = (): Manifests => ({ manifests: [], problems: [], leftOut: [], places: new Map() });

export interface ManifestFlags {
  /** Files, folders, and `-` for stdin. */
  filename?: string[];
  /** With `filename`: folders with all folders in them. */
  recursive?: boolean;
  /** A folder with a kustomization.yaml file. */
  kustomize?: string;
}

/** Reads the manifests that the flags name. The flags are those of `kubectl apply`. */
export async function readManifests({
  filename,
  recursive = false,
  kustomize: folder,
}: ManifestFlags): Promise<Manifests> {
  const result = noManifests();
  if (folder === undefined) {
    for (const path of filename ?? []) await readFiles(path, recursive, result);
    return result;
  }
  if (filename || recursive) throw new UsageError("Give -k alone, or -f with or without -R");
  parse(await kustomize(folder), `-k ${folder}`, result);
  return result;
}

async function readFiles(path: string, recursive: boolean, result: Manifests): Promise<void> {
  for (const file of await filesOf(path, recursive)) {
    const name = file === "-" ? "stdin" : file;
    const bytes = await (file === "-" ? bytesOf(process.stdin) : readFile(file).catch(() => undefined));
    if (bytes) parseFile(bytes, name, result);
    else result.problems.push(`${name}: It cannot be read`);
  }
}

/** Adds the manifests in a file. */
export function parseFile(bytes: Uint8Array, file: string, result: Manifests): void {
  const text = textOf(bytes);
  if (text === undefined) result.problems.push(`${file}: Save it as UTF-8: it has another encoding`);
  else parse(text, file, result);
}

/** Whether a folder's file with this name is read for manifests. */
export const isManifestFile = (name: string): boolean => EXTENSIONS.includes(extname(name));

/** Undefined: these bytes are no UTF-8, as those of UTF-16 are. A byte order mark is left out. */
function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

const EXTENSIONS = [".yaml", ".yml", ".json"];

/** The manifests of a folder, or the one file. */
export async function filesOf(path: string, recursive: boolean): Promise<string[]> {
  if (path === "-") return [path];
  if (/^https?:\/\//i.test(path)) throw new CommandError(`Download ${path} first: -f reads files and folders here`);
  try {
    if (!(await stat(path)).isDirectory()) return [path];
  } catch {
    throw new CommandError(`Give another -f: there is no file or folder ${path}`);
  }
  const entries = await readdir(path, { recursive, withFileTypes: true });
  return entries
    .filter((entry) => isManifestFile(entry.name) && !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort();
}

/** As kubectl reads YAML: version 1.1, but times and dates are texts. */
const asKubectl: ParseOptions & DocumentOptions & SchemaOptions = {
  version: "1.1",
  customTags: (tags) => numbersAsKubectl(tags.filter((tag) => typeof tag === "string" || !isTime(tag))),
};

const isTime = ({ tag, ...more }: { tag: string; format?: string }): boolean =>
  tag === "tag:yaml.org,2002:timestamp" || more.format === "TIME";

/** Adds the manifests in a text. Objects of other APIs are left out, since a folder may hold a whole application. */
export function parse(text: string, file: string, result: Manifests): void {
  const documents = documentsOf(text);
  if (!documents) parseYAML(text, file, result);
  for (const { value, line } of documents ?? [])
    for (const item of itemsOf(value)) add(item, `${file}:${line}`, result);
}

function parseYAML(text: string, file: string, result: Manifests): void {
  const lines = new LineCounter();
  for (const document of parseAllDocuments(text, { ...asKubectl, lineCounter: lines })) {
    const at = (offset: number) => `${file}:${lines.linePos(offset).line}`;
    const [error] = document.errors;
    if (error) {
      result.problems.push(`${at(error.pos[0])}: Correct the YAML: ${firstLineOf(error)}`);
      continue;
    }
    const where = at(document.contents?.range?.[0] ?? document.range[0]);
    const content = contentOf(document);
    if ("problem" in content) {
      result.problems.push(`${where}: Correct the YAML: ${content.problem}`);
      continue;
    }
    for (const [index, item] of itemsOf(content.value).entries()) {
      const above = item === content.value ? "" : `items[${index}].`;
      add(item, where, result, (path) => at(offsetIn(document.contents, `${above}${path}`)));
    }
  }
}

/** What the parser says, with line and column, and without the lines that it repeats below a colon. */
export const firstLineOf = ({ message }: Error): string => message.split("\n", 1)[0]?.replace(/:$/, "") ?? "";

/** Where the deepest part of a path begins that the document has. */
function offsetIn(contents: unknown, path: string): number {
  let found = { node: contents, key: contents };
  let offset = 0;
  for (const key of ["", ...path.split(/[.[\]]+/).filter(Boolean)]) {
    if (key !== "") found = memberOf(found.node, key);
    if (!isNode(found.key)) return offset;
    offset = found.key.range?.[0] ?? offset;
  }
  return offset;
}

function memberOf(node: unknown, key: string): { node: unknown; key: unknown } {
  if (isSeq(node)) return { node: node.items[Number(key)], key: node.items[Number(key)] };
  const pair = isMap(node) ? node.items.find((one) => isScalar(one.key) && one.key.value === key) : undefined;
  return { node: pair?.value, key: pair?.key };
}

/**
 * Converts the document to a value. Only this step finds an alias without an anchor, and refuses one that would become
 * huge.
 */
function contentOf(document: { toJS: () => unknown }): { value: unknown } | { problem: string } {
  try {
    return { value: document.toJS() };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

function add(item: unknown, where: string, result: Manifests, at?: Manifest["at"]): void {
  const { manifests, problems, leftOut, places } = result;
  const problem = problemOf(item) ?? duplicateOf(item, result);
  const other = problem === undefined ? otherAPIOf(item as KubeObject) : undefined;
  if (problem) problems.push(`${where}: ${problem}`);
  else if (other) leftOut.push(`${where}: ${other}`);
  else if (isRelevant(item as KubeObject)) {
    manifests.push({ where, object: item as Manifest["object"], ...(at && { at }) });
    places.set(keyOf(item as KubeObject), where);
  }
}

/** The items of a list. Nothing for a document that is empty. */
const itemsOf = (value: unknown): unknown[] => {
  if (value === null || value === undefined) return [];
  const { kind, items } = value as { kind?: unknown; items?: unknown };
  return kind === "List" && Array.isArray(items) ? items : [value];
};

function problemOf(value: unknown): string | undefined {
  const { apiVersion, kind, metadata } = (
    typeof value === "object" && value !== null ? value : {}
  ) as Partial<KubeObject>;
  if (typeof apiVersion !== "string" || typeof kind !== "string")
    return "This is no manifest: it has no apiVersion and kind";
  if (isData({ apiVersion, kind })) return problemOfData(value as KubeObject);
  if (!apiVersion.startsWith(`${GROUP}/`)) return undefined;
  if (apiVersion !== API_VERSION) return `Use apiVersion ${API_VERSION}: there is no ${apiVersion}`;
  if (customResources.every((one) => one.kind !== kind)) return `${API_VERSION} has no kind ${kind}`;
  return metadata?.name ? undefined : `Give this ${kind} a metadata.name`;
}

/** A name may be the same in another API. It may also be a mistake, and then the API server refuses it. */
function otherAPIOf({ apiVersion, kind, metadata }: KubeObject): string | undefined {
  const isOurs = apiVersion === API_VERSION || customResources.every((one) => one.kind !== kind);
  return isOurs ? undefined : `${kind}/${metadata?.name} is left out: it is of ${apiVersion}, not of ${API_VERSION}`;
}

/** The API server does not see these in a plan, so nothing else finds what it would refuse. */
function problemOfData(object: KubeObject & Record<string, unknown>): string | undefined {
  const { kind, metadata } = object;
  if (!metadata?.name) return `Give this ${kind} a metadata.name`;
  const wrong = ["data", "stringData"].find((member) => !isTexts(object[member] ?? {}));
  return wrong && `Give ${wrong} of ${kind} "${metadata.name}" texts alone`;
}

const isTexts = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.values(value).every((one) => typeof one === "string");

function duplicateOf(value: unknown, { places }: Manifests): string | undefined {
  const other = places.get(keyOf(value as KubeObject));
  return other && sameAs(other);
}

const sameAs = (other: string): string => `Remove one of two: ${other} has the same object`;

/** The message for an object that another file has too. */
export const duplicate = (where: string, other: string): string => `${where}: ${sameAs(other)}`;

const keyOf = ({ apiVersion, kind, metadata }: KubeObject): string =>
  `${apiVersion} ${kind} ${metadata?.namespace ?? ""}/${metadata?.name}`;

/** Objects that the operator manages, the objects that it reads for them, and the namespaces of both. */
const isRelevant = (object: KubeObject): boolean =>
  object.apiVersion === API_VERSION || isData(object) || isNamespace(object);

export const isNamespace = ({ apiVersion, kind }: KubeObject): boolean => apiVersion === "v1" && kind === "Namespace";

const isData = ({ apiVersion, kind }: { apiVersion?: unknown; kind?: unknown }): boolean =>
  apiVersion === "v1" && (kind === "Secret" || kind === "ConfigMap");

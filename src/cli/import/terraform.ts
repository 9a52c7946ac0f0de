import type { Kind } from "../../schema/define.ts";
import { CommandError } from "../terminal/terminal.ts";
import { readTextFile } from "../terminal/text-file.ts";
import { legal } from "./names.ts";

/** A resource that Terraform manages, and whose id is one of the service. */
export interface TerraformResource {
  /** The address without the key of an instance: `module.shop.gateway_ip_policy.office`. */
  address: string;
  /** The name of the new object. */
  name: string;
  id: string;
}

export interface TerraformState {
  resources: TerraformResource[];
  /** Addresses of resources whose ids do not belong to the service. */
  others: string[];
}

/** Reads a state file (version 4) or what `terraform show -json` prints. Throws CommandError for anything else. */
export async function readTerraform(file: string, kinds: readonly Kind[]): Promise<TerraformState> {
  const { text } = await readTextFile(file);
  if (text === undefined) throw new CommandError(`Give another --terraform: the file ${file} cannot be read`);
  return parseTerraform(text, file, kinds);
}

/** One resource of a state, with all its instances. */
interface Found {
  module: string;
  type: string;
  name: string;
  key: string | number | undefined;
  id: unknown;
}

/** Finds resources by their ids: types and attribute names differ from provider to provider. */
export function parseTerraform(text: string, file: string, kinds: readonly Kind[]): TerraformState {
  const found = foundIn(jsonOf(text, file), file);
  const resources: TerraformResource[] = [];
  const others: string[] = [];
  for (const { module, type, name, key, id } of found) {
    const address = [module, type, name].filter(Boolean).join(".");
    if (!ADDRESS.test(address)) throw notATerraformFile(file);
    if (typeof id !== "string" || !isKnown(id, kinds)) others.push(address);
    else resources.push({ address, id, name: legal([modulesIn(module), name, key].filter(isSet).join("-")) });
  }
  return { resources, others: [...new Set(others)] };
}

const WORD = String.raw`[\p{ID_Start}_][\p{ID_Continue}-]*`;

/** The key of an instance. */
const KEY = String.raw`\[(?:\d+|"(?:[^"\\\p{Cc}]|\\.)*")\]`;

/** The address of a resource without its own key. It is written into a file that Terraform reads. */
const ADDRESS = new RegExp(`^(?:module\\.${WORD}(?:${KEY})?\\.)*${WORD}\\.${WORD}$`, "u");

const isSet = (part: unknown): boolean => part !== undefined && part !== "";

const isKnown = (id: string, kinds: readonly Kind[]): boolean =>
  kinds.some(({ location, resource }) => location.type === "collection" && id.startsWith(resource.idPrefix));

/** `module.shop["eu"].module.web` as `shop-eu-web`. */
const modulesIn = (module: string): string => module.replaceAll(/(^|\.)module\./g, "-");

function jsonOf(text: string, file: string): Members {
  try {
    const value: unknown = JSON.parse(text);
    if (isMembers(value)) return value;
  } catch {
    // Told below.
  }
  throw notATerraformFile(file);
}

const notATerraformFile = (file: string): CommandError =>
  new CommandError(`Give another --terraform: ${file} is no state file of version 4, and no terraform show -json`);

type Members = Readonly<Record<string, unknown>>;

const isMembers = (value: unknown): value is Members => typeof value === "object" && value !== null;

const membersIn = (value: unknown): Members[] => (Array.isArray(value) ? value.filter(isMembers) : []);

function foundIn(state: Members, file: string): Found[] {
  if (state["version"] === 4) return membersIn(state["resources"]).flatMap(instancesOf);
  const { values } = state;
  if (!isMembers(values) || !isMembers(values["root_module"])) throw notATerraformFile(file);
  return shownIn(values["root_module"]);
}

function instancesOf({ mode, module = "", type, name, instances }: Members): Found[] {
  if (mode !== "managed") return [];
  return membersIn(instances).map(({ index_key: key, attributes }) => ({
    module: String(module),
    type: String(type),
    name: String(name),
    key: key as Found["key"],
    id: isMembers(attributes) ? attributes["id"] : undefined,
  }));
}

function shownIn(module: Members): Found[] {
  const own = membersIn(module["resources"]).filter(({ mode }) => mode === "managed");
  return [
    ...own.map(({ type, name, index, values }) => ({
      module: String(module["address"] ?? ""),
      type: String(type),
      name: String(name),
      key: index as Found["key"],
      id: isMembers(values) ? values["id"] : undefined,
    })),
    ...membersIn(module["child_modules"]).flatMap(shownIn),
  ];
}

/** Blocks with which Terraform (1.7 and later) forgets resources without destroying them. They take no instance keys. */
export function removedBlocks(resources: readonly TerraformResource[]): string {
  const addresses = new Set(resources.map(({ address }) => address.replaceAll(new RegExp(KEY, "gu"), "")));
  const blocks = [...addresses].sort().map(
    (address) => `removed {
  from = ${address}
  lifecycle {
    destroy = false
  }
}
`,
  );
  return blocks.join("\n");
}

import { customResources } from "../../kinds/index.ts";
import type { Transport } from "../../runtime/connection/transport.ts";
import { GROUP, VERSION } from "../../schema/contract.ts";
import type { CustomResource } from "../../schema/define.ts";
import { type JSONSchema, structural } from "../../schema/structural.ts";

type Schemas = Readonly<Record<string, JSONSchema>>;

const SHOWN = 5;

/**
 * Compares the kinds and fields that the API server serves with those of this program. It reads the OpenAPI schema,
 * since everybody may read that, and not the CRDs.
 */
export async function checkDefinitions(transport: Transport): Promise<string> {
  const path = `/openapi/v3/apis/${GROUP}/${VERSION}`;
  const { status, body } = await transport.request({ method: "GET", path });
  if (status === 404) throw new Error(`install the CRDs: the cluster has no ${GROUP}/${VERSION}`);
  if (status !== 200) throw new Error(`GET ${path} answers ${status}`);
  const missing = missingFrom(JSON.parse(body).components?.schemas ?? {});
  if (missing.length > 0) throw new Error(`upgrade the CRDs: they lack ${listed(missing)}`);
  return `${customResources.length} kinds of ${GROUP}/${VERSION}, with all fields`;
}

/** The kinds and fields that are missing in the cluster, such as `TCPEdge` or `TCPEdge.spec.backend`. */
export function missingFrom(schemas: Schemas, resources: readonly CustomResource[] = customResources): string[] {
  return resources.flatMap((resource) => {
    const served = schemas[`${reversed(GROUP)}.${VERSION}.${resource.kind}`];
    if (!served) return [resource.kind];
    const parts = { spec: structural(resource.spec), status: structural(resource.status) };
    return Object.entries(parts).flatMap(([part, wanted]) =>
      absent(wanted, served.properties?.[part] ?? {}, `${resource.kind}.${part}`),
    );
  });
}

function absent(wanted: JSONSchema, served: JSONSchema, path: string): string[] {
  if (wanted.items) return absent(wanted.items, served.items ?? {}, `${path}[]`);
  return Object.entries(wanted.properties ?? {}).flatMap(([field, schema]) => {
    const known = served.properties?.[field];
    return known ? absent(schema, known, `${path}.${field}`) : [`${path}.${field}`];
  });
}

const reversed = (group: string): string => group.split(".").reverse().join(".");

const listed = (names: readonly string[]): string =>
  names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more` : names.join(", ");

import type { Simulator } from "../../simulator/simulator.ts";
import { ed25519PublicKey, sampleBodies } from "../../simulator/testing/samples.ts";

/** Resources of all types in equal parts, as people have made them. */
export function fill({ control }: Simulator, count: number): void {
  const bodies = Object.entries(sampleBodies(control));
  for (let made = 0; made < count; made += 1) {
    const [collection, body] = bodies[made % bodies.length] as (typeof bodies)[number];
    const own = {
      ...("domain" in body && { domain: `host-${made}.example.org` }),
      ...("public_key" in body && { public_key: ed25519PublicKey() }),
    };
    control.insert(collection, { ...body, ...own, description: `Resource ${made}` });
  }
}

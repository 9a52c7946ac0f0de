// Serves several accounts, and prints their addresses and keys as one line of JSON.
import { startSimulator } from "../simulator/simulator.ts";

const [count = 1, latencyMs = 0] = process.argv.slice(2).map(Number);
const all = await Promise.all(Array.from({ length: count }, () => startSimulator({ latencyMs })));
console.log(JSON.stringify(all.map(({ url, apiKey }) => ({ url, apiKey }))));

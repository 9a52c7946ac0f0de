import { sessionName } from "../../src/sessions/naming.ts";
import type { Control } from "../simulator/simulator.ts";

/** What agents say of themselves when they connect. */
const agents = [
  { region: "eu", os: "linux", ip: "203.0.113.7", agent_version: "3.1.0", metadata: "database in Lisbon" },
  { region: "eu", os: "linux", ip: "203.0.113.8", agent_version: "3.0.2", metadata: "git in Porto" },
  { region: "us", os: "windows", ip: "2001:db8::17", agent_version: "3.1.0", metadata: "till in Boston" },
];

/** Agents of the account go online. Resolves with the names of their TunnelSession objects. */
export const connectAgents = (control: Pick<Control, "addSession">): string[] =>
  agents.map((agent) => sessionName(String(control.addSession(agent)["id"])));

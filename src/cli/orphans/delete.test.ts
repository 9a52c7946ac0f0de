import { expect, test, vi } from "vitest";
import { useFixedServices } from "../../../test/fakes/cli/run.ts";

const { run, altering, failing } = useFixedServices();

const EDGE = { id: "edgtcp_hand", ip_restriction: { enabled: true, ip_policies: [{ id: "ipp_nobody" }] } };

const POLICY = "/ip_policies/ipp_nobody";

/**
 * Somebody has made an edge that uses a policy that nobody manages. A delete of both works. What objects use is not in
 * the account. Returns a function that deletes the edge.
 */
function makeEdge(): () => void {
  let isThere = true;
  altering((body, { path }) => {
    if (path === "/backends/tunnel_group") return { ...body, backends: [] };
    if (path === "/event_destinations") return { ...body, event_destinations: [] };
    const edges = "tcp_edges" in body && Array.isArray(body.tcp_edges) ? body.tcp_edges : undefined;
    return path === "/edges/tcp" && edges && isThere ? { ...body, tcp_edges: [...edges, EDGE] } : body;
  });
  failing(({ method, path }) => {
    if (path === POLICY && method === "DELETE") return { status: 204, body: "" };
    if (path !== `/edges/tcp/${EDGE.id}`) return undefined;
    if (!isThere) return { status: 404, body: {} };
    if (method !== "DELETE") return { status: 200, body: EDGE };
    isThere = false;
    return { status: 204, body: "" };
  });
  return () => {
    isThere = false;
  };
}

/** Runs the command, and says yes to the questions that name this. */
async function answering(yes: RegExp, whileAskedOfEdge = () => {}) {
  const questions: string[] = [];
  const ask = async (question: string) => {
    questions.push(question);
    if (question.includes(EDGE.id)) whileAskedOfEdge();
    return yes.test(question);
  };
  return { ...(await run("orphans --unmanaged --delete", { ask })), questions };
}

test("it asks for what nothing uses, and says of the others what uses them", async () => {
  const { code, questions, stderr } = await answering(/nothing/);
  expect(questions).toEqual([
    "Delete IPPolicy ipp_left (Left behind)?",
    "Delete IPPolicy ipp_nobody (Made by hand)?",
    "Delete AgentIngress agin_9 (agents.shop.example)?",
  ]);
  expect(stderr).toBe(
    [
      "Kept TunnelGroupBackend bkdtg_1: Ask who runs TLSEdge shop/shop to change it first: it uses this TunnelGroupBackend",
      "Kept EventDestination ed_1: Ask who runs EventSubscription shop/audit to change it first: it uses this EventDestination",
    ].join("\n"),
  );
  expect(code).toBe(1);
});

test("it does not ask for what is used by an orphan that a person keeps, and that is no failure", async () => {
  makeEdge();
  const { code, questions, stderr, stdout } = await answering(/nothing/);
  expect(questions[1]).toBe(`Delete TCPEdge ${EDGE.id}?`);
  expect(questions.join()).not.toContain("ipp_nobody");
  expect(stderr).toBe(`Kept IPPolicy ipp_nobody: you keep what uses it (TCPEdge ${EDGE.id})`);
  expect([code, stdout]).toEqual([0, ""]);
});

test("it asks for what was used by an orphan that it has deleted", async () => {
  makeEdge();
  const { code, questions, stderr, stdout } = await answering(/edgtcp_hand/);
  expect(questions.filter((question) => question.includes("ipp_nobody"))).toHaveLength(1);
  expect([code, stdout, stderr]).toEqual([0, `Deleted TCPEdge ${EDGE.id}`, ""]);
});

test.each([
  ["yes", /edgtcp_hand|ipp_nobody/, [1, `Kept TCPEdge ${EDGE.id}: it is gone`]],
  ["no", /ipp_nobody/, [0, ""]],
] as const)("it asks for what was used by what somebody else has deleted, after %s", async (_, yes, ended) => {
  const deleteEdge = makeEdge();
  const { code, questions, stderr, stdout } = await answering(yes, deleteEdge);
  expect(questions.filter((question) => question.includes("ipp_nobody"))).toHaveLength(1);
  expect(stdout).toBe("Deleted IPPolicy ipp_nobody");
  expect([code, stderr]).toEqual(ended);
});

test.each([
  ["true", "", 1],
  ["false", "Kept TLSEdge edgtls_hand: Delete it by hand: the service cannot delete a TLS edge", 0],
])(
  "an edge whose deletion the API page does not show: GATEWAY_UNDOCUMENTED_OPERATIONS=%s",
  async (tries, kept, sent) => {
    vi.stubEnv("GATEWAY_UNDOCUMENTED_OPERATIONS", tries);
    const edge = { id: "edgtls_hand" };
    let deletions = 0;
    altering((body, { path }) =>
      path === "/edges/tls" && "tls_edges" in body && Array.isArray(body.tls_edges)
        ? { ...body, tls_edges: [...body.tls_edges, edge] }
        : body,
    );
    failing(({ method, path }) => {
      if (path !== `/edges/tls/${edge.id}`) return undefined;
      if (method !== "DELETE") return { status: 200, body: edge };
      deletions += 1;
      return { status: 204, body: "" };
    });
    const { stderr } = await answering(/edgtls_hand/);
    expect(
      stderr
        .split("\n")
        .filter((line) => line.includes(edge.id))
        .join(),
    ).toBe(kept);
    expect(deletions).toBe(sent);
  },
);

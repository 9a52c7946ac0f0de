/** That of the simulator, in this process or another. */
interface Account {
  insert(collection: string, members: Record<string, unknown>): unknown;
}

/** What somebody has made in the account without Kubernetes, for the how-tos. The ids are those that the pages show. */
export async function makeByHand(account: Account): Promise<void> {
  const policy = "ipp_2leg4kyX69U6IswsdjKIohVXiFIz";
  await account.insert("ip_policies", { id: policy, description: "Branch office" });
  await account.insert("edges/tcp", {
    id: "edgtcp_2nVhQthWfxrVVXty9v8qQqC6n0f8",
    description: "SSH",
    ip_restriction: { ip_policy_ids: [policy] },
  });
  await account.insert("event_destinations", {
    id: "ed_2dT7hBvUaX1CkQzWmJr5sN0yGfE",
    description: "Audit",
    format: "json",
    target: { monitoring: { api_key: "a-key", service: "gateway" } },
  });
}

/** Where the demo has its objects, and the operator its own. */
export const NAMESPACE = "demo";

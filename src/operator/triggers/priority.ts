import { type Lane, lanes } from "../../account/requests/request-budget.ts";

/** The work queue's priority for each lane of the request budget. */
export const priorities: Readonly<Record<Lane, number>> = { edit: 0, retry: -50, sync: -100 };

/** The lane in which a reconcile of this priority sends its requests. */
export const laneOf = (priority: number): Lane => lanes.find((lane) => priority >= priorities[lane]) ?? "sync";

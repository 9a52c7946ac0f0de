import { wayToRead } from "../way-to-read.ts";

/** Objects that cannot be read. */
export interface Unread {
  kind: string;
  /** Where they cannot be read. Empty: nowhere. */
  namespaces: readonly string[];
  /** What they may forbid; the end of the message. */
  why: string;
}

export const unreadText = ({ kind, namespaces, why }: Unread): string => `${wayToRead(kind, namespaces)}: ${why}`;

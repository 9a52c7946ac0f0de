import { debianPrograms, howToGet, type Programs } from "../shared/debian.ts";

const PACKAGE = "bind9";

/** BIND 9, in any version. See `debianPrograms` for where it comes from. */
export const bindPrograms = (): Promise<Programs<"named"> | undefined> =>
  debianPrograms(PACKAGE, ["named"], { libraries: true });

/** What a person does where it is missing. */
export const howToGetBind = howToGet(PACKAGE);

/** For the name of tests that are skipped. */
export const withoutBind = `skipped, because BIND 9 is missing: ${howToGetBind}`;

import { defineProgram, flag, type Values, wholeNumber } from "../shared/program.ts";

export const program = defineProgram({
  command: "npm run demo --",
  about: `Starts a Kubernetes API server, a simulator of the service and the operator, applies examples/ and shows the objects
becoming Ready. Stays until Ctrl-C, when everything is stopped and removed.`,
  options: {
    once: flag("end when all are Ready, with exit code 0; or 1 when they are not"),
    dns: flag("show how a domain gets its DNS record and its certificate, with external-dns and BIND 9"),
    timeout: { value: "seconds", about: "how long they may take", initial: 120, read: wholeNumber(1) },
  },
});

export type Arguments = Values<typeof program.options>;

import { ui } from "../../../src/cli/ui/ui.ts";

/** Each page, of the fixed account. */
export const paths = [
  ...[
    "/",
    "/topology",
    "/topology?text=e",
    "/topology?as=text",
    "/topology?state=waiting",
    "/topology?from=IPPolicy%2Fshop%2Foffice&up=1",
  ],
  ...["/drift", "/activity", "/certificates", "/unmanaged", "/plan", "/node?key=TCPEdge%2Fshop%2Frefused"],
  ...["/node?key=IPPolicy%2Fshop%2Foffice", "/node?key=TCPEdge%2Fshop%2Fwarehouse-of-the-second-region"],
];

export interface Served {
  address: string;
  /** The text of a page. */
  get: (path: string) => Promise<{ status: number; text: string }>;
  /** As the form sends files, or those of a folder. */
  send: (files: Record<string, string>, field?: "manifests" | "folder") => Promise<{ status: number; text: string }>;
  warned: string[];
}

/** Runs the command while the work is done, with its cookie. */
export async function serving(work: (served: Served) => Promise<void>, flags: Partial<Parameters<typeof ui>[0]> = {}) {
  const end = Promise.withResolvers<void>();
  const said = Promise.withResolvers<string>();
  const warned: string[] = [];
  const terminal = {
    say: (lines: unknown) => said.resolve(String(lines)),
    warn: (lines: unknown) => void warned.push(String(lines)),
  };
  const running = ui({ port: "0", ...flags }, terminal, end.promise);
  running.catch(said.reject);
  try {
    const address = await said.promise;
    const first = await fetch(address, { redirect: "manual" });
    const headers = { cookie: (first.headers.get("set-cookie") ?? "").split(";")[0] ?? "" };
    const textOf = async (answer: Response) => ({ status: answer.status, text: await answer.text() });
    await work({
      address,
      warned,
      get: async (path) => textOf(await fetch(new URL(path, address), { headers })),
      send: async (files, field = "manifests") => {
        const body = new FormData();
        for (const [name, text] of Object.entries(files)) body.append(field, new File([text], name));
        return textOf(await fetch(new URL("/plan", address), { method: "POST", body, headers }));
      },
    });
  } finally {
    end.resolve();
    await running.catch(() => {});
  }
}

import type { ServerResponse } from "node:http";
import { messageForUser } from "../cluster/failure.ts";
import { isManifestFile } from "../plan/manifests.ts";
import type { Followers } from "./http/followers.ts";
import { page, type Reply, text } from "./http/reply.ts";
import type { Site } from "./http/server.ts";
import { activity } from "./pages/activity.ts";
import { certificates } from "./pages/certificates.ts";
import { drift } from "./pages/drift.ts";
import { nodePage } from "./pages/node.ts";
import { overview } from "./pages/overview.ts";
import { planForm, planned } from "./pages/plan.ts";
import { topology } from "./pages/topology.ts";
import { unmanaged } from "./pages/unmanaged.ts";
import type { View, Views } from "./reading/view.ts";
import { frame } from "./view/frame.ts";
import { type Html, html } from "./view/html.ts";
import { script } from "./view/script.ts";
import { style } from "./view/style.ts";

type Made = { title: string; body: Html; view?: View; status?: number };

/** Pages by their paths. */
const pages: Readonly<Record<string, (view: View, views: Views, url: URL) => Promise<Made>>> = {
  "/": async (view) => ({ title: "Overview", body: overview(view) }),
  "/topology": async (view, _, url) => ({ title: "Topology", body: await topology(view, url) }),
  "/drift": async (view, views) => ({ title: "Drift", body: await drift(view, views) }),
  "/activity": async (view, views) => ({ title: "Activity", body: await activity(view, views) }),
  "/certificates": async (view) => ({ title: "Certificates", body: certificates(view) }),
  "/unmanaged": async (view) => ({ title: "Unmanaged", body: unmanaged(view) }),
  "/plan": async () => ({ title: "Plan", body: planForm() }),
  "/node": async (view, views, url) => {
    const key = url.searchParams.get("key") ?? "";
    const body = html`<p>There is no object and no remote ${key} any more.</p>`;
    return (await nodePage(view, views, key)) ?? { title: "Not found", body, status: 404 };
  },
};

const files: Readonly<Record<string, Reply>> = {
  "/style.css": { status: 200, type: "text/css; charset=utf-8", body: style },
  "/page.js": { status: 200, type: "text/javascript; charset=utf-8", body: script },
};

/** What is answered to whom. A fault of the program becomes a page too: the server goes on. */
export function siteOf(views: Views, followers: Followers): Site {
  const answer = async (path: string, make: (view: View) => Promise<Made>, isAsked = false): Promise<Reply> => {
    try {
      const view = await views.current(isAsked);
      const made = await make(view);
      return page(frame({ path, title: made.title, body: made.body, view }), made.status ?? 200);
    } catch (error) {
      const line =
        messageForUser(error) ?? "This page has failed: the program has a fault. See the command named beside it.";
      const details = (error as { details?: readonly string[] }).details ?? [];
      const body = html`<div class="partial" role="alert"><strong>${line}</strong><ul>${details.map((one) => html`<li>${one}</li>`)}</ul></div>${path === "/plan" && planForm()}`;
      return page(frame({ path, title: "Nothing to show", body }), 503);
    }
  };
  return {
    async get(url) {
      const make = Object.hasOwn(pages, url.pathname) ? pages[url.pathname] : undefined;
      if (make) return answer(url.pathname, (view) => make(view, views, url), url.searchParams.get("read") === "now");
      return (Object.hasOwn(files, url.pathname) && files[url.pathname]) || text("There is no such page", 404);
    },
    post: (url, type, body) =>
      answer(url.pathname, async (view) => ({
        title: "Plan",
        body: await planned(view, views, await filesIn(type, body)),
      })),
    follow(url: URL, response: ServerResponse) {
      if (url.pathname !== "/events") return false;
      followers.add(response);
      return true;
    },
  };
}

/** The files of a form. A folder is sent with all that is in it. A body that is no form has none. */
async function filesIn(type: string, body: Buffer<ArrayBuffer>): Promise<File[]> {
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch(() => new FormData());
  const filesOf = (field: string) => form.getAll(field).filter((one): one is File => typeof one !== "string");
  return [...filesOf("manifests"), ...filesOf("folder").filter(({ name }) => isManifestFile(name))];
}

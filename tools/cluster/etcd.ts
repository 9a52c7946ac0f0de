import { request } from "node:http";
import { text } from "node:stream/consumers";

/** Removes everything before the latest revision from an etcd that listens on a Unix socket. */
export async function compactEtcd(socket: string): Promise<void> {
  const { header } = await call(socket, "/v3/maintenance/status", {});
  await call(socket, "/v3/kv/compaction", { revision: header?.revision, physical: true });
}

interface Answer {
  header?: { revision: string };
  message?: string;
}

function call(socketPath: string, path: string, body: object): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, path, method: "POST" }, async (response) => {
      const answer: Answer = JSON.parse(await text(response));
      if (response.statusCode === 200) resolve(answer);
      else reject(new Error(`etcd answers ${path} with ${response.statusCode}: ${answer.message}`));
    });
    sent.once("error", reject);
    sent.end(JSON.stringify(body));
  });
}

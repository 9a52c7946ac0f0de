import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { debianPrograms, howToGet, librariesOf } from "../shared/debian.ts";

const PACKAGE = "chromium";
const START_MS = 30_000;

/** For the name of tests that are skipped. */
export const withoutChromium = `skipped, because Chromium is missing: ${howToGet(PACKAGE)}`;

/** A Chromium. */
export interface ChromiumProgram {
  readonly path: string;
  /** Folders of libraries that the machine lacks. */
  readonly libraries: readonly string[];
}

/** Chromium, in any version. See `debianPrograms` for where it comes from. */
export async function chromiumProgram(): Promise<ChromiumProgram | undefined> {
  const { chromium } = (await debianPrograms(PACKAGE, [PACKAGE], { libraries: true })) ?? {};
  if (chromium === undefined) return undefined;
  const libraries = await librariesOf(chromium);
  // what Debian has in bin is a script, which looks for the program where it would be installed
  return libraries.length > 0
    ? { path: join(dirname(chromium), "../lib/chromium/chromium"), libraries }
    : { path: chromium, libraries };
}

/** How a page is looked at. */
export interface Look {
  /** In CSS pixels. */
  readonly width: number;
  readonly height: number;
  readonly dark: boolean;
  readonly scripts: boolean;
  /** Whether the page is as on paper. */
  readonly isPrinted?: boolean;
}

/** An event of a trace. Its time is in microseconds. */
export interface TraceEvent {
  readonly name: string;
  readonly ts: number;
}

interface Answer {
  readonly params?: { readonly value?: readonly TraceEvent[] };
  readonly id?: number;
  readonly method?: string;
  readonly sessionId?: string;
  readonly error?: { readonly message: string };
  readonly result?: Readonly<Record<string, unknown>>;
}

type Parameters = Readonly<Record<string, unknown>>;

/** A Chromium without a window, and one page in it. Speaks the DevTools protocol. */
export class Browser implements AsyncDisposable {
  readonly #socket: WebSocket;
  readonly #end: () => Promise<void>;
  readonly #waiting = new Map<number, PromiseWithResolvers<Parameters>>();
  #loaded = Promise.withResolvers<void>();
  #count = 0;
  #session: string | undefined;
  #traced: { events: TraceEvent[]; complete: PromiseWithResolvers<void> } | undefined;

  private constructor(socket: WebSocket, end: () => Promise<void>) {
    this.#socket = socket;
    this.#end = end;
    socket.addEventListener("message", ({ data }) => this.#receive(JSON.parse(String(data))));
  }

  static async start({ path, libraries }: ChromiumProgram): Promise<Browser> {
    const folder = await mkdtemp(join(tmpdir(), "chromium-"));
    const software = ["--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none", "--hide-scrollbars"];
    const flags = ["--headless", "--no-sandbox", ...software, `--user-data-dir=${folder}`, "--remote-debugging-port=0"];
    const env = { ...process.env, ...(libraries.length > 0 && { LD_LIBRARY_PATH: libraries.join(":") }) };
    const child = spawn(path, flags, { env, stdio: "ignore" });
    const gone = new Promise<void>((resolve) => child.once("close", () => resolve()).once("error", () => resolve()));
    const end = async () => {
      child.kill("SIGKILL");
      await gone;
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    };
    try {
      const socket = new WebSocket(await addressIn(folder));
      await new Promise((resolve, reject) => {
        socket.addEventListener("open", resolve);
        socket.addEventListener("error", reject);
      });
      const browser = new Browser(socket, end);
      await browser.#open();
      return browser;
    } catch (error) {
      await end();
      throw error;
    }
  }

  /** Loads a page, and resolves when its fonts are there as well. */
  async load(url: string, { width, height, dark, scripts, isPrinted }: Look): Promise<void> {
    await this.#send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: width < 600,
    });
    const scheme = { name: "prefers-color-scheme", value: dark ? "dark" : "light" };
    await this.#send("Emulation.setEmulatedMedia", {
      media: isPrinted ? "print" : "screen",
      features: [scheme, { name: "prefers-reduced-motion", value: "reduce" }],
    });
    await this.#send("Emulation.setScriptExecutionDisabled", { value: !scripts });
    this.#loaded = Promise.withResolvers();
    await this.#send("Page.navigate", { url });
    await this.#loaded.promise;
    await this.evaluate("document.fonts.ready.then(() => undefined)");
  }

  /** The value of an expression in the page. A promise is waited for. */
  async evaluate(expression: string): Promise<unknown> {
    const { result, exceptionDetails } = await this.#send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value?: unknown }).value;
  }

  /** Presses a key, as a person does. */
  async press(key: "Tab" | "Enter" | "ArrowRight" | "ArrowDown" | "/"): Promise<void> {
    const code = { Tab: 9, Enter: 13, ArrowRight: 39, ArrowDown: 40, "/": 191 }[key];
    const text = { Enter: "\r", "/": "/" }[key as string];
    const about = { key, code: key === "/" ? "Slash" : key, windowsVirtualKeyCode: code, ...(text && { text }) };
    await this.#send("Input.dispatchKeyEvent", { type: "keyDown", ...about });
    await this.#send("Input.dispatchKeyEvent", { type: "keyUp", ...about });
  }

  /** Drops files and folders of this machine on an element, as a person does. */
  async drop(files: readonly string[], selector: string): Promise<void> {
    const place = `(({ x, y, height }) => ({ x: x + 5, y: y + height / 2 }))(document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect())`;
    const at = (await this.evaluate(place)) as { x: number; y: number };
    const data = { items: [], files, dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"])
      await this.#send("Input.dispatchDragEvent", { type, ...at, data });
  }

  /** Chromium's own trace of the frames while the work is done, with the marks of the page. */
  async trace(work: () => Promise<void>): Promise<TraceEvent[]> {
    this.#traced = { events: [], complete: Promise.withResolvers() };
    const categories = "blink.user_timing,disabled-by-default-devtools.timeline.frame,devtools.timeline.frame";
    await this.#send("Tracing.start", { categories, transferMode: "ReportEvents" });
    await work();
    await this.#send("Tracing.end", {});
    await this.#traced.complete.promise;
    return this.#traced.events;
  }

  /** A PNG of what is in the window. */
  async picture(): Promise<Buffer> {
    const { data } = await this.#send("Page.captureScreenshot", { format: "png" });
    return Buffer.from(String(data), "base64");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await this.#end();
  }

  async #open(): Promise<void> {
    const { targetId } = await this.#send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await this.#send("Target.attachToTarget", { targetId, flatten: true });
    this.#session = String(sessionId);
    await this.#send("Page.enable", {});
  }

  #send(method: string, params: Parameters): Promise<Parameters> {
    const id = ++this.#count;
    const answer = Promise.withResolvers<Parameters>();
    this.#waiting.set(id, answer);
    this.#socket.send(JSON.stringify({ id, method, params, sessionId: this.#session }));
    return answer.promise;
  }

  #receive({ id, method, error, result = {}, params }: Answer): void {
    if (method === "Tracing.dataCollected") this.#traced?.events.push(...(params?.value ?? []));
    if (method === "Tracing.tracingComplete") this.#traced?.complete.resolve();
    if (method === "Page.loadEventFired") this.#loaded.resolve();
    const waiting = id === undefined ? undefined : this.#waiting.get(id);
    if (error) waiting?.reject(new Error(error.message));
    else waiting?.resolve(result);
  }
}

/** Chromium writes its port into its folder when it is ready. */
async function addressIn(folder: string): Promise<string> {
  const deadline = Date.now() + START_MS;
  for (;;) {
    const [port, path] = (await readFile(join(folder, "DevToolsActivePort"), "utf8").catch(() => "")).split("\n");
    if (port && path) return `ws://127.0.0.1:${port}${path}`;
    if (Date.now() > deadline) throw new Error("Chromium does not start");
    await sleep(100);
  }
}

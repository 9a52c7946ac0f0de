/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/**
 * What a page does in a browser beside being read. Everything is there without it. The text of this class is what the
 * browser gets, so it uses nothing of this file or of others.
 */
class Page {
  #refreshing = false;
  #isStale = false;
  /** The parts of this page as the server has sent them. */
  readonly #shown = new Map<string, string>();

  start(): void {
    this.#follow();
    for (const part of document.querySelectorAll("[data-live]")) this.#shown.set(part.id, part.outerHTML);
    this.#offer(document);
    document.addEventListener("keydown", (event) => this.#onKey(event));
    document.addEventListener("visibilitychange", () => this.#refresh());
    document.addEventListener("focusin", (event) => this.#onFocus(event));
    document.addEventListener("pointerdown", (event) => this.#drag(event));
    for (const form of document.querySelectorAll<HTMLFormElement>("form.drop")) this.#acceptDrops(form);
    document.querySelector("nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
    for (const canvas of document.querySelectorAll<HTMLElement>(".canvas")) {
      this.#lookAt(canvas);
      canvas.closest("details")?.addEventListener("toggle", () => this.#lookAt(canvas), { once: true });
    }
  }

  /** A picture that is larger than its window begins where people look: at what they follow, filter, or have to mend. */
  #lookAt(canvas: HTMLElement): void {
    const from = new URLSearchParams(location.search).get("from");
    const key = CSS.escape(`/node?${new URLSearchParams({ key: from ?? "" })}`);
    const box =
      (from && canvas.querySelector(`a.box[href="${key}"]`)) ||
      (canvas.querySelector(".box.dim") && canvas.querySelector(".box:not(.dim)")) ||
      canvas.querySelector(".box.attention") ||
      canvas.querySelector(".box.waiting");
    if (!box) return;
    const [place, frame] = [box.getBoundingClientRect(), canvas.getBoundingClientRect()];
    canvas.scrollBy(
      place.x - frame.x - (canvas.clientWidth - place.width) / 2,
      place.y - frame.y - (canvas.clientHeight - place.height) / 2,
    );
  }

  /** The server tells of changes. The browser connects again by itself. */
  #follow(): void {
    const lost = document.getElementById("lost");
    const source = new EventSource("/events");
    const isBack = () => {
      if (lost && !lost.hidden) this.#refresh();
      if (lost) lost.hidden = true;
    };
    source.addEventListener("open", isBack);
    source.addEventListener("change", () => this.#refresh());
    // times and plots go on by themselves, and a picture does not: it is large
    const every = location.pathname === "/topology" ? 12 : 1;
    let beats = 0;
    source.addEventListener("beat", () => ++beats % every === 0 && this.#refresh());
    source.addEventListener("error", () => {
      if (lost) lost.hidden = false;
      // the browser gives up where it is refused, as by a server with too many pages, or by another start
      if (source.readyState !== EventSource.CLOSED) return;
      setTimeout(() => this.#follow(), 2000);
      this.#sayWhy(lost);
    });
  }

  /** A server that was started again has another token, which this page gets with its new address. */
  async #sayWhy(lost: HTMLElement | null): Promise<void> {
    const isRefused = await fetch("/style.css").then(
      ({ status }) => status === 403,
      () => false,
    );
    for (const [index, words] of [...(lost?.querySelectorAll("span") ?? [])].entries())
      words.hidden = isRefused === (index === 0);
  }

  /** Loads this page again, and puts in the parts that differ. One at a time, and none while a person is in a form. */
  async #refresh(): Promise<void> {
    this.#isStale = true;
    if (this.#refreshing || document.hidden) return;
    this.#refreshing = true;
    try {
      while (this.#isStale) {
        this.#isStale = false;
        const began = performance.now();
        const url = new URL(location.href);
        url.searchParams.delete("read");
        if (url.pathname === "/plan") return;
        const answer = await fetch(url, { headers: { accept: "text/html" } });
        const text = await answer.text();
        if (answer.status !== 403) this.#replace(new DOMParser().parseFromString(text, "text/html"));
        // what takes long is not done again at once, so that the page can be moved meanwhile
        await new Promise((resolve) => setTimeout(resolve, 4 * (performance.now() - began)));
      }
    } catch {
      // the events tell that the server is lost
    } finally {
      this.#refreshing = false;
    }
  }

  #replace(next: Document): void {
    for (const now of document.querySelectorAll<HTMLElement>("[data-live]")) {
      const then = next.getElementById(now.id);
      if (!then || this.#shown.get(now.id) === then.outerHTML) continue;
      this.#shown.set(now.id, then.outerHTML);
      this.#keepOpen(now, then);
      const focused = this.#nameOfFocus(now);
      const places = [...now.querySelectorAll(".canvas, .scroll")].map(
        (one) => [one.scrollLeft, one.scrollTop] as const,
      );
      const scales = [...now.querySelectorAll<SVGSVGElement>("svg.graph")].map((svg) => this.#scaleOf(svg));
      const adopted = document.importNode(then, true);
      now.replaceWith(adopted);
      for (const [index, svg] of [...adopted.querySelectorAll<SVGSVGElement>("svg.graph")].entries())
        this.#setScale(svg, scales[index] ?? 1);
      this.#offer(adopted);
      for (const [index, one] of [...adopted.querySelectorAll(".canvas, .scroll")].entries())
        one.scrollTo(...(places[index] ?? [0, 0]));
      if (focused) adopted.querySelector<HTMLElement>(focused)?.focus({ preventScroll: true });
    }
  }

  /** What a person has opened or folded stays so. */
  #keepOpen(now: HTMLElement, then: HTMLElement): void {
    const before = [...now.querySelectorAll("details")];
    for (const [index, details] of [...then.querySelectorAll("details")].entries()) {
      const lane = details.dataset["lane"];
      const old = lane === undefined ? before[index] : before.find((one) => one.dataset["lane"] === lane);
      if (old) details.open = old.open;
    }
  }

  #nameOfFocus(within: HTMLElement): string | undefined {
    const focused = document.activeElement;
    if (!focused || !within.contains(focused)) return undefined;
    const href = focused.getAttribute("href");
    return href === null ? undefined : `[href="${CSS.escape(href)}"]`;
  }

  #offer(within: Document | HTMLElement): void {
    this.#offerToCopy(within);
    this.#offerToZoom(within);
  }

  #offerToCopy(within: Document | HTMLElement): void {
    for (const one of within.querySelectorAll<HTMLElement>("[data-copy]")) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.textContent = "Copy";
      button.setAttribute("aria-label", `Copy ${(one.textContent ?? "").slice(0, 60)}`);
      button.addEventListener("click", async () => {
        await navigator.clipboard.writeText(one.textContent ?? "");
        button.textContent = "Copied";
        setTimeout(() => {
          button.textContent = "Copy";
        }, 1500);
      });
      one.after(button);
    }
  }

  #offerToZoom(within: Document | HTMLElement): void {
    for (const canvas of within.querySelectorAll<HTMLElement>(".canvas")) {
      const bar = document.createElement("div");
      bar.className = "zoom";
      for (const [words, sign, factor] of [
        ["Smaller", "−", 0.8],
        ["Larger", "+", 1.25],
        ["All of it", "▢", 0],
      ] as const) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = sign;
        button.setAttribute("aria-label", words);
        button.addEventListener("click", () => this.#zoom(canvas, factor));
        bar.append(button);
      }
      canvas.before(bar);
    }
  }

  /** 0: so that all of it is seen. */
  #zoom(canvas: HTMLElement, factor: number): void {
    const svg = canvas.querySelector<SVGSVGElement>("svg");
    if (!svg) return;
    const fit = Math.min(1, (canvas.clientWidth - 4) / svg.viewBox.baseVal.width);
    this.#setScale(svg, factor === 0 ? fit : Math.min(3, Math.max(0.1, this.#scaleOf(svg) * factor)));
  }

  #scaleOf(svg: SVGSVGElement): number {
    return Number(svg.getAttribute("width")) / svg.viewBox.baseVal.width;
  }

  #setScale(svg: SVGSVGElement, scale: number): void {
    const { width, height } = svg.viewBox.baseVal;
    svg.setAttribute("width", String(width * scale));
    svg.setAttribute("height", String(height * scale));
  }

  /** A picture is moved with the mouse; the browser moves it by touch and with the keyboard. */
  #drag(start: PointerEvent): void {
    const canvas = (start.target as Element).closest?.(".canvas");
    if (!canvas || start.pointerType !== "mouse" || start.button !== 0) return;
    const [left, top] = [canvas.scrollLeft, canvas.scrollTop];
    let moved = 0;
    const onMove = (event: PointerEvent) => {
      const [x, y] = [event.clientX - start.clientX, event.clientY - start.clientY];
      moved = Math.max(moved, Math.hypot(x, y));
      canvas.scrollTo(left - x, top - y);
    };
    const onClick = (event: Event) => {
      if (moved > 4) event.preventDefault();
    };
    canvas.addEventListener("dragstart", (event) => event.preventDefault(), { once: true });
    document.addEventListener("pointermove", onMove);
    canvas.addEventListener("click", onClick, { once: true, capture: true });
    document.addEventListener(
      "pointerup",
      () => {
        document.removeEventListener("pointermove", onMove);
        setTimeout(() => canvas.removeEventListener("click", onClick, { capture: true }));
      },
      { once: true },
    );
  }

  /** From a box, the arrow keys lead to the nearest one in that direction. A slash leads to the filter. */
  #onKey(event: KeyboardEvent): void {
    const target = event.target as Element;
    if (event.key === "/" && !target.closest("input, select, textarea")) {
      const field = document.querySelector<HTMLInputElement>("input[type=search]");
      if (field) event.preventDefault();
      field?.focus();
      return;
    }
    const box = target.closest("a.box");
    const turns: Record<string, readonly [number, number]> = {
      ArrowRight: [1, 0],
      ArrowLeft: [-1, 0],
      ArrowDown: [0, 1],
      ArrowUp: [0, -1],
    };
    const turn = turns[event.key];
    if (!box || !turn) return;
    event.preventDefault();
    this.#nearest(box, turn)?.focus();
  }

  #nearest(box: Element, [dx, dy]: readonly [number, number]): SVGAElement | undefined {
    const from = box.getBoundingClientRect();
    let best: SVGAElement | undefined;
    let least = Number.POSITIVE_INFINITY;
    for (const other of box.closest("svg")?.querySelectorAll<SVGAElement>("a.box") ?? []) {
      const to = other.getBoundingClientRect();
      const [x, y] = [to.x - from.x, to.y - from.y];
      const ahead = x * dx + y * dy;
      const far = ahead + 3 * Math.abs(x * dy + y * dx);
      if (other === box || ahead <= 1 || far >= least) continue;
      [best, least] = [other, far];
    }
    return best;
  }

  /** The lines of the box that has the focus are marked. */
  #onFocus({ target }: FocusEvent): void {
    for (const line of document.querySelectorAll(".lines .on")) line.classList.remove("on");
    const box = (target as Element).closest("a.box");
    const number = box?.getAttribute("data-box");
    for (const line of box?.closest("svg")?.querySelectorAll(`[data-from="${number}"], [data-to="${number}"]`) ?? [])
      line.classList.add("on");
  }

  #acceptDrops(form: HTMLFormElement): void {
    const [input, folder] = form.querySelectorAll<HTMLInputElement>("input[type=file]");
    if (!input || !folder) return;
    form.addEventListener("dragover", (event) => {
      event.preventDefault();
      form.classList.add("over");
    });
    form.addEventListener("dragleave", () => form.classList.remove("over"));
    form.addEventListener("drop", async (event) => {
      event.preventDefault();
      form.classList.remove("over");
      // the browser forgets what was dropped as soon as this is waited for
      const dropped = [...(event.dataTransfer?.items ?? [])].map((one) => one.webkitGetAsEntry());
      const files = await this.#filesIn(dropped.filter((one) => one !== null)).catch(() => undefined);
      if (this.#take(form, input, files)) form.requestSubmit();
    });
    input.addEventListener("change", () => this.#take(form, input, [...(input.files ?? [])]));
    folder.addEventListener("change", () => {
      const files = [...(folder.files ?? [])].filter(({ name }) => this.#isManifest(name));
      this.#take(form, folder, files);
    });
  }

  /** Files and folders that are looked at in what was dropped. */
  readonly #mostEntries = 10_000;

  readonly #isManifest = (name: string): boolean => /.\.(yaml|yml|json)$/.test(name);

  /**
   * Puts files into a field of the form, in place of what was chosen before, in any field. None, and a line, where the
   * server would not take them.
   */
  #take(form: HTMLFormElement, field: HTMLInputElement, files: readonly File[] | undefined): boolean {
    // each file is sent with its name before it
    const bytes = (files ?? []).reduce((sum, { size }) => sum + size + 512, 0);
    const isTaken = files !== undefined && bytes <= Number(form.dataset["most"]);
    const taken = new DataTransfer();
    for (const file of isTaken ? files : []) taken.items.add(file);
    for (const other of form.querySelectorAll<HTMLInputElement>("input[type=file]")) other.value = "";
    field.files = taken.files;
    const line = form.querySelector<HTMLElement>("[role=alert]");
    if (line) line.hidden = isTaken;
    return isTaken;
  }

  /**
   * What was dropped, and of a folder the manifests in it and in all folders below it, with their paths. Undefined: more is
   * in it than is looked at.
   */
  async #filesIn(dropped: readonly FileSystemEntry[]): Promise<File[] | undefined> {
    const files: File[] = [];
    const open = [...dropped];
    let looked = 0;
    for (let next = open.shift(); next; next = open.shift()) {
      if (++looked > this.#mostEntries) return undefined;
      if (next.isDirectory) open.push(...(await this.#entriesOf(next as FileSystemDirectoryEntry)));
      else if (dropped.includes(next) || this.#isManifest(next.name)) files.push(await this.#fileOf(next));
    }
    return files;
  }

  /** A browser gives some entries at a time, and none at the end. */
  async #entriesOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
    const reader = folder.createReader();
    const all: FileSystemEntry[] = [];
    for (;;) {
      const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject));
      if (some.length === 0 || all.length > this.#mostEntries) return all;
      all.push(...some);
    }
  }

  async #fileOf(entry: FileSystemEntry): Promise<File> {
    const file = await new Promise<File>((resolve, reject) => (entry as FileSystemFileEntry).file(resolve, reject));
    return new File([file], entry.fullPath.slice(1), { type: file.type });
  }
}

/** The text of the script, as the program has it: in a checkout, in the package, and in the bundle. */
export const script = `"use strict";\nnew (${Page})().start();\n`;

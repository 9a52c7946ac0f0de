/**
 * Loaded into a process before anything else, so that a test has its clocks in hand: a message `{ setBy: milliseconds }`
 * sets the calendar, and TEST_CLOCK_RATE makes timers and the clock that nobody sets run that much faster.
 */
const rate = Number(process.env["TEST_CLOCK_RATE"] ?? 1);
let setBy = 0;

process.on("message", (message: { setBy: number }) => {
  setBy += message.setBy;
});
// whoever waits for messages would never end
process.channel?.unref();

const calendar = Date;
const now = () => calendar.now() + setBy;

globalThis.Date = new Proxy(calendar, {
  construct: (target, given, type) => Reflect.construct(target, given.length === 0 ? [now()] : given, type),
  apply: () => new calendar(now()).toString(),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});

if (rate !== 1) {
  const monotonic = performance.now.bind(performance);
  performance.now = () => monotonic() * rate;
  for (const name of ["setTimeout", "setInterval"] as const) {
    const timer = globalThis[name];
    const faster = (callback: () => void, milliseconds = 0, ...rest: []) =>
      timer(callback, milliseconds / rate, ...rest);
    globalThis[name] = Object.assign(faster, timer) as typeof timer & typeof setTimeout;
  }
}

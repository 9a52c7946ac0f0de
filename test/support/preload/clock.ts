/**
 * Loaded before the operator, so that a test controls its clocks. A message `{ setBy: milliseconds }` adjusts the wall
 * clock. TEST_CLOCK_RATE makes timers and the monotonic clock run faster by this factor.
 */
const rate = Number(process.env["TEST_CLOCK_RATE"] ?? 1);
let setBy = 0;

process.on("message", (message: { setBy: number }) => {
  setBy += message.setBy;
});
// waiting for messages does not keep the process running
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

/** A box of a picture. */
export const BOX = { width: 208, height: 48 };

/** The colours of the documentation. Light and dark as the system has it. */
export const style = `
:root {
  color-scheme: light dark;
  --bg: light-dark(#ffffff, #1b1b1f);
  --soft: light-dark(#f6f6f7, #202127);
  --line: light-dark(#dcdce1, #3c3f44);
  --strong: light-dark(#b4b4bd, #5b5e66);
  --text: light-dark(#2c2c32, #dfdfd6);
  --quiet: light-dark(#5e5e68, #a4a4ad);
  --brand: light-dark(#3451b2, #a8b1ff);
  --green: light-dark(#18794e, #3dd68c);
  --green-soft: light-dark(#eef8f2, #1c2f27);
  --yellow: light-dark(#855000, #f9b44e);
  --yellow-soft: light-dark(#fdf5e4, #35291a);
  --red: light-dark(#b8272c, #ff8a93);
  --red-soft: light-dark(#fdeff0, #3a2024);
  --blue-soft: light-dark(#eef1fb, #23263a);
  --grey-soft: light-dark(#f0f0f2, #2a2b31);
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--bg); color: var(--text);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, sans-serif;
}
a { color: var(--brand); text-decoration: none; }
a:hover { text-decoration: underline; }
p a, li > a, footer a { text-decoration: underline; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--brand); outline-offset: 2px; border-radius: 4px; }
.skip { position: absolute; left: -999px; }
.skip:focus { left: 12px; top: 8px; z-index: 9; background: var(--bg); padding: 4px 10px; }
header {
  display: flex; flex-wrap: wrap; align-items: center; gap: 4px 24px; padding: 0 28px;
  border-bottom: 1px solid var(--line); background: var(--bg); position: sticky; top: 0; z-index: 5;
}
.brand { font-weight: 650; letter-spacing: -0.01em; padding: 12px 0; }
nav { display: flex; overflow-x: auto; gap: 2px; }
nav a { color: var(--quiet); padding: 13px 10px; white-space: nowrap; border-bottom: 2px solid transparent; }
nav a:hover { color: var(--text); text-decoration: none; }
nav a[aria-current] { color: var(--brand); border-color: var(--brand); font-weight: 550; }
main { max-width: 1760px; margin: 0 auto; padding: 20px 28px 40px; outline: none; }
footer { max-width: 1760px; margin: 0 auto; padding: 14px 28px 32px; color: var(--quiet); font-size: 13px; }
.title { display: flex; flex-wrap: wrap; align-items: baseline; justify-content: space-between; gap: 4px 20px; }
h1 { font-size: 24px; font-weight: 650; letter-spacing: -0.02em; line-height: 1.3; margin: 4px 0 10px; overflow-wrap: anywhere; }
h2 { font-size: 17px; font-weight: 620; letter-spacing: -0.01em; margin: 0; }
h3 { font-size: 15px; font-weight: 600; margin: 0 0 6px; overflow-wrap: anywhere; }
section { margin: 22px 0 0; }
section + section { margin-top: 34px; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 12px; margin-bottom: 10px; }
.head h2 { margin-right: auto; }
.trio { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(280px, 100%), 1fr)); gap: 24px; margin: 34px 0; }
.trio section { margin: 0; min-width: 0; } .trio > section:not(:has(.empty)) { grid-column: 1 / -1; }
.trio section:has(.empty) .head :is(.command, .copy) { display: none; }
.read { color: var(--quiet); font-size: 13px; margin: 0; }
.empty { color: var(--quiet); margin: 0; padding: 14px 16px; background: var(--soft); border-radius: 8px; }
#attention .empty { color: var(--green); background: var(--green-soft); font-weight: 550; }
.partial, #lost { background: var(--yellow-soft); border: 1px solid var(--yellow); border-radius: 8px; padding: 10px 16px; margin: 8px 0; overflow-wrap: anywhere; }
ul.partial { padding-left: 32px; }
.partial ul { margin: 4px 0 0; padding-left: 20px; }
#lost { position: fixed; bottom: 12px; left: 50%; transform: translateX(-50%); width: min(640px, 92vw); z-index: 9; box-shadow: 0 6px 24px #0003; }
#lost[hidden] { display: none; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(320px, 100%), 1fr)); gap: 14px; }
.card { border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; min-width: 0; }
.card p { margin: 0 0 8px; }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 14px; margin: 0 0 8px; font-size: 14px; }
dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; text-align: right; font-variant-numeric: tabular-nums; }
.badge {
  display: inline-block; border-radius: 99px; padding: 1px 10px 1px 8px; font-size: 13px; line-height: 20px; font-weight: 550;
  background: var(--grey-soft); color: var(--quiet); border: 1px solid transparent; white-space: nowrap; max-width: 100%; overflow: hidden; text-overflow: ellipsis; vertical-align: middle;
}
.badge.ready { background: var(--green-soft); color: var(--green); }
.badge.attention { background: var(--red-soft); color: var(--red); }
.badge.waiting { background: var(--yellow-soft); color: var(--yellow); }
.badge.paused { background: var(--blue-soft); color: var(--brand); }
.badge.none, .badge.other { border: 1px dashed var(--strong); background: none; }
.badge.change-create, .badge.change-adopt { background: var(--green-soft); color: var(--green); }
.badge.change-update, .badge.change-waiting { background: var(--yellow-soft); color: var(--yellow); }
.badge.change-replace, .badge.change-delete, .badge.change-blocked { background: var(--red-soft); color: var(--red); }
.legend { display: flex; flex-wrap: wrap; gap: 6px; margin: 12px 0 0; }
.todo { list-style: none; margin: 0; padding: 0; display: grid; gap: 10px; }
.todo > li { border: 1px solid var(--line); border-left: 3px solid var(--red); border-radius: 8px; padding: 10px 16px; min-width: 0; }
#drift .todo > li { border-left-color: var(--yellow); }
.beside { margin: 12px 0 0; padding-left: 20px; display: grid; gap: 4px; }
.todo p { margin: 6px 0; overflow-wrap: anywhere; }
.line { display: flex; flex-wrap: wrap; align-items: center; gap: 4px 10px; min-width: 0; }
.where, .age { color: var(--quiet); font-size: 14px; }
.age { margin-left: auto; }
.scroll { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
.scroll + .scroll { margin-top: 12px; }
table { border-collapse: collapse; width: 100%; font-size: 14px; }
th, td { text-align: left; vertical-align: top; padding: 7px 14px; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
td:last-child { overflow-wrap: anywhere; }
tr:last-child td { border-bottom: 0; }
th { font-weight: 550; color: var(--quiet); background: var(--soft); white-space: nowrap; font-size: 13px; }
td:first-child { min-width: 11em; } td:last-child:not(:first-child) { min-width: 14em; }
td { min-width: 5em; }
code, pre { font: 13px/1.6 var(--mono); }
code { overflow-wrap: anywhere; }
pre { background: var(--soft); border-radius: 8px; padding: 12px 16px; margin: 0; overflow: auto; max-height: 560px; }
.command { color: var(--quiet); background: var(--soft); border-radius: 6px; padding: 2px 8px; }
button, input, select { font: inherit; font-size: 14px; color: var(--text); background: var(--bg); border: 1px solid var(--strong); border-radius: 6px; padding: 4px 10px; max-width: 100%; }
button { cursor: pointer; } button:hover { border-color: var(--brand); color: var(--brand); }
.copy { font-size: 12px; padding: 0 8px; border-color: var(--line); color: var(--quiet); line-height: 22px; }
pre + .copy { float: right; position: relative; margin: -36px 10px 0 0; background: var(--bg); }
pre:has(+ .copy) { padding-bottom: 38px; }
.filter { display: flex; flex-wrap: wrap; gap: 10px 16px; align-items: end; }
.filter input, .filter select, .filter button { height: 32px; box-sizing: border-box; }
.filter label { display: grid; font-size: 13px; color: var(--quiet); gap: 2px; }
.count { color: var(--quiet); margin: 0 0 10px; }
.lane { border: 1px solid var(--line); border-radius: 10px; margin: 0 0 14px; overflow: hidden; }
.lane summary, details summary { cursor: pointer; padding: 8px 14px; }
.lane summary { background: var(--soft); font-weight: 550; padding-right: 128px; }
td details pre { max-width: min(60ch, 78vw); }
.lane .count { font-weight: 400; margin-left: 6px; }
.canvas { overflow: auto; max-height: 78vh; cursor: grab; contain: content; background: var(--bg); will-change: scroll-position; }
.canvas:active { cursor: grabbing; }
.zoom { float: right; margin: -34px 8px 0 0; display: flex; gap: 4px; position: relative; }
.zoom button { padding: 0 9px; line-height: 24px; }
.tip { position: absolute; }
.graph { display: block; user-select: none; }
.graph text { fill: var(--text); font: 12px/1 system-ui, sans-serif; }
.box rect { width: ${BOX.width}px; height: ${BOX.height}px; rx: 7px; fill: var(--bg); stroke: var(--strong); stroke-width: 1.2; }
.box.address rect { rx: 22px; }
.box .sign, .lines text { text-anchor: middle; }
.box .name { font-size: 13px; font-weight: 570; }
.box .about { fill: var(--quiet); font-size: 11px; }
.box .sign { font-size: 14px; font-weight: 700; fill: var(--quiet); }
.box:hover rect, .box:focus-visible rect { stroke: var(--brand); stroke-width: 2.4; }
.box:focus-visible rect { stroke-width: 4; }
.box:focus-visible { outline: none; }
a.box, a.box:hover { text-decoration: none; }
.box.ready .sign { fill: var(--green); } .box.ready rect { stroke: color-mix(in srgb, var(--green) 55%, var(--line)); }
.box.attention rect { fill: var(--red-soft); stroke: var(--red); stroke-width: 2; } .box.attention .sign { fill: var(--red); }
.box.waiting rect { fill: var(--yellow-soft); stroke: var(--yellow); } .box.waiting .sign { fill: var(--yellow); }
.box.paused rect { fill: var(--blue-soft); stroke: var(--brand); } .box.paused .sign { fill: var(--brand); }
.box.deleting rect { fill: var(--grey-soft); } .box.unknown rect { fill: var(--grey-soft); }
.box.to-attention rect { stroke: var(--red); } .box.to-waiting rect, .box.to-deleting rect { stroke: var(--yellow); }
.box .trouble { font-size: 11px; font-weight: 600; paint-order: stroke; stroke: var(--bg); stroke-width: 6px; fill: var(--yellow); }
.box.to-attention .trouble { fill: var(--red); }
.box.none rect, .box.other rect, .box.part rect { stroke-dasharray: 5 4; }
.box.part rect { stroke: var(--line); }
.box.part .sign { display: none; } .box.part text.name, .box.part text.about { transform: translateX(-18px); }
.box.dim rect { stroke-opacity: 0.4; } .box.dim text { opacity: 0.55; }
time { white-space: nowrap; }
.box.change-create rect, .box.change-adopt rect { stroke: var(--green); fill: var(--green-soft); stroke-width: 2; }
.box.change-update rect, .box.change-waiting rect { stroke: var(--yellow); fill: var(--yellow-soft); stroke-width: 2; }
.box.change-replace rect, .box.change-delete rect, .box.change-blocked rect { stroke: var(--red); fill: var(--red-soft); stroke-width: 2; }
.lines path, #tip path { fill: none; stroke: var(--strong); stroke-width: 1.3; }
.lines text { fill: var(--quiet); font-size: 11px; paint-order: stroke; stroke: var(--bg); stroke-width: 4px; }
.lines .on path { stroke: var(--brand); stroke-width: 2.2; } .lines .on text { fill: var(--brand); }
.plot { display: block; width: 100%; height: 48px; border-bottom: 1px solid var(--line); }
.plot polyline { fill: none; stroke: var(--brand); stroke-width: 1.6; vector-effect: non-scaling-stroke; }
.plot .axis, .ends .axis { stroke: var(--line); } .plot .limit { stroke: var(--yellow); stroke-dasharray: 4 4; }
.plot .mark { stroke: var(--yellow); stroke-width: 2; opacity: 0.45; vector-effect: non-scaling-stroke; }
.timeline .plot:not(.none) { height: 96px; } .timeline + .timeline { margin-top: 12px; }
.times { display: flex; justify-content: space-between; margin: 4px 0 0; color: var(--quiet); font-size: 13px; }
.plot.none { color: var(--quiet); font-size: 13px; height: auto; margin: 0; }
.ends { display: block; padding: 10px; height: auto; }
.ends text { fill: var(--text); font: 12px system-ui, sans-serif; }
.ends g line { stroke: var(--line); stroke-width: 2; } .ends circle { fill: var(--green); }
.ends .soon circle { fill: var(--yellow); } .ends .soon line { stroke: var(--yellow); }
.ends .past circle { fill: var(--red); } .ends .past text { fill: var(--red); }
.field.differs { color: var(--yellow); font-weight: 550; } .field { color: var(--quiet); }
.nodes { list-style: none; padding: 0; display: grid; gap: 6px; grid-template-columns: repeat(auto-fill, minmax(min(340px, 100%), 1fr)); overflow-wrap: anywhere; }
.drop { border: 2px dashed var(--strong); border-radius: 12px; padding: 26px; display: grid; grid-template-columns: minmax(0, 1fr); gap: 10px; justify-items: start; max-width: 760px; }
.drop.over { border-color: var(--brand); background: var(--blue-soft); }
.drop label { color: var(--quiet); }
@media (max-width: 640px) {
  header, main, footer { padding-left: 16px; padding-right: 16px; }
  header { position: static; } .brand { padding-bottom: 0; } nav { width: 100%; }
  .head .command { order: 9; }
  .age { margin-left: 0; }
}
@media (min-width: 2200px) { main, footer { max-width: 2240px; } }
@media print {
  :root { color-scheme: light; } pre { font-size: 7pt; white-space: pre-wrap; overflow-wrap: anywhere; }
  header nav, .copy, .zoom, .filter, #lost, .skip, .again { display: none; }
  header { position: static; } .canvas, pre, .scroll { max-height: none; overflow: visible; }
  .graph { max-width: 100%; height: auto; } section { break-inside: avoid-page; }
}
`;

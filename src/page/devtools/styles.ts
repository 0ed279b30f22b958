/** The panel's style. It is a constructed style sheet, which a Content-Security-Policy with `style-src` does not forbid. */
export const STYLES = `
:host {
  color-scheme: light dark;
  --back: light-dark(#fff, #16181d);
  --ink: light-dark(#1b1f27, #e6e8ec);
  --quiet: light-dark(#565d6b, #a3abb9);
  --line: light-dark(#d5d9e0, #363b46);
  --press: light-dark(#eef0f4, #262a33);
  --bad: light-dark(#b3261e, #ff8a80);
  --good: light-dark(#136c3a, #6fd497);
  --queue: light-dark(#7b8494, #98a1b1);
  --preprocess: light-dark(#2f6fdb, #79aaff);
  --inference: light-dark(#a34fc4, #d49bef);
  --postprocess: light-dark(#b3680a, #f0b265);
  display: block;
  container-type: inline-size;
  background: var(--back);
  color: var(--ink);
  font: 13px/1.45 system-ui, sans-serif;
  text-align: start;
}
:host([hidden]) { display: none; }
:host([docked]) {
  position: fixed;
  inset: auto 0 0;
  z-index: 2147483000;
  max-height: 50vh;
  overflow: auto;
  border-top: 1px solid var(--line);
  box-shadow: 0 -4px 16px rgb(0 0 0 / 20%);
}
* { box-sizing: border-box; }
[hidden] { display: none !important; }
header, section { padding: 8px 12px; }
header { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; }
:host([docked]) header { position: sticky; top: 0; z-index: 1; background: var(--back); border-bottom: 1px solid var(--line); }
h2, h3, h4, p, ol { margin: 0; padding: 0; }
h2 { flex: 1; font-size: 14px; }
h3 { font-size: 15px; overflow-wrap: anywhere; }
h4 { font-size: 13px; margin-bottom: 4px; }
.none { padding: 8px 12px; }
.quiet { color: var(--quiet); }
.client { display: grid; grid-template-columns: minmax(0, 1fr); gap: 12px; border-top: 1px solid var(--line); }
.client > h3, .client > .quiet { grid-column: 1 / -1; }
.client > h3 + .quiet { margin-top: -10px; }
@container (min-width: 720px) { .client { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
button {
  min-height: 24px;
  padding: 2px 10px;
  border: 1px solid var(--quiet);
  border-radius: 4px;
  background: var(--press);
  color: inherit;
  font: inherit;
  cursor: pointer;
}
button:disabled { color: var(--quiet); border-color: var(--line); cursor: default; }
:focus-visible { outline: 2px solid var(--preprocess); outline-offset: -2px; }
.scroll { overflow: auto; border: 1px solid var(--line); border-radius: 4px; max-height: 220px; }
.tall { height: 220px; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: 3px 8px; text-align: start; vertical-align: top; font-weight: normal; overflow-wrap: anywhere; }
thead th { color: var(--quiet); position: sticky; top: 0; background: var(--back); overflow-wrap: normal; }
tbody tr { border-top: 1px solid var(--line); }
tbody th { min-width: 9em; }
@container (max-width: 480px) {
  table { font-size: 12px; }
  .workers :is(th, td):nth-child(5) { display: none; }
  th, td { padding: 3px 4px; }
}
tr[data-state] :is(th, td) { min-width: 0; overflow-wrap: normal; }
tr[data-state] td:last-child { position: sticky; inset-inline-end: 0; background: var(--back); text-align: end; }
tr[data-state] td:nth-of-type(1) { color: var(--quiet); }
tr[data-state='ready'] td:nth-of-type(1) { color: var(--good); }
td, time { font-variant-numeric: tabular-nums; }
.queue { display: flex; flex-wrap: wrap; gap: 4px 8px; align-items: center; }
meter { width: 96px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 12px; margin-bottom: 4px; color: var(--quiet); }
.legend span::before { content: ''; display: inline-block; width: 10px; height: 10px; margin-inline-end: 4px; border-radius: 2px; background: var(--color); }
[data-part='queue'] { --color: var(--queue); }
[data-part='preprocess'] { --color: var(--preprocess); }
[data-part='inference'] { --color: var(--inference); }
[data-part='postprocess'] { --color: var(--postprocess); }
.timeline { list-style: none; }
.timeline li { display: flex; flex-wrap: wrap; gap: 0 8px; padding: 3px 8px; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.timeline time { color: var(--quiet); }
.timeline li > span:last-child { flex: 1; min-width: 60%; }
.bar { flex: 1; display: flex; min-width: 120px; height: 12px; margin-top: 4px; background: var(--press); }
.bar span { width: calc(var(--took) / var(--longest) * 100%); background: var(--color); }
.timeline [data-kind='request'] > span:last-child { flex-basis: 100%; color: var(--quiet); }
.timeline [data-kind='recover'] b { color: var(--good); }
.timeline [data-kind='fail'] b, .timeline [data-kind='error'] b, .timeline [data-kind='ended'] b { color: var(--bad); }
dialog { width: min(720px, calc(100vw - 24px)); padding: 12px; border: 1px solid var(--line); border-radius: 6px; background: var(--back); color: var(--ink); }
dialog::backdrop { background: rgb(0 0 0 / 40%); }
pre.scroll { max-height: 60vh; margin: 8px 0; padding: 8px; font: 12px/1.4 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.actions { display: flex; gap: 8px; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
`;

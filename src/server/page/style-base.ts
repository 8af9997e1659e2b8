/**
 * Colours, type, the frame and the parts both views share. Every colour is a
 * variable with a light and a dark value; text on each surface keeps WCAG AA
 * contrast (4.5 to 1), which a test measures.
 */
export const BASE = /* css */ `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f6f7, #0c1013);
  --surface: light-dark(#ffffff, #13181d);
  --sunken: light-dark(#eef1f3, #0f1418);
  --edge: light-dark(#dfe4e8, #242c33);
  --edge-strong: light-dark(#c3ccd3, #3a454e);
  --text: light-dark(#12181d, #e7ecef);
  --muted: light-dark(#55626d, #97a4af);
  --accent: light-dark(#0f766e, #4fd8c5);
  --accent-soft: light-dark(#d9f2ee, #113531);
  --ok: light-dark(#0b7a4b, #43d392);
  --ok-soft: light-dark(#dcf5e8, #0f3022);
  --warn: light-dark(#8f5300, #f2b24c);
  --warn-soft: light-dark(#fdf0d8, #352711);
  --bad: light-dark(#bb2117, #ff8177);
  --bad-soft: light-dark(#fde5e2, #3b1714);
  --info: light-dark(#1d5fb8, #7db7ff);
  --info-soft: light-dark(#e1edfc, #13294a);
  --shadow: light-dark(0 1px 2px #1018200d, 0 0 transparent);
  --radius: 10px;
  --gap: 14px;
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "JetBrains Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
}
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; }

* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--ground); color: var(--text);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif;
  font-variant-numeric: tabular-nums;
}
h1, h2, h3, p, dl, dd, ul, ol, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
a { color: var(--accent); text-decoration: none; }
:is(.note, small) a, h2 a { text-decoration: underline; text-underline-offset: 2px; }
a:hover { text-decoration: underline; text-underline-offset: 2px; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
code, .mono { font-family: var(--mono); font-size: .93em; }
[hidden] { display: none !important; }

.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: 12px; top: -60px; z-index: 9; background: var(--surface); padding: 8px 14px; border-radius: 6px; }
.skip:focus { top: 10px; }

.top { position: sticky; top: 0; z-index: 5; background: var(--surface); border-bottom: 1px solid var(--edge); }
.bar, main, .foot { width: 100%; max-width: 1280px; margin: 0 auto; padding-inline: 20px; }
.bar { display: grid; grid-template-columns: minmax(max-content, 1fr) minmax(0, 620px) minmax(max-content, 1fr); align-items: center; gap: 16px; height: 56px; }
.bar .named, .bar .signs { display: flex; align-items: center; gap: 10px; min-width: 0; }
.bar .signs { justify-content: flex-end; }
.brand { display: flex; align-items: center; gap: 9px; color: var(--text); font-weight: 650; font-size: 16px; letter-spacing: -.01em; }
.brand:hover { text-decoration: none; }
.brand img { display: block; }
.chip { padding: 1px 9px; border: 1px solid var(--edge-strong); border-radius: 99px; color: var(--muted); font-size: 12px; font-weight: 550; white-space: nowrap; }

.search { position: relative; width: 100%; max-width: 620px; margin-inline: auto; }
.search input {
  width: 100%; height: 36px; padding: 0 40px 0 36px; border: 1px solid var(--edge-strong); border-radius: 8px;
  background: var(--sunken); color: var(--text); font: inherit; text-overflow: ellipsis;
}
.search input::placeholder { color: var(--muted); opacity: 1; }
.search input::-webkit-search-cancel-button { appearance: none; }
.search input:focus { outline: 2px solid var(--accent); outline-offset: -1px; background: var(--surface); }
.search svg { position: absolute; left: 11px; top: 10px; width: 16px; height: 16px; fill: none; stroke: var(--muted); stroke-width: 1.8; stroke-linecap: round; }
kbd { padding: 0 6px; border: 1px solid var(--edge-strong); border-radius: 4px; background: var(--surface); color: var(--muted); font: 12px/18px var(--mono); }
.search kbd { position: absolute; right: 10px; top: 8px; pointer-events: none; }
.search:focus-within kbd { visibility: hidden; }

.line { display: flex; align-items: center; gap: 7px; color: var(--muted); font-size: 12.5px; white-space: nowrap; }
.line i { width: 8px; height: 8px; border-radius: 50%; background: var(--edge-strong); }
.line[data-state="live"] i { background: var(--ok); }
.line[data-state="lost"] { color: var(--bad); font-weight: 600; }
.line[data-state="lost"] i { background: var(--bad); }
.quiet { display: grid; place-items: center; width: 34px; height: 34px; padding: 0; border: 1px solid transparent; border-radius: 8px; background: none; color: var(--muted); cursor: pointer; }
.quiet:hover { background: var(--sunken); color: var(--text); }
.quiet svg { width: 18px; height: 18px; fill: none; stroke: currentColor; stroke-width: 1.6; }
.quiet .half { fill: currentColor; stroke: none; }

main { flex: 1 0 auto; min-height: calc(100vh - 57px); padding-block: 18px 28px; }
.foot { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 6px 20px; padding-block: 14px 22px; color: var(--muted); font-size: 12.5px; }
.foot nav { display: flex; flex-wrap: wrap; gap: 4px 18px; }
.foot a { color: var(--muted); text-decoration: underline; text-underline-offset: 2px; }

.card { background: var(--surface); border: 1px solid var(--edge); border-radius: var(--radius); box-shadow: var(--shadow); min-width: 0; }
.card > h2, .card > header { padding: 12px 16px 0; }
h2 { font-size: 13px; font-weight: 620; letter-spacing: .005em; }
.note { color: var(--muted); font-size: 12.5px; }
.empty { padding: 10px 16px 16px; color: var(--muted); font-size: 13px; }

.button { min-height: 34px; padding: 0 16px; border: 1px solid var(--edge-strong); border-radius: 8px; background: var(--surface); color: var(--text); font: inherit; font-weight: 550; cursor: pointer; }
a.button { display: inline-flex; align-items: center; text-decoration: none; }
.button:hover { border-color: var(--accent); color: var(--accent); }
.button:disabled { opacity: .6; cursor: default; }

.notice { padding: 16px 20px; border: 1px solid var(--edge); border-left: 4px solid var(--info); border-radius: var(--radius); background: var(--surface); }
.notice.bad { border-left-color: var(--bad); }
.notice h1, .notice h2 { font-size: 16px; margin-bottom: 2px; }
.notice .note, .notice .home { margin-top: 6px; }
.notice form { display: flex; gap: 8px; margin-top: 12px; }
.notice input { flex: 1; min-width: 0; height: 36px; padding: 0 12px; border: 1px solid var(--edge-strong); border-radius: 8px; background: var(--sunken); color: var(--text); font: inherit; }

@media (max-width: 720px) {
  .bar { grid-template-columns: minmax(0, 1fr) auto; height: auto; gap: 8px 10px; padding-block: 9px; }
  .bar .named { height: 34px; gap: 8px; overflow-x: auto; scrollbar-width: none; }
  .brand span { display: none; }
  .bar, main, .foot { padding-inline: 12px; }
  .search { order: 9; grid-column: 1 / -1; max-width: none; }
  .search input { height: 40px; font-size: 16px; }
  .search svg { top: 12px; }
  .search kbd { display: none; }
  main { padding-top: 12px; }
}
@media (max-width: 480px) {
  .bar .named { gap: 6px; }
  .chip { padding-inline: 7px; font-size: 11.5px; }
  .line:not([data-state="lost"]) span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
}
@media (prefers-reduced-motion: reduce) { * { animation: none !important; transition: none !important; } }
`;

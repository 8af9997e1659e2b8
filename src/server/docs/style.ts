/**
 * How the documentation looks: three columns where there is room, one where
 * there is not, light and dark by the reader's own setting, system fonts.
 */
export const SITE_STYLE = /* css */ `
:root { color-scheme: light dark; --ground: light-dark(#f4f6f7, #0c1013); --surface: light-dark(#ffffff, #13181d);
  --sunken: light-dark(#eef1f3, #0f1418); --edge: light-dark(#dfe4e8, #242c33); --text: light-dark(#12181d, #e7ecef);
  --muted: light-dark(#55626d, #97a4af); --accent: light-dark(#0f766e, #4fd8c5); --accent-soft: light-dark(#d9f2ee, #113531);
  --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace; }
* { box-sizing: border-box; }
html { scroll-padding-top: 72px; }
body { margin: 0; background: var(--surface); color: var(--text); font: 16px/1.6 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
a { color: var(--accent); text-decoration: none; }
main :is(p, li, td) a, a:hover { text-decoration: underline; text-underline-offset: 2px; }
a.anchor { text-decoration: none; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 4px; }
main:focus { outline: none; }
.skip { position: absolute; left: 12px; top: -60px; z-index: 9; background: var(--surface); padding: 8px 14px; }
.skip:focus { top: 10px; }
.top { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; justify-content: space-between; gap: 16px; height: 56px;
  padding: 0 24px; background: var(--surface); border-bottom: 1px solid var(--edge); }
.brand { color: var(--text); font-weight: 650; white-space: nowrap; }
.brand small { color: var(--muted); font-weight: 400; }
.search { position: relative; flex: 0 1 26rem; }
.search input { width: 100%; padding: 7px 12px; border: 1px solid var(--edge); border-radius: 8px; background: var(--sunken); color: inherit; font: inherit; font-size: 15px; }
.search ol { position: absolute; right: 0; top: 44px; width: min(40rem, calc(100vw - 32px)); max-height: 70vh; overflow-y: auto; margin: 0; padding: 6px;
  list-style: none; background: var(--surface); border: 1px solid var(--edge); border-radius: 10px; box-shadow: 0 12px 32px #0003; }
.search li a { display: block; padding: 8px 12px; border-radius: 6px; color: inherit; }
.search li a:hover, .search li a:focus { background: var(--accent-soft); text-decoration: none; }
.search li small { display: block; color: var(--muted); font-size: 13px; overflow-wrap: anywhere; }
.search li p { margin: 8px 12px; color: var(--muted); }
.frame { display: grid; grid-template-columns: 16rem minmax(0, 46rem) 14rem; gap: 40px; max-width: 82rem; margin: 0 auto; padding: 0 24px; }
.pages, .contents { position: sticky; top: 56px; align-self: start; max-height: calc(100vh - 56px); overflow-y: auto; padding: 24px 0; font-size: 14px; }
.pages > details > summary { display: none; }
.pages details details { margin-bottom: 14px; }
.pages summary { cursor: pointer; font-weight: 650; color: var(--text); }
.pages ul, .contents ul { list-style: none; margin: 4px 0 0; padding: 0; }
.pages li a, .contents li a { display: block; padding: 3px 10px; border-left: 2px solid var(--edge); color: var(--muted); }
.pages a[aria-current] { border-color: var(--accent); color: var(--accent); font-weight: 600; }
.contents p { margin: 0; font-weight: 650; }
main { padding: 24px 0 64px; min-width: 0; overflow-wrap: break-word; }
h1 { font-size: 2rem; line-height: 1.2; letter-spacing: -.02em; margin: .3em 0 .6em; }
h2 { margin-top: 2.2em; padding-bottom: .2em; border-bottom: 1px solid var(--edge); }
h3 { margin-top: 1.8em; }
.anchor { opacity: 0; font-weight: 400; }
h2:hover .anchor, h3:hover .anchor, .anchor:focus { opacity: .7; }
code { font-family: var(--mono); font-size: .9em; background: var(--sunken); padding: .1em .3em; border-radius: 4px; }
pre { background: var(--sunken); border: 1px solid var(--edge); border-radius: 8px; padding: 14px 16px; overflow-x: auto; line-height: 1.45; }
pre code { background: none; padding: 0; font-size: 13.5px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14.5px; }
th, td { text-align: left; vertical-align: top; padding: 7px 14px 7px 0; border-bottom: 1px solid var(--edge); }
th.right, td.right { text-align: right; }
img { max-width: 100%; border: 1px solid var(--edge); border-radius: 8px; }
blockquote { margin: 1.2em 0; padding: .2em 1.2em; border-left: 3px solid var(--accent); background: var(--accent-soft); border-radius: 0 8px 8px 0; }
.neighbours { display: flex; justify-content: space-between; gap: 24px; margin-top: 56px; padding-top: 20px; border-top: 1px solid var(--edge); }
.neighbours [rel=prev]::before { content: "← "; }
.neighbours [rel=next]::after { content: " →"; }
.frame.alone { display: block; max-width: 46rem; padding-top: 8vh; }
@media (max-width: 76rem) { .frame { grid-template-columns: 15rem minmax(0, 1fr); } .contents { display: none; } }
@media (max-width: 52rem) {
  .frame { display: block; padding: 0 16px; } .top { padding: 0 16px; }
  .pages { position: static; max-height: none; padding: 12px 0 0; }
  .pages > details > summary { display: block; padding: 8px 0; }
}
@media print { .top, .pages, .contents, .neighbours, .anchor { display: none; } .frame { display: block; } }
`;

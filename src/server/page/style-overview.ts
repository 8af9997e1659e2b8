/** The overview: the verdict, the blocks as they come, figures, charts, panels. */
export const OVERVIEW = /* css */ `
.overview { display: grid; gap: var(--gap); }

.hero { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.1fr); gap: 4px 28px; padding: 18px 20px 14px; }
.verdict { display: flex; gap: 14px; align-items: flex-start; }
.verdict .lamp { flex: none; width: 14px; height: 14px; margin-top: 11px; border-radius: 50%; background: var(--tone); box-shadow: 0 0 0 5px var(--tone-soft); }
.verdict h1 { font-size: 26px; line-height: 1.35; font-weight: 680; letter-spacing: -.02em; color: var(--tone); overflow-wrap: anywhere; }
.verdict p { color: var(--muted); overflow-wrap: anywhere; }
[data-tone="ok"] { --tone: var(--ok); --tone-soft: var(--ok-soft); }
[data-tone="warn"] { --tone: var(--warn); --tone-soft: var(--warn-soft); }
[data-tone="bad"] { --tone: var(--bad); --tone-soft: var(--bad-soft); }
[data-tone="info"] { --tone: var(--info); --tone-soft: var(--info-soft); }
[data-tone="idle"] { --tone: var(--muted); --tone-soft: var(--sunken); }

.tips { display: grid; grid-template-columns: minmax(0, 1.35fr) minmax(0, 1fr); gap: 0 24px; }
.tips > div { border-left: 1px solid var(--edge); padding-left: 18px; min-width: 0; }
.tips dd { min-height: 72px; }
.at-rest #source-tip, .at-rest #source, .at-rest .chart:nth-child(-n+3) { display: none; }
.tips dt { color: var(--muted); font-size: 12.5px; }
.tips .big { font-size: 22px; font-weight: 640; letter-spacing: -.015em; line-height: 1.35; }
.tips .rest { color: var(--muted); font-size: 12.5px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

.strip { grid-column: 1 / -1; margin-top: 14px; }
.strip ol { display: flex; align-items: flex-end; justify-content: flex-end; gap: 3px; height: 56px; overflow: hidden; }
.strip li { flex: 1 1 0; min-width: 7px; max-width: 26px; height: 100%; display: flex; align-items: flex-end; }
.strip a { display: block; width: 100%; height: var(--tall, 8%); min-height: 5px; border-radius: 3px 3px 1px 1px; background: var(--accent); opacity: .5; transition: opacity .15s; }
.strip li:last-child a { opacity: 1; }
.strip a:hover, .strip a:focus-visible { opacity: 1; }
.strip a[data-empty] { background: var(--edge-strong); }
.strip li.new a { animation: rise .45s cubic-bezier(.2, .9, .3, 1.2); }
.strip li.gone { pointer-events: none; }
.strip li.gone a { background: var(--bad); opacity: .9; animation: sink 1.6s ease-in forwards; }
@keyframes rise { from { height: 0; opacity: 0; } }
@keyframes sink { 40% { opacity: .9; } to { height: 0; opacity: 0; } }
.strip .scale { min-height: 24px; display: flex; justify-content: space-between; gap: 12px; margin-top: 5px; padding-top: 5px; border-top: 1px solid var(--edge); color: var(--muted); font-size: 12px; }

.tiles { display: grid; grid-template-columns: 1fr 1.55fr .85fr 1fr 1.25fr .85fr; gap: 0; overflow: hidden; }
.tiles > div { padding: 12px 16px 13px; box-shadow: -1px -1px 0 var(--edge); min-width: 0; }
.tiles dt { color: var(--muted); font-size: 12.5px; }
.tiles dd { font-size: 19px; font-weight: 620; letter-spacing: -.01em; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.tiles dd small { color: var(--muted); font-size: 12.5px; font-weight: 450; letter-spacing: 0; }

.charts { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--gap); }
.chart header { display: flex; flex-wrap: wrap; align-items: baseline; gap: 2px 14px; min-height: 34px; }
.chart .reading { display: flex; flex-wrap: wrap; gap: 2px 14px; margin-left: auto; color: var(--muted); font-size: 12.5px; }
.chart .reading b { color: var(--text); font-weight: 600; }
.chart .reading i { display: inline-block; width: 10px; height: 3px; margin-right: 6px; border-radius: 2px; vertical-align: 3px; background: var(--ink); }
.chart .plot { height: 148px; padding: 2px 8px 4px 4px; }
.u-hz .u-cursor-x { border-right: 1px solid var(--edge-strong); }

.panels { display: grid; grid-template-columns: repeat(12, minmax(0, 1fr)); gap: var(--gap); align-items: start; }
.panels > .card { grid-column: span 4; height: 100%; }
.pairs { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 5px 18px; padding: 9px 16px 15px; font-size: 13px; }
.pairs dt { color: var(--muted); white-space: nowrap; }
.pairs dd { overflow-wrap: anywhere; text-align: right; }

.bars { padding: 8px 16px 14px; display: grid; gap: 7px; font-size: 13px; }
.bars li { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 1px 12px; }
.panels > .card.broad { grid-column: span 8; }
.panels > .card.whole { grid-column: 1 / -1; }
.broad .bars { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 7px 32px; }
.bars .value { color: var(--muted); }
.bars .track { grid-column: 1 / -1; height: 5px; border-radius: 3px; background: var(--sunken); overflow: hidden; }
.bars .fill { display: block; height: 100%; width: 0; min-width: 2px; border-radius: 3px; background: var(--accent); }
.bars .fill[data-tone="info"] { background: var(--info); }

.events { padding: 4px 0 8px; font-size: 13px; }
.events li { display: flex; align-items: baseline; gap: 10px; padding: 5px 16px; }
.events li + li { border-top: 1px solid var(--edge); }
.events .depth { flex: none; min-width: 78px; font-weight: 600; }
.events .depth::before { content: "↶"; margin-right: 6px; color: var(--warn); font-weight: 400; }
.events time { margin-left: auto; color: var(--muted); white-space: nowrap; }
.events .target { color: var(--muted); min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }

.tags { display: flex; flex-wrap: wrap; gap: 6px; padding: 9px 16px 15px; }
.tag { display: inline-block; padding: 0 8px; border-radius: 5px; background: var(--sunken); border: 1px solid var(--edge); font-size: 12.5px; line-height: 20px; }
.tag[data-tone] { color: var(--tone); background: var(--tone-soft); border-color: transparent; }

.window { padding: 10px 16px 0; }
.window .rail { position: relative; height: 10px; border-radius: 5px; background: var(--sunken); overflow: hidden; }
.window .rail span { position: absolute; inset-block: 0; right: 0; border-radius: 5px; }
.window .records { background: color-mix(in srgb, var(--accent) 30%, var(--surface)); }
.window .undo { background: var(--accent); }

/* A store that follows nothing has fewer figures, and they take the whole width. */
.at-rest .tiles { grid-template-columns: 1fr 1.55fr 1.25fr .85fr; }
.at-rest .charts, .at-rest .tips { grid-template-columns: minmax(0, 1fr); }
@media (max-width: 1000px) {
  .at-rest .tiles { grid-template-columns: 1fr 1fr; }
  .tiles { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .panels > .card { grid-column: span 6; }
  .panels > .card.broad { grid-column: 1 / -1; }
  .hero { grid-template-columns: minmax(0, 1fr); row-gap: 14px; }
  .tips > div:first-child { border-left: 0; padding-left: 0; }
}
@media (max-width: 720px) {
  .hero { padding: 14px; }
  .verdict h1 { font-size: 22px; }
  .verdict p { min-height: 42px; }
  .tips dd { min-height: 101px; }
  .verdict .lamp { margin-top: 8px; }
  .charts { grid-template-columns: minmax(0, 1fr); }
  .panels > .card { grid-column: 1 / -1; }
  .broad .bars { grid-template-columns: minmax(0, 1fr); }
  .tips { gap: 0 14px; }
  .tips > div { padding-left: 14px; }
  .tips .big { font-size: 19px; }
  .tiles { grid-template-columns: 1fr 1fr; }
  .tiles > div { padding: 9px 12px; }
  .tiles > div:nth-child(-n+2) { min-height: 84px; }
  .tiles dd { font-size: 15.5px; white-space: normal; }
  .tips .rest { white-space: normal; }
  .chart .reading { margin-left: 0; }
  .strip ol { height: 44px; }
}
`;

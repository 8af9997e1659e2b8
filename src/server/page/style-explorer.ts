/** The explorer: what is known of one thing, and tables of outputs that become cards on a phone. */
export const EXPLORER = /* css */ `
.explorer { display: grid; gap: var(--gap); }
.trail { display: flex; flex-wrap: wrap; gap: 4px 8px; color: var(--muted); font-size: 13px; }
.subject { padding: 16px 20px 18px; }
.subject .what { color: var(--muted); font-size: 12.5px; font-weight: 550; }
.subject h1 { font-size: 17px; font-weight: 620; line-height: 1.4; overflow-wrap: anywhere; }
.subject h1.mono { font-size: 15px; font-weight: 500; }
.facts { display: grid; grid-template-columns: repeat(auto-fill, minmax(210px, 1fr)); gap: 12px 28px; margin-top: 14px; }
.facts dt { color: var(--muted); font-size: 12.5px; }
.facts dd { font-size: 14px; overflow-wrap: anywhere; }
.facts .wide { grid-column: 1 / -1; }
.facts .big { font-size: 20px; font-weight: 630; letter-spacing: -.01em; }
.facts .big small { display: inline-block; overflow-wrap: normal; }
.facts small, td small { color: var(--muted); font-size: 12px; }

.copy { width: 22px; height: 22px; margin-left: 4px; vertical-align: middle; display: inline-grid; place-items: center; padding: 0; border: 0; border-radius: 5px; background: none; color: var(--muted); cursor: pointer; }
.copy:hover { background: var(--sunken); color: var(--accent); }
.copy svg { width: 13px; height: 13px; fill: none; stroke: currentColor; stroke-width: 1.7; }
.copy[data-done] { color: var(--ok); }
td .copy { opacity: 0; }
tr:hover .copy, td .copy:focus-visible, tr:focus-within .copy { opacity: 1; }

.rows { width: 100%; border-collapse: collapse; font-size: 13px; }
.rows caption { text-align: left; padding: 12px 16px 8px; font-weight: 620; }
.rows caption small { color: var(--muted); font-weight: 450; margin-left: 6px; }
.rows th { padding: 4px 16px 6px; text-align: left; color: var(--muted); font-size: 12px; font-weight: 550; border-bottom: 1px solid var(--edge); white-space: nowrap; }
.rows td { padding: 7px 16px; vertical-align: top; border-bottom: 1px solid var(--edge); }
.rows tbody tr:last-child td { border-bottom: 0; }
.rows tbody tr:hover { background: var(--sunken); }
.rows .number { text-align: right; white-space: nowrap; }
.rows wbr { display: none; }
.rows .place { white-space: nowrap; }
.rows .mono, .rows td > div:has(> .copy) { white-space: nowrap; }
.rows .button { padding: 1px 10px; min-height: 0; font-size: 12.5px; }
.assets { display: flex; flex-wrap: wrap; gap: 4px 6px; }
.rows .assets { max-width: 460px; }
time { white-space: nowrap; }
.asset { display: inline-flex; flex-wrap: wrap; gap: 0 6px; max-width: 100%; padding: 0 8px; border: 1px solid var(--edge); border-radius: 5px; background: var(--sunken); color: var(--text); font-size: 12.5px; line-height: 20px; }
.asset:hover { border-color: var(--accent); text-decoration: none; }
.asset b { font-weight: 550; color: var(--accent); overflow: hidden; text-overflow: ellipsis; white-space: nowrap; max-width: 190px; }
.asset.plain { border-style: dashed; color: var(--muted); }
.more { padding: 12px 16px; display: flex; align-items: center; gap: 14px; border-top: 1px solid var(--edge); color: var(--muted); font-size: 13px; }
.blob { max-height: 190px; overflow: auto; padding: 10px 12px; border-radius: 7px; background: var(--sunken); font: 12px/1.6 var(--mono); overflow-wrap: anywhere; white-space: pre-wrap; }
.choices li { display: flex; flex-wrap: wrap; gap: 4px 14px; align-items: baseline; padding: 11px 16px; }
.choices li + li { border-top: 1px solid var(--edge); }
.choices .note { margin-left: auto; }
.stale { position: sticky; bottom: 14px; z-index: 4; display: flex; flex-wrap: wrap; align-items: center; gap: 8px 16px; padding-block: 9px; box-shadow: 0 4px 18px #10182026; font-size: 13px; }
.loading { padding: 26px 16px; color: var(--muted); }

@media (max-width: 720px) {
  .subject { padding: 14px; }
  .facts { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 10px 16px; }
  .rows.compact :is(th, td) { padding-inline: 6px; }
  .rows.compact :is(th, td):first-child { padding-left: 14px; }
  .rows.compact :is(th, td):last-child { padding-right: 14px; }
  .rows.compact td { font-size: 12.5px; }
  .rows.compact time { white-space: normal; }
  .rows.compact wbr { display: inline; }
  .rows:not(.compact) thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .rows:not(.compact), .rows:not(.compact) :is(tbody, tr, td, caption) { display: block; width: 100%; }
  .rows:not(.compact) tr { padding: 8px 14px; border-bottom: 1px solid var(--edge); }
  .rows:not(.compact) tbody tr:last-child { border-bottom: 0; }
  .rows:not(.compact) td { display: flex; justify-content: space-between; gap: 14px; padding: 2px 0; border: 0; min-width: 0; }
  .rows:not(.compact) td::before { content: attr(data-label); color: var(--muted); flex: none; }
  .rows:not(.compact) td > * { min-width: 0; text-align: right; }
  .rows:not(.compact) td:empty { display: none; }
  .rows .assets { justify-content: flex-end; }
  td .copy { opacity: 1; }
}
`;

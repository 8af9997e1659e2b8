/** Time travel, proofs, balances over time, the mempool, and what rollbacks took. */
export const TRAVEL = /* css */ `
.travel { display: grid; grid-template-columns: auto minmax(120px, 1fr) auto auto auto; gap: 4px 14px; align-items: center; width: calc(100% - 40px); max-width: 1240px; min-height: 46px; margin: 14px auto -4px; padding: 5px 16px; border: 1px solid var(--edge); border-radius: var(--radius); background: var(--surface); font-size: 13px; color: var(--muted); }
.travel[data-past="yes"] { border-color: var(--info); background: var(--info-soft); color: var(--text); }
.travel input { width: 100%; accent-color: var(--accent); }
.travel[data-past="yes"] input { accent-color: var(--info); }
.travel-place { color: var(--text); font-weight: 640; font-size: 15px; }
.travel .button { min-height: 30px; padding: 0 12px; }

.proof > .note { padding: 4px 16px 0; }
.buttons { display: flex; flex-wrap: wrap; gap: 8px; padding: 10px 16px 14px; }
.proof-result > p { padding: 0 16px 14px; }
.proof-result .buttons { padding-top: 4px; }
.proof-steps { display: grid; gap: 0; margin: 0 16px; padding: 0; counter-reset: step; font-size: 13px; }
.proof-steps > li { position: relative; padding: 0 0 12px 34px; counter-increment: step; overflow-wrap: anywhere; }
.proof-steps > li::before { content: counter(step); position: absolute; left: 0; top: 0; width: 22px; height: 22px; border-radius: 50%; background: var(--sunken); color: var(--muted); font-size: 12px; font-weight: 600; line-height: 22px; text-align: center; }
.proof-steps > li:not(:last-child)::after { content: ""; position: absolute; left: 11px; top: 24px; bottom: 2px; width: 1px; background: var(--edge-strong); }
.proof-steps .proof-verdict::before { content: "✓"; background: var(--ok-soft); color: var(--ok); }
.proof-steps .proof-verdict[data-tone="bad"]::before { content: "✗"; background: var(--bad-soft); color: var(--bad); }
.proof-steps .tag { margin-left: 8px; }
.proof-steps .proof-verdict .tag { margin-left: 0; }
.proof-path { margin: 4px 0 0 2px; padding-left: 12px; border-left: 2px solid var(--edge); max-height: 260px; overflow: auto; }
.proof-path code { font-size: 12px; }
.proof-steps summary { cursor: pointer; color: var(--muted); }

.balance-drawing { display: block; width: 100%; }
.balance-plot { height: 154px !important; }
.balance-drawing .grid { stroke: var(--edge); }
.balance-drawing .line { fill: none; stroke: var(--accent); stroke-width: 1.7; stroke-linejoin: round; }
.balance-drawing .area { fill: color-mix(in srgb, var(--accent) 13%, transparent); }
.balance-drawing circle { fill: var(--accent); }
.balance-drawing text { font-size: 11px; fill: var(--muted); }

.histogram { display: flex; gap: 4px; align-items: stretch; padding: 14px 16px 12px; }
.histogram li { flex: 1 1 0; max-width: 56px; min-width: 0; text-align: center; }
.histogram .column { display: flex; align-items: flex-end; height: 130px; border-bottom: 1px solid var(--edge-strong); }
.histogram .bin { display: block; width: 100%; border-radius: 4px 4px 0 0; background: linear-gradient(to top, color-mix(in srgb, var(--warn) 45%, var(--surface)), var(--warn)); }
.histogram b { font-size: 11.5px; font-weight: 500; color: var(--muted); }

.said > .note { padding: 6px 16px 0; }
.said > .tree, .said > .decoded { padding: 6px 16px 14px; }
.gone-blocks { margin-top: 4px; }
.reorgs h2 small { font-weight: 450; }
.pair.newest { align-items: stretch; }
.newest .rows { table-layout: fixed; }
.newest .rows td, .newest .rows th { overflow: hidden; text-overflow: ellipsis; }
#newest-blocks th:last-child { width: 42%; }
#newest-txs th:first-child { width: 38%; }
#newest-txs th:nth-child(3) { width: 30%; }

@media (max-width: 720px) {
  #newest-blocks :is(th, td):nth-child(3) { display: none; }
  #newest-blocks th:first-child { width: 29%; }
  #newest-blocks th:last-child { width: 38%; }
  #newest-txs :is(th, td):nth-child(2) { display: none; }
  #newest-txs th:first-child { width: 41%; }
  #newest-txs th:nth-child(3) { width: 30%; }
  .travel { grid-template-columns: auto auto minmax(0, 1fr); width: calc(100% - 24px); margin-top: 10px; padding: 7px 12px; }
  .travel input { grid-column: 1 / -1; order: 5; height: 28px; }
  .travel .button { order: 6; grid-column: 1 / -1; }
  .histogram { gap: 2px; padding-inline: 10px; }
}
`;

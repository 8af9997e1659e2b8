/** A transaction: its flow as a drawing, the tables beside it, and what it gives to scripts as trees. */
export const TRANSACTION = /* css */ `
.remark { padding: 11px 16px; border-left: 4px solid var(--info); color: var(--muted); font-size: 13px; }
.flow figcaption { display: flex; flex-wrap: wrap; gap: 2px 14px; align-items: baseline; padding: 12px 16px 0; }
.flow-host { margin: 4px 14px 12px; overflow: hidden; }
.flow-drawing { display: block; width: 100%; overflow: visible; }
.flow-drawing .end > path:first-of-type { fill: none; opacity: .78; transition: opacity .12s; }
.flow-drawing .end:hover > path:first-of-type { opacity: 1; }
.flow-drawing a { text-decoration: none; }
.flow-drawing text { font-size: 12.5px; fill: var(--text); }
.flow-drawing .amount { font-weight: 600; }
.flow-drawing .owner { font-size: 11.5px; fill: var(--muted); font-family: var(--mono); }
.flow-drawing a:hover .owner { fill: var(--accent); }
.flow-drawing .fee .amount { fill: var(--warn); }
.flow-drawing .fee .owner, .flow-drawing g .owner { font-family: inherit; }
.flow-drawing .cap { fill: var(--surface); stroke: var(--info); stroke-width: 1.8; }
.flow-drawing path.cap { fill: none; stroke-linejoin: round; stroke-linecap: round; }
.flow-drawing .unspent .cap { stroke: var(--ok); }
.stop-edge { stop-color: color-mix(in srgb, var(--accent) 45%, var(--surface)); }
.stop-knot { stop-color: var(--accent); }
.stop-spent { stop-color: color-mix(in srgb, var(--info) 55%, var(--surface)); }
.stop-unspent { stop-color: color-mix(in srgb, var(--ok) 60%, var(--surface)); }
.stop-fee { stop-color: var(--warn); }

.pair { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: var(--gap); align-items: start; }
.ends .mono { white-space: nowrap; }
.ends .tag { white-space: nowrap; }
.ends .asset { flex-wrap: nowrap; }
.ends .from { display: flex; flex-wrap: wrap; align-items: center; gap: 0 8px; color: var(--muted); }
.ends .from .mono { color: var(--muted); font-size: 11.5px; }
.ends .assets { justify-content: flex-end; margin-top: 3px; max-width: 300px; margin-left: auto; }
.ends caption .note { margin-left: 10px; font-weight: 450; }
.rows tr.marked { background: var(--accent-soft); }

.given > h2 small { font-weight: 450; margin-left: 4px; }
.given > ul > li { padding: 10px 16px 12px; }
.given > ul > li + li { border-top: 1px solid var(--edge); }
.decoded { margin-top: 6px; min-width: 0; }
.raw { display: flex; align-items: flex-start; gap: 2px; margin-top: 6px; line-height: 22px; font-size: 12.5px; color: var(--muted); }
.raw details { min-width: 0; }
.raw details[open] { flex: 1; }
.raw summary { cursor: pointer; width: fit-content; }
.program .blob { white-space: pre; max-height: 420px; margin: 6px 0; color: var(--text); }
.uplc summary { cursor: pointer; color: var(--muted); }
.raw .blob { margin-top: 6px; color: var(--text); }
.operations { display: flex; flex-wrap: wrap; gap: 2px 8px; margin-top: 4px; font-size: 12.5px; line-height: 1.7; list-style: none; }
.operations li { min-width: 0; max-width: 100%; }
.operations code, .decoded .bytes code { overflow-wrap: anywhere; }
.operations .opcode { padding: 1px 6px; border-radius: 4px; background: var(--sunken); font-weight: 550; }
.operations .int { color: var(--info); font-weight: 550; }
.decoded .text { color: var(--ok); overflow-wrap: anywhere; }
.decoded .bytes { margin-top: 2px; font-size: 12.5px; }
.tree { font-size: 13px; line-height: 1.7; overflow-x: auto; }
.tree ul { margin-left: 7px; padding-left: 15px; border-left: 1px solid var(--edge); }
.tree summary { cursor: pointer; width: fit-content; }
.tree summary::marker { color: var(--muted); }
.tree .key { color: var(--muted); margin-right: 8px; }
.tree .key::after { content: ":"; }
.tree .kind { padding: 0 6px; border-radius: 4px; background: var(--sunken); font-size: 12px; font-weight: 550; }
.tree .int { color: var(--info); font-weight: 550; }
.tree .text { color: var(--ok); margin-left: 6px; overflow-wrap: anywhere; }
.tree .leaf > .text:first-child, .tree .key .text { margin-left: 0; }
.tree .key .text { color: var(--accent); }
.tree code { overflow-wrap: anywhere; }

@media (max-width: 1000px) {
  .pair { grid-template-columns: minmax(0, 1fr); }
}
@media (max-width: 720px) {
  .flow-host { margin-inline: 8px; }
  .flow-drawing text { font-size: 11.5px; }
  .ends td { padding-inline: 0; }
  .ends .from { justify-content: flex-end; }
  .given > ul > li { padding-inline: 14px; }
}
`;

/** Wallets: the bar of the balance, the history with drawn replacements, and what reorganisations did. */
export const WALLET = /* css */ `
a.chip:hover { border-color: var(--accent); color: var(--accent); text-decoration: none; }
.refused { color: var(--bad); font-weight: 600; }
.tokened { display: flex; flex-wrap: wrap; justify-content: space-between; align-items: center; gap: 8px 20px; }
.subject > details { margin-top: 12px; font-size: 13px; }
.subject summary { color: var(--muted); cursor: pointer; }
.subject .blob { margin-top: 8px; }

.balance-bar { display: flex; gap: 2px; height: 12px; margin-top: 16px; border-radius: 6px; background: var(--sunken); overflow: hidden; }
.balance-bar span { flex: 0 0 4px; background: var(--tone); }
.balance-parts { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 10px 24px; margin-top: 12px; font-size: 13px; }
.balance-parts dt { color: var(--muted); font-size: 12.5px; }
.balance-parts i { display: inline-block; width: 9px; height: 9px; margin-right: 7px; border-radius: 3px; background: var(--tone); }
.balance-parts [data-none] i { background: var(--edge-strong); }
.balance-parts [data-none] dd { color: var(--muted); }

.balance-assets { margin-top: 14px; font-size: 13px; }
.balance-assets dt { margin-bottom: 4px; color: var(--muted); font-size: 12.5px; }

.history { padding: 6px 0; }
.history > li { padding: 9px 16px; }
.history > li + li { border-top: 1px solid var(--edge); }
.entry { display: grid; grid-template-columns: 190px minmax(0, 1fr) auto 110px; gap: 2px 18px; align-items: baseline; }
.entry time { color: var(--muted); font-size: 12.5px; text-align: right; }
.entry .state { display: flex; gap: 10px; align-items: baseline; }
.change { font-weight: 620; white-space: nowrap; }
.change[data-tone] { color: var(--tone); }
s.change { color: var(--muted); font-weight: 500; }
.change small { color: inherit; font-size: 12px; font-weight: 450; }
.named { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.named b { font-weight: 560; margin-right: 4px; }

.replaced { margin: 8px 0 2px; padding: 8px 12px 4px; border-radius: 8px; background: var(--sunken); }
.replaced figcaption { color: var(--muted); font-size: 12.5px; }
.replaced > div { display: flex; gap: 8px; }
.replaced svg { flex: none; overflow: visible; }
.replaced ol { flex: 1; min-width: 0; }
.replaced li { display: flex; flex-direction: column; justify-content: center; height: 46px; min-width: 0; font-size: 13px; }
.replaced .line1, .replaced .line2 { display: flex; gap: 4px 14px; align-items: baseline; min-width: 0; white-space: nowrap; }
.replaced .line1 .tag { flex: none; }
.replaced .line2 { color: var(--muted); font-size: 12px; }
.replaced .line2 span { min-width: 0; overflow: hidden; text-overflow: ellipsis; }
.replaced .tag[data-tone="idle"] { background: var(--surface); }
.replaced circle { fill: var(--tone); }
.replaced .arc { fill: none; stroke: var(--muted); stroke-width: 1.6; }
.replaced .point { fill: var(--muted); }
.replaced .down .arc { stroke: var(--ok); stroke-dasharray: 4 3; }
.replaced .down .point { fill: var(--ok); }

.reorgs article { padding: 12px 16px 14px; }
.reorgs article + article { border-top: 1px solid var(--edge); }
.reorgs header { display: flex; gap: 16px; align-items: center; }
.reorgs h3 { font-size: 14px; font-weight: 600; }
.fork { flex: none; fill: none; stroke-width: 1.7; }
.fork .trunk { stroke: var(--muted); fill: var(--surface); }
.fork .gone { stroke: var(--bad); stroke-dasharray: 3 2; }
.fork .came { stroke: var(--ok); }
.fork rect { fill: var(--surface); stroke-dasharray: none; }
.fork .gone .full { fill: var(--bad); }
.fork .came .full { fill: var(--ok); }
.before-after { width: 100%; margin-top: 10px; border-collapse: separate; border-spacing: 0 5px; font-size: 13px; }
.before-after th { text-align: left; color: var(--muted); font-size: 12px; font-weight: 550; }
.before-after td { padding: 6px 12px; vertical-align: middle; }
.before-after .before { width: 50%; border: 1px dashed var(--bad); border-radius: 8px; background: var(--bad-soft); }
.before-after .before div { display: flex; flex-wrap: wrap; gap: 0 14px; min-width: 0; }
.before-after span.change { color: var(--text); }
.before-after .lost { color: var(--bad); font-size: 12px; font-weight: 600; }
.before-after .child .before { border-left: 5px solid var(--bad); }
.before-after .way { width: 64px; text-align: center; }
.before-after .way svg { fill: none; stroke: var(--tone); stroke-width: 1.7; vertical-align: middle; }
.before-after .after { border: 1px solid var(--tone); border-radius: 8px; background: var(--tone-soft); }
.before-after .after b { color: var(--tone); font-weight: 620; }
.before-after .after b a { color: inherit; text-decoration: underline; text-underline-offset: 2px; }
.before-after .after .note { color: var(--text); }
.common { padding-left: 2px; }

@media (max-width: 720px) {
  .balance-parts { grid-template-columns: 1fr 1fr; gap: 8px 14px; }
  .entry { grid-template-columns: minmax(0, 1fr) auto; }
  .entry .named { grid-column: 1 / -1; order: 3; }
  .entry .state { order: 4; flex-wrap: wrap; gap: 2px 8px; }
  .entry time { order: 2; }
  .replaced { padding-inline: 4px 8px; }
  .replaced .named .mono { display: none; }
  .replaced .named b:empty + .mono, .replaced .named > .mono:only-child { display: inline; }
  .before-after td { padding: 6px 8px; }
  .before-after .way { width: 30px; padding-inline: 2px; }
  .before-after .way svg { width: 26px; }
  .before-after .named { white-space: normal; }
  .fork { height: 32px; width: auto; }
}
`;

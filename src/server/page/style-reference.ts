/** The HTTP reference, on top of the page's own colours: a list at the side that stays, routes as cards, forms with what they were answered. */
export const REFERENCE = /* css */ `
.shelf { display: grid; grid-template-columns: 290px minmax(0, 1fr); gap: 26px; width: 100%; max-width: 1280px; margin: 0 auto; padding-inline: 20px; }
.reference main { padding: 18px 0 60px; max-width: none; margin: 0; }
#side { position: sticky; top: 57px; align-self: start; max-height: calc(100vh - 57px); overflow-y: auto; padding: 18px 8px 40px 0; }
#side .search { max-width: none; margin-bottom: 4px; }
#side .search input { padding-left: 12px; }
#found { min-height: 19px; }
#side h2 { margin: 14px 0 4px; }
#side h2 a { color: var(--text); }
#side li li a { display: block; padding: 3px 9px; border-radius: 6px; color: var(--muted); font-size: 12.5px; line-height: 1.35; overflow-wrap: anywhere; }
#side li li a:hover { background: var(--sunken); text-decoration: none; }
#side li li a[aria-current] { background: var(--accent-soft); color: var(--accent); }
#side code { display: none; font-size: 11px; }
#side li li a:hover code, #side li li a[aria-current] code, #side li li a:focus-visible code { display: block; }

.reference section > h2 { font-size: 20px; font-weight: 680; letter-spacing: -.015em; margin: 30px 0 10px; scroll-margin-top: 70px; }
.reference .lead { padding: 16px 20px; }
.lead h1 { font-size: 24px; letter-spacing: -.02em; margin-bottom: 6px; }
.lead .note { margin-top: 8px; }
.lead p a, .reference article p a, .wide td a { text-decoration: underline; text-underline-offset: 2px; }
.reference article { padding: 15px 20px 17px; margin-bottom: 14px; scroll-margin-top: 70px; }
.reference article:target { border-color: var(--accent); box-shadow: 0 0 0 1px var(--accent); }
.reference code:target { outline: 2px solid var(--accent); outline-offset: 3px; border-radius: 3px; }
.reference h3 { font-size: 15.5px; font-weight: 640; }
.reference h3 a { color: var(--text); }
.reference h3 a::after { content: " #"; color: var(--accent); opacity: 0; }
.reference h3 a:hover::after, .reference h3 a:focus-visible::after { opacity: 1; }
.call { margin: 3px 0 8px; overflow-wrap: anywhere; }
.call b { padding: 1px 7px; border-radius: 5px; background: var(--ok-soft); color: var(--ok); font-size: 11.5px; letter-spacing: .03em; }
.call b[data-method="POST"] { background: var(--info-soft); color: var(--info); }
.call b[data-method="DELETE"], .call b[data-method="PUT"] { background: var(--warn-soft); color: var(--warn); }
.wide { overflow-x: auto; margin-top: 10px; }
.wide table { width: 100%; border-collapse: collapse; font-size: 13px; }
.wide th { text-align: left; padding: 4px 14px 5px 0; color: var(--muted); font-size: 12px; font-weight: 550; border-bottom: 1px solid var(--edge); white-space: nowrap; }
.wide td { padding: 5px 14px 5px 0; vertical-align: top; border-bottom: 1px solid var(--edge); }
.wide tr:last-child td { border-bottom: 0; }
.wide td:first-child, .wide td:nth-child(2) { white-space: nowrap; }

.try { margin-top: 12px; padding: 12px 14px; border-radius: 8px; background: var(--sunken); }
.try .fields { display: grid; grid-template-columns: repeat(auto-fill, minmax(190px, 1fr)); gap: 8px 14px; margin-bottom: 10px; }
.try .fields:empty { display: none; }
.try label { display: grid; gap: 2px; color: var(--muted); font-size: 12px; }
.try .body { grid-column: 1 / -1; }
.try textarea { min-width: 0; padding: 7px 10px; border: 1px solid var(--edge-strong); border-radius: 7px; background: var(--surface); color: var(--text); font: 12.5px/1.5 var(--mono); resize: vertical; }
.try input { height: 32px; min-width: 0; padding: 0 10px; border: 1px solid var(--edge-strong); border-radius: 7px; background: var(--surface); color: var(--text); font: 12.5px var(--mono); }
.result { font-size: 12.5px; }
.result .asked { display: flex; gap: 4px; align-items: center; margin-top: 10px; overflow-wrap: anywhere; }
.result .told span { min-width: 0; overflow-wrap: anywhere; }
.result .told { display: flex; flex-wrap: wrap; gap: 4px 12px; margin-top: 8px; color: var(--muted); }
.result pre { margin: 8px 0 0; padding: 10px 12px; max-height: 340px; overflow: auto; border: 1px solid var(--edge); border-radius: 7px; background: var(--surface); font: 12px/1.55 var(--mono); white-space: pre-wrap; overflow-wrap: anywhere; }

@media (max-width: 860px) {
  .shelf { grid-template-columns: minmax(0, 1fr); gap: 0; padding-inline: 12px; }
  #side { position: static; max-height: 46vh; padding: 12px 0; border-bottom: 1px solid var(--edge); }
  .reference article, .reference .lead { padding-inline: 14px; }
}
`;

/**
 * How the reference looks: system fonts, one column, light and dark by the
 * reader's own setting. Served as a file: the content policy allows no other.
 */

export const REFERENCE_STYLE = `
:root { color-scheme: light dark; --ink: light-dark(#1b2430, #dfe6ee); --paper: light-dark(#ffffff, #11161d);
  --soft: light-dark(#f3f5f8, #1a212b); --line: light-dark(#d7dde5, #2c3643); --accent: light-dark(#0b62c4, #6cb2ff); }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 1.5rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 small { font-size: 1rem; font-weight: normal; opacity: 0.7; }
h2 { margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3 { margin-bottom: 0.25rem; overflow-wrap: anywhere; }
a { color: var(--accent); }
code { font-family: ui-monospace, monospace; font-size: 0.92em; }
nav ul { list-style: none; padding: 0; columns: 20rem 2; font-size: 0.9rem; }
nav li { break-inside: avoid; overflow-wrap: anywhere; }
article { margin: 2rem 0; scroll-margin-top: 1rem; }
article:target, code:target { outline: 2px solid var(--accent); outline-offset: 0.5rem; }
.wide { overflow-x: auto; margin: 0.75rem 0; }
table { border-collapse: collapse; width: 100%; font-size: 0.92rem; }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.75rem 0.35rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; background: var(--soft); }
`;

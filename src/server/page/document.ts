/**
 * The one document of the page: its landmarks and nothing in them. The scripts
 * fill `main`, according to what stands behind the # of the address.
 */

/** `base` is the path the files lie under, `modules` the names of the scripts that `main` imports, so that they come at once. */
export function documentOf(base: string, modules: readonly string[]): string {
  const preloads = modules.map((name) => `\n  <link rel="modulepreload" href="${base}/${name}">`).join('');
  return `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="color-scheme" content="light dark">
  <meta name="referrer" content="no-referrer">
  <title>Unspent</title>
  <link rel="icon" href="${base}/icon.svg" type="image/svg+xml">
  <link rel="stylesheet" href="${base}/uplot.css">
  <link rel="stylesheet" href="${base}/style.css">
  <script type="module" src="${base}/theme.js" blocking="render"></script>
  <script defer src="${base}/uplot.js"></script>
  <script type="module" src="${base}/main.js"></script>${preloads}
</head>
<body>
  <a class="skip" href="#main">Skip to the content</a>
  <header class="top">
    <div class="bar">
      <div class="named">
        <a class="brand" href="#/" aria-label="Unspent, overview"><img src="${base}/icon.svg" alt="" width="26" height="26"><span>Unspent</span></a>
        <span class="chip" id="network" hidden></span>
        <a class="chip" id="mempool" href="#/mempool" hidden>Mempool</a>
        <a class="chip" id="wallets" href="#/wallets" hidden>Wallets</a>
      </div>
      <form class="search" id="search" role="search">
        <label class="unseen" for="query">Search the chain</label>
        <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="8.5" cy="8.5" r="5.5"/><path d="m13 13 4.5 4.5"/></svg>
        <input id="query" type="search" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="search"
          placeholder="Address, tx#index, transaction, block" title="Press / to search">
        <kbd aria-hidden="true">/</kbd>
      </form>
      <div class="signs">
      <span class="line" id="line" role="status" data-state="connecting"><i aria-hidden="true"></i><span>connecting</span></span>
      <button class="quiet" id="theme" type="button" aria-label="Switch between dark and light" title="Dark or light">
        <svg viewBox="0 0 20 20" aria-hidden="true"><circle cx="10" cy="10" r="6.5"/><path class="half" d="M10 3.5a6.5 6.5 0 0 1 0 13z"/></svg>
      </button>
      </div>
    </div>
  </header>
  <main id="main" tabindex="-1">
    <noscript><p class="notice">This page draws itself with scripts. The same figures are at <a href="/api/v1/status">/api/v1/status</a>.</p></noscript>
  </main>
  <footer class="foot">
    <span id="version">Unspent</span>
    <nav aria-label="Elsewhere"><a href="/docs/">Documentation</a><a href="/docs/api">API reference</a><a href="/api/v1/status">Status as JSON</a><a href="/metrics">Metrics</a></nav>
  </footer>
</body>
</html>
`;
}

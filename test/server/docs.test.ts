/** The documentation site: every page is in it, every link inside it leads to a file of it, and the server shows the same. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import fastify from 'fastify';
import { readSections } from '../../src/server/docs/contents.ts';
import { renderMarkdown } from '../../src/server/docs/markdown.ts';
import { registerDocs } from '../../src/server/docs/route.ts';
import { DocsSite } from '../../src/server/docs/site.ts';
import { handleErrors } from '../../src/server/http/problem.ts';
import { Served } from '../support/served.ts';

const ROOT = join(import.meta.dirname, '../..');
/** What a reader's first search loads. */
const INDEX_BYTES_MAX = 400_000;

describe('the documentation site', () => {
  const site = new DocsSite();
  const pages = new Map<string, string>();

  before(async () => {
    for (const address of site.everyAddress.filter((each) => each.endsWith('.html'))) {
      pages.set(address, String((await site.read(address))?.body));
    }
  });

  test('has every page of docs/ once', () => {
    const listed = readSections().flatMap(({ files }) => files);
    assert.equal(new Set(listed).size, listed.length);
    const missing = globSync('docs/**/*.md', { cwd: ROOT }).filter((file) => !listed.includes(file));
    assert.deepEqual(missing, [], 'add them to src/server/docs/contents.ts');
  });

  test('links only to what it has', () => {
    for (const [address, html] of pages) {
      for (const [, target] of html.matchAll(/(?:href|src)="([^"]+)"/g)) {
        if (/^[a-z]+:/.test(target)) continue;
        const { pathname, hash } = new URL(target, `http://site/${address}`);
        const there = pathname.slice(1);
        assert.ok(site.everyAddress.includes(there), `${address} links to ${target}`);
        if (hash !== '')
          assert.ok(pages.get(there)?.includes(`id="${decodeURIComponent(hash.slice(1))}"`), `${address} links to ${target}`);
      }
    }
  });

  test('shows drawings as pictures, which say in words what they show, and never their source', () => {
    const page = pages.get('sql.html') ?? assert.fail('no such page');
    assert.match(page, /<img src="images\/sql-tables.svg" alt="[^"]{100,}" loading="lazy">/);
    for (const [address, html] of pages) assert.doesNotMatch(html, /language-mermaid/, `${address} shows the source of a drawing`);
  });

  test('sends a drawing under the policy of everything else: what is in it may load and run nothing', async () => {
    const served = await Served.open({ blocks: 1 });
    try {
      const { headers, body, statusCode } = await served.app.inject({ url: '/docs/images/sql-tables.svg', headers: { host: 'localhost' } });
      assert.deepEqual([statusCode, headers['content-type']], [200, 'image/svg+xml']);
      assert.match(String(headers['content-security-policy']), /^default-src 'self';/);
      assert.deepEqual([headers['x-content-type-options'], headers['cross-origin-resource-policy']], ['nosniff', 'same-origin']);
      assert.match(body, /^<svg [^>]*role="img"[^>]*>\n<title>/);
      assert.doesNotMatch(body, /<script|<foreignObject| on[a-z]+=|href=/i);
    } finally {
      await served.close();
    }
  });

  test('has the reference of the API as a page, in a folder', async () => {
    const folder = new DocsSite('<h1>routes</h1>');
    assert.ok(folder.everyAddress.includes('api.html') && !site.everyAddress.includes('api.html'));
    assert.equal((await folder.read('api.html'))?.body, '<h1>routes</h1>');
    assert.match(String((await folder.read('start/dapp.html'))?.body), /<a href="..\/api.html">Every route<\/a>/);
    assert.equal(await site.read('api.html'), null);
  });

  test('names the page that is shown, and its neighbours', () => {
    const page = pages.get('start/dapp.html') ?? assert.fail('no such page');
    assert.match(page, /<title>Quick start: a dApp · Unspent<\/title>/);
    assert.match(page, /<a href="dapp.html" aria-current="page">/);
    assert.match(page, /rel="prev" href="..\/concepts.html".*rel="next" href="wallet.html"/);
    assert.match(page, /<script src="..\/docs.js" data-up="..\/" defer>/);
    for (const name of ['>A dApp<', '>unspent/bitcoin<', '>15. Snapshots: a canonical export, and a store that begins with one<'])
      assert.ok(page.includes(name), name);
    assert.ok(!page.includes('<th></th>'), 'a header without words');
    assert.ok(!pages.get('operating.html')?.includes('<th></th>'), 'a header without words');
  });

  test('has an index in which every heading of every page is found', async () => {
    const script = String((await site.read('search-index.js'))?.body);
    const index = JSON.parse(/^globalThis\.unspentDocs\((.*)\);\n$/.exec(script)?.[1] ?? '') as [
      string,
      string,
      [string, string, string][],
    ][];
    assert.deepEqual(
      index.map(([address]) => address),
      [...pages.keys()],
    );
    const errors = index.find(([address]) => address === 'reference/errors.html') ?? assert.fail('no errors');
    assert.ok(errors[2].some(([, , text]) => text.includes('STORE_DAMAGED')));
  });

  test('is what the server shows at /docs/', async () => {
    const app = fastify();
    handleErrors(app, { onFailure: (error) => assert.fail(error) });
    registerDocs(app);
    assert.equal((await app.inject('/docs')).headers.location, '/docs/');
    assert.equal((await app.inject('/docs/')).body, pages.get('index.html'));
    for (const short of ['/docs/start/dapp', '/docs/start/dapp.md'])
      assert.equal((await app.inject(short)).headers.location, '/docs/start/dapp.html');
    assert.equal((await app.inject('/docs/reference/api/')).body, pages.get('reference/api/index.html'));
    assert.match((await app.inject('/docs/docs.js')).body, /unspentDocs/);
    assert.equal((await app.inject('/docs/images/page-light.png')).headers['content-type'], 'image/png');
    assert.equal((await app.inject('/docs/images/sql-tables.svg')).headers['content-type'], 'image/svg+xml');
    const index = await app.inject({ url: '/docs/search-index.js', headers: { 'accept-encoding': 'gzip, br' } });
    assert.equal(index.headers['content-encoding'], 'gzip');
    assert.ok(index.rawPayload.length < INDEX_BYTES_MAX, `the index of the search has ${index.rawPayload.length} bytes`);
    const again = { 'accept-encoding': 'gzip, br', 'if-none-match': String(index.headers.etag) };
    assert.equal((await app.inject({ url: '/docs/search-index.js', headers: again })).statusCode, 304, 'it is sent once');
    for (const url of ['/docs/nothing', '/<nothing>']) {
      const page = await app.inject({ url, headers: { accept: 'text/html,*/*;q=0.8' } });
      assert.deepEqual([page.statusCode, page.headers['content-type']], [404, 'text/html; charset=utf-8'], 'people get a page');
      assert.match(page.body, /no such page.*href="\/docs\/"/s);
      assert.doesNotMatch(page.body, /<nothing>/);
      assert.equal((await app.inject(url)).json<{ code: string }>().code, 'NO_ROUTE', 'programs get a problem');
    }
    for (const nothing of ['/docs/nothing.html', '/docs/../package.json', '/docs/images/..%2f..%2fpackage.json']) {
      assert.notEqual((await app.inject(nothing)).statusCode, 200, nothing);
    }
    await app.close();
  });
});

describe('Markdown', () => {
  const render = (text: string): string => renderMarkdown(text, (target) => (target === 'known.md' ? 'known.html' : null)).html;

  test('is escaped, also in code and in the text of links', () => {
    assert.equal(render('`<b>` & "x"'), '<p><code>&lt;b&gt;</code> &amp; &quot;x&quot;</p>\n');
    assert.equal(render('```sh elsewhere\na < b\n```'), '<pre tabindex="0"><code class="language-sh">a &#60; b\n</code></pre>\n');
    assert.equal(render('<script>alert(1)</script>'), '');
  });

  test('keeps the text of a link to what the site does not have', () => {
    assert.equal(render('[a](known.md) and [b](../src/x.ts)'), '<p><a href="known.html">a</a> and b</p>\n');
  });

  test('has headings that can be linked to', () => {
    const { headings, title } = renderMarkdown('# The `one` idea\n\nText.\n\n## What, then?\n', () => null);
    assert.equal(title, 'The one idea');
    assert.deepEqual(headings[1], { depth: 2, text: 'What, then?', anchor: 'what-then' });
  });
});

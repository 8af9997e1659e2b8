/**
 * The reference at /docs/api: the OpenAPI document as a page a person can read, with a list at
 * the side, a search, and forms that ask this very server. Made once; it reads as
 * well without scripts, and nothing on it comes from elsewhere.
 */
import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../http/escape-html.ts';
import { REFERENCE_PATH } from '../http/problem.ts';
import { type PageFile, type PageFiles, pageFile } from '../page/assets.ts';
import { sendPageFile } from '../page/route.ts';
import { STYLE } from '../page/style.ts';
import { REFERENCE } from '../page/style-reference.ts';
import { API } from './openapi.ts';
import { type Document, linkTo, problemTable, prose, type Route, routePart, schemaPart } from './reference-parts.ts';

/** `load` gives the files of the page, whose style and scripts it shares. */
export function registerReference(app: FastifyInstance, load: () => Promise<PageFiles>): void {
  const options = { schema: { hide: true }, config: { withoutToken: true } };
  let page: PageFile | undefined;
  app.get(REFERENCE_PATH, options, async (request, reply) => {
    const { digest } = await load();
    page ??= pageFile('text/html; charset=utf-8', referencePage(app.swagger() as unknown as Document, served(`/page/${digest}`)));
    return sendPageFile(page, request, reply);
  });
}

/** What stands around the routes, and where its links lead. */
interface Around {
  readonly head: string;
  readonly icon: string;
  readonly home: string;
  readonly note: string;
  /** Whether there is a server that can be asked. */
  readonly isTried: boolean;
}

function served(base: string): Around {
  const sheets = ['style', 'reference'].map((name) => `<link rel="stylesheet" href="${base}/${name}.css">`).join('');
  const scripts = `<script type="module" src="${base}/theme.js" blocking="render"></script><script type="module" src="${base}/reference.js"></script>`;
  const note = `Forms ask this server, with values that its store has: an example is what it answers now. <a href="${API}/openapi.json">openapi.json</a>, <a href="/docs/">documentation</a>`;
  return { head: `${sheets}\n${scripts}`, icon: `${base}/icon.svg`, home: '/', note, isTried: true };
}

/** The same as a page of the documentation in a folder: it asks nobody, and needs no other file than the icon. */
export function folderReference(document: unknown): string {
  const note = `A server of yours has this page with forms that ask it, at <code>${REFERENCE_PATH}</code>. <a href="index.html">Documentation</a>`;
  return referencePage(document as Document, {
    head: `<style>${STYLE}${REFERENCE}</style>`,
    icon: 'icon.svg',
    home: 'index.html',
    note,
    isTried: false,
  });
}

function referencePage({ info, tags, paths, components }: Document, { head, icon, home, note, isTried }: Around): string {
  const found = Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
  const places = new Map(tags.map(({ name }, place) => [name, place]));
  const placeOf = ({ operation }: Route): number => places.get(operation.tags?.[0] ?? '') ?? tags.length;
  const routes = found.toSorted((a, b) => placeOf(a) - placeOf(b));
  const byTag = [...Map.groupBy(routes, ({ operation }) => operation.tags?.[0] ?? 'More')];
  const sections = byTag.map(
    ([tag, own]) =>
      `<section><h2 id="tag-${anchor(tag)}">${escapeHtml(tag)}</h2>${own.map((route) => routePart(route, isTried)).join('')}</section>`,
  );
  const groups = byTag.map(
    ([tag, own]) => `<li><h2><a href="#tag-${anchor(tag)}">${escapeHtml(tag)}</a></h2><ul>${own.map(linkTo).join('')}</ul></li>`,
  );
  const names = Object.entries(components.schemas);
  const documents = names.map(
    ([name]) =>
      `<li data-words="${escapeHtml(name.toLowerCase())}"><a href="#schema-${escapeHtml(name)}"><span>${escapeHtml(name)}</span></a></li>`,
  );
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer"><title>${escapeHtml(info.title)} HTTP reference</title>
<link rel="icon" href="${icon}" type="image/svg+xml">${head}</head>
<body class="reference"><a class="skip" href="#content">Skip to the content</a>
<header class="top"><div class="bar"><div class="named"><a class="brand" href="${home}" aria-label="Unspent, overview"><img src="${icon}" alt="" width="26" height="26"><span>${escapeHtml(info.title)}</span></a>
<span class="chip">HTTP reference</span><span class="chip">${escapeHtml(info.version)}</span></div></div></header>
<div class="shelf"><nav aria-label="Routes" id="side"><form class="search" role="search" id="find" hidden><label class="unseen" for="words">Search routes</label>
<input id="words" type="search" autocomplete="off" spellcheck="false" placeholder="Search routes" title="Press / to search"><kbd aria-hidden="true">/</kbd></form>
<p class="note" id="found" role="status"></p><ul class="groups">${groups.join('')}<li><h2><a href="#documents">Documents</a></h2><ul>${documents.join('')}</ul></li>
<li><h2><a href="#problems">Problems</a></h2></li></ul></nav>
<main id="content" tabindex="-1"><section class="card lead"><h1>HTTP reference</h1><p>${prose(info.description)}</p>
<p class="note">${note}</p></section>
${sections.join('')}
<section><h2 id="documents">Documents</h2>${names.map(([name, schema]) => schemaPart(name, schema)).join('')}</section>
<section><h2 id="problems">Problems</h2><div class="card lead"><p>A failure is a problem document with one of these codes.</p>${problemTable()}</div></section></main></div>
</body></html>`;
}

function anchor(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '-');
}

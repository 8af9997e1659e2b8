/** For people who follow a link, or type an address, that leads nowhere: where they can go instead. Programs get a problem document. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { escapeHtml } from './escape-html.ts';

/** A browser that opens a page says that it wants one; `fetch` and commands do not. */
export function isSomebodyLooking({ method, headers }: FastifyRequest): boolean {
  return method === 'GET' && /\btext\/html\b/.test(headers.accept ?? '');
}

export function sendNotFoundPage(reply: FastifyReply, what: string): FastifyReply {
  return reply
    .code(404)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>Not found · Unspent</title><link rel="icon" href="/docs/icon.svg" type="image/svg+xml"><link rel="stylesheet" href="/docs/docs.css"></head>
<body><header class="top"><a class="brand" href="/">Unspent</a></header>
<div class="frame alone"><main><h1>There is no such page</h1><p>${escapeHtml(what)}.</p>
<ul><li><a href="/">The chain, and how the server is</a></li><li><a href="/docs/">The documentation</a></li><li><a href="/docs/api">The reference of the HTTP API</a></li></ul></main></div>
</body></html>
`);
}

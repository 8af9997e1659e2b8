/**
 * The page at `/`: one document and its files, all of them static. Nothing here
 * reads the store, so nothing here needs the token; the page asks for what it
 * shows like any other client.
 *
 * The files lie under a digest of their contents and may be kept for ever; the
 * document, which names them, is asked for again each time.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { UnspentError } from '../../util/errors.ts';
import { isKnownTo, setValidator } from '../http/read-answer.ts';
import { PAGE_CONTENT_POLICY } from '../http/safety.ts';
import { type PageFile, type PageFiles, readPage } from './assets.ts';

const FOR_EVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

/** Returns what reads the files, for other pages that share them. */
export function registerPage(app: FastifyInstance): () => Promise<PageFiles> {
  // Read with the first request for it, because most servers are asked by programs only.
  let page: Promise<PageFiles> | undefined;
  const load = (): Promise<PageFiles> => {
    page ??= readPage();
    return page;
  };
  const options = { schema: { hide: true }, config: { withoutToken: true } };
  app.get('/', options, async (request, reply) => {
    reply.header('content-security-policy', PAGE_CONTENT_POLICY);
    return sendPageFile((await load()).document, request, reply);
  });
  app.get<{ Params: { digest: string; name: string } }>('/page/:digest/:name', options, async (request, reply) => {
    const { digest, name } = request.params;
    const { assets, digest: ours } = await load();
    const asset = assets.get(name);
    if (asset === undefined) throw new UnspentError('NO_ROUTE', `the page has no file '${name.slice(0, 40)}'`);
    // A page from before an update still finds its files, but must not take the new ones for its own.
    return sendPageFile(asset, request, reply, digest === ours ? FOR_EVER : ASK_AGAIN);
  });
  return load;
}

/** Compressed for whoever takes it so, and not at all for whoever has it. */
export function sendPageFile(
  { type, body, gzip, etag }: PageFile,
  request: FastifyRequest,
  reply: FastifyReply,
  cache = ASK_AGAIN,
): FastifyReply {
  const isSmall = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(request.headers['accept-encoding'] ?? '');
  // Bytes that differ have validators that differ.
  const validator = isSmall ? etag.replace(/"$/, '-gzip"') : etag;
  setValidator(reply, validator, cache);
  const vary = reply.getHeader('vary');
  reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`);
  if (isKnownTo(request, validator)) return reply.code(304).send();
  if (isSmall) reply.header('content-encoding', 'gzip');
  return reply.type(type).send(isSmall ? gzip : body);
}

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

export function registerPage(app: FastifyInstance): void {
  // Read with the first request for it, because most servers are asked by programs only.
  let page: Promise<PageFiles> | undefined;
  const load = (): Promise<PageFiles> => {
    page ??= readPage();
    return page;
  };
  const options = { schema: { hide: true }, config: { withoutToken: true } };
  app.get('/', options, async (request, reply) => {
    reply.header('content-security-policy', PAGE_CONTENT_POLICY);
    return send((await load()).document, ASK_AGAIN, request, reply);
  });
  app.get<{ Params: { digest: string; name: string } }>('/page/:digest/:name', options, async (request, reply) => {
    const { digest, name } = request.params;
    const { assets, digest: ours } = await load();
    const asset = assets.get(name);
    if (asset === undefined) throw new UnspentError('NO_ROUTE', `the page has no file '${name.slice(0, 40)}'`);
    // A page from before an update still finds its files, but must not take the new ones for its own.
    return send(asset, digest === ours ? FOR_EVER : ASK_AGAIN, request, reply);
  });
}

function send({ type, body, etag }: PageFile, cache: string, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  setValidator(reply, etag, cache);
  if (isKnownTo(request, etag)) return reply.code(304).send();
  return reply.type(type).send(body);
}

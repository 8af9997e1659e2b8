/**
 * The documentation at `/docs/`: the same site that `npm run docs:site` writes
 * into a folder, made as it is asked for. It says nothing of the store, so it
 * needs no token.
 */
import type { FastifyInstance } from 'fastify';
import { UnspentError } from '../../util/errors.ts';
import { DocsSite } from './site.ts';

export function registerDocs(app: FastifyInstance): void {
  const options = { schema: { hide: true }, config: { withoutToken: true } };
  let site: DocsSite | undefined;
  app.get('/docs', options, (_request, reply) => reply.redirect('/docs/'));
  app.get<{ Params: { '*': string } }>('/docs/*', options, async ({ params }, reply) => {
    site ??= new DocsSite();
    const address = params['*'];
    // As people write it, and as the files are called in the repository.
    const page = `${address.replace(/\.md$/, '')}.html`;
    if (!site.everyAddress.includes(address) && site.everyAddress.includes(page)) return reply.redirect(`/docs/${page}`);
    const file = await site.read(address === '' || address.endsWith('/') ? `${address}index.html` : address);
    if (file === null) throw new UnspentError('NO_ROUTE', `the documentation has no page '${address.slice(0, 80)}'; it begins at /docs/`);
    return reply.header('cache-control', 'no-cache').type(file.type).send(file.body);
  });
}

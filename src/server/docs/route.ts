/**
 * The documentation at `/docs/`: the same site that `npm run docs:site` writes
 * into a folder. A file of it is made when it is first asked for, and kept as it
 * is sent. It says nothing of the store, so it needs no token.
 */
import type { FastifyInstance } from 'fastify';
import { UnspentError } from '../../util/errors.ts';
import { type PageFile, pageFile } from '../page/assets.ts';
import { sendPageFile } from '../page/route.ts';
import { DocsSite } from './site.ts';

export function registerDocs(app: FastifyInstance): void {
  const options = { schema: { hide: true }, config: { withoutToken: true } };
  let site: DocsSite | undefined;
  const files = new Map<string, PageFile>();
  const read = async (address: string): Promise<PageFile> => {
    const known = files.get(address);
    if (known !== undefined) return known;
    const file = await site?.read(address);
    if (file === undefined || file === null)
      throw new UnspentError('NO_ROUTE', `the documentation has no page '${address.slice(0, 80)}'; it begins at /docs/`);
    const ready = pageFile(file.type, file.body);
    files.set(address, ready);
    return ready;
  };
  app.get('/docs', options, (_request, reply) => reply.redirect('/docs/'));
  app.get<{ Params: { '*': string } }>('/docs/*', options, async (request, reply) => {
    site ??= new DocsSite();
    const address = request.params['*'];
    // As people write it, and as the files are called in the repository.
    const page = `${address.replace(/\.md$/, '')}.html`;
    if (!site.everyAddress.includes(address) && site.everyAddress.includes(page)) return reply.redirect(`/docs/${page}`);
    const file = await read(address === '' || address.endsWith('/') ? `${address}index.html` : address);
    return sendPageFile(file, request, reply);
  });
}

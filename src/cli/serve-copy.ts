/** `serve --from`: a published copy over HTTP, without a store. */
import { openNetworkSource } from '../families/open-source.ts';
import { renderPoint } from '../query/render.ts';
import { UnspentError } from '../util/errors.ts';
import { withoutSecret } from '../util/secret.ts';
import type { Context } from './context.ts';
import { pointText } from './format.ts';
import { aborted, onAbort } from './interrupt.ts';
import { listenSomewhere } from './start-server.ts';

interface CopyFlags {
  readonly from?: string;
  readonly source?: readonly string[];
}

/** Null: a store is served. Throws USAGE. */
export function copyUrl({ options, settings }: Context): string | null {
  const { from, source } = options as CopyFlags;
  const url = from ?? settings.config.server.from;
  if (url !== '') return url;
  if (source !== undefined) throw new UnspentError('USAGE', 'serve follows nothing: --source goes with --from, and start follows a source');
  return null;
}

export async function servePublished(context: Context, url: string): Promise<void> {
  const { output, log, stop, settings } = context;
  const { source: sources } = context.options as CopyFlags;
  onAbort(stop, () => log.info('cli', 'stopping', 'stopping; once more to end at once'));
  const { serveCopy } = await import('../server/serve-copy.ts');
  const node =
    sources === undefined ? {} : { source: (network: Parameters<typeof openNetworkSource>[1]) => openNetworkSource(sources, network) };
  const served = await listenSomewhere(context, (place) => serveCopy(url, { config: settings.config, log, ...node, ...place }));
  try {
    const { network, copy } = served;
    const head = served.head();
    if (output.json)
      output.document({
        url: served.url,
        from: withoutSecret(url),
        network: network.name,
        change: copy.head.seq,
        point: renderPoint(head, network.dialect),
      });
    else
      output.pairs([
        ['page', served.url],
        ['api', `${served.url}api/v1/`],
        ['copy', `${withoutSecret(url)}, ${pointText(head, network.dialect)}; Ctrl-C stops`],
      ]);
    await Promise.race([aborted(stop), served.ended]);
  } finally {
    await served.close();
  }
  throw new UnspentError('INTERRUPTED', 'stopped serving');
}

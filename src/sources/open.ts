/**
 * From a source's URL to the source: the one place that knows the schemes.
 */
import { UnspentError } from '../util/errors.ts';
import { openDevnet } from './devnet/index.ts';
import { openImmutable } from './immutable/index.ts';
import type { Source } from './source.ts';

/** What a source needs to know of the network it serves. */
export interface SourceNetwork {
  readonly parameters: { readonly byronEpochSlots: number };
}

export const SOURCE_SCHEMES = ['immutable:PATH', 'devnet:?blocks=N&seed=N'] as const;

export function openSource(url: string, network: SourceNetwork): Source {
  const colon = url.indexOf(':');
  const scheme = colon < 0 ? '' : url.slice(0, colon);
  if (scheme === 'immutable') return openImmutable(url.slice(colon + 1), { byronEpochSlots: network.parameters.byronEpochSlots });
  if (scheme === 'devnet') return openDevnet(url);
  throw new UnspentError('SOURCE_UNKNOWN', `'${url}' is not a source; there are ${SOURCE_SCHEMES.join(', ')}`, { url });
}

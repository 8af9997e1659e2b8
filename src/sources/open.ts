/**
 * From a source's URL to the source: the one place that knows the schemes.
 */
import { UnspentError } from '../util/errors.ts';
import { openDevnet } from './devnet/index.ts';
import { openImmutable } from './immutable/index.ts';
import { type OuroborosSource, openOuroboros } from './ouroboros/index.ts';
import type { Source } from './source.ts';

/** What a source needs to know of the network it serves. */
export interface SourceNetwork {
  readonly parameters: {
    readonly byronEpochSlots: number;
    /** Needed to talk to a live node; unknown until the store is open. */
    readonly magic?: number;
  };
}

export const SOURCE_SCHEMES = ['immutable:PATH', 'n2n://HOST:PORT', 'n2c:PATH', 'devnet:?blocks=N&seed=N'] as const;

/** Several URLs are nodes of the same chain: when one fails, the next is tried. */
export function openSource(urls: string | readonly string[], network: SourceNetwork): Source {
  const [url, ...others] = typeof urls === 'string' ? [urls] : urls;
  if (others.length === 0) return openOne(url, network);
  if (![url, ...others].every(isNode)) throw new UnspentError('USAGE', 'only nodes (n2n://HOST:PORT, n2c:PATH) can be several sources');
  return openNodes([url, ...others], network);
}

function isNode(url: string): boolean {
  return /^n2[nc]:/.test(url);
}

function openOne(url: string, network: SourceNetwork): Source {
  const colon = url.indexOf(':');
  const scheme = colon < 0 ? '' : url.slice(0, colon);
  if (scheme === 'immutable') return openImmutable(url.slice(colon + 1), { byronEpochSlots: network.parameters.byronEpochSlots });
  if (scheme === 'devnet') return openDevnet(url);
  if (isNode(url)) return openNodes([url], network);
  throw new UnspentError('SOURCE_UNKNOWN', `'${url}' is not a source; there are ${SOURCE_SCHEMES.join(', ')}`, { url });
}

function openNodes(urls: readonly string[], { parameters }: SourceNetwork): OuroborosSource {
  return openOuroboros(urls, { magic: parameters.magic ?? 0, byronEpochSlots: parameters.byronEpochSlots });
}

/**
 * From a source's URL to the source: the one place that knows the schemes, and
 * which family of chains each of them serves.
 */

import { openDevnet } from '../chains/cardano/devnet/index.ts';
import type { BitcoinNetwork } from '../ledgers/bitcoin/index.ts';
import { openBlk } from '../sources/bitcoin/blk/index.ts';
import { openP2p } from '../sources/bitcoin/p2p/index.ts';
import { openRpc } from '../sources/bitcoin/rpc/index.ts';
import { openImmutable } from '../sources/cardano/immutable/index.ts';
import { openOuroboros } from '../sources/cardano/ouroboros/index.ts';
import type { PeerStatus } from '../sources/peer.ts';
import type { Source } from '../sources/source.ts';
import { UnspentError } from '../util/errors.ts';
import { withoutSecret } from '../util/secret.ts';

/** What a source needs to know of the network it serves. */
export type SourceNetwork =
  | { readonly family: 'cardano'; readonly name: string; readonly parameters: { readonly byronEpochSlots: number; readonly magic: number } }
  | { readonly family: 'bitcoin'; readonly name: string; readonly parameters: BitcoinNetwork };

export interface SourceOptions {
  /** Told whenever the connection to a node changes. */
  readonly onPeer?: ((status: PeerStatus) => void) | undefined;
}

/** `nodes`: several of them may be given, of the same chain; when one fails, the next is tried. */
const SCHEMES: Readonly<Record<string, { readonly form: string; readonly family: SourceNetwork['family']; readonly nodes?: true }>> = {
  immutable: { form: 'immutable:PATH', family: 'cardano' },
  n2n: { form: 'n2n://HOST:PORT', family: 'cardano', nodes: true },
  n2c: { form: 'n2c:PATH', family: 'cardano', nodes: true },
  devnet: { form: 'devnet:?blocks=N&seed=N', family: 'cardano' },
  p2p: { form: 'p2p://HOST:PORT', family: 'bitcoin', nodes: true },
  rpc: { form: 'rpc://USER:PASSWORD@HOST:PORT', family: 'bitcoin' },
  rpcs: { form: 'rpcs://USER:PASSWORD@HOST:PORT?cert=FILE', family: 'bitcoin' },
  blk: { form: 'blk:PATH', family: 'bitcoin' },
};

export const SOURCE_SCHEMES: readonly string[] = Object.values(SCHEMES).map(({ form }) => form);

/** The source that makes its own chain, where the URL names one; null for all others, whose network must be known to open them. Throws SOURCE_UNKNOWN. */
export function openEmbedded(urls: readonly string[]): Source | null {
  const [scheme] = checkUrls(urls);
  return scheme === 'devnet' ? openDevnet(urls[0]) : null;
}

/** Throws SOURCE_UNKNOWN, and USAGE where the source cannot be of this network. */
export function openSource(given: string | readonly string[], network: SourceNetwork, options: SourceOptions = {}): Source {
  const urls = typeof given === 'string' ? [given] : given;
  for (const scheme of checkUrls(urls)) checkFamily(scheme, network);
  const [url] = urls;
  const path = url.slice(url.indexOf(':') + 1);
  if (network.family === 'bitcoin') {
    if (url.startsWith('p2p:')) return openP2p(urls, network.parameters, options);
    return /^rpcs?:/.test(url) ? openRpc(url, network.parameters, options) : openBlk(path, network.parameters);
  }
  const { byronEpochSlots, magic } = network.parameters;
  if (url.startsWith('immutable:')) return openImmutable(path, { byronEpochSlots });
  if (url.startsWith('devnet:')) return openDevnet(url);
  return openOuroboros(urls, { magic, byronEpochSlots, ...options });
}

/** The scheme of each. */
function checkUrls(urls: readonly string[]): string[] {
  const schemes = urls.map(schemeOf);
  if (schemes.length > 1 && !schemes.every((scheme) => SCHEMES[scheme].nodes && SCHEMES[scheme].family === SCHEMES[schemes[0]].family)) {
    throw new UnspentError('USAGE', 'only nodes of one chain can be several sources: n2n://HOST:PORT and n2c:PATH, or p2p://HOST:PORT');
  }
  return schemes;
}

function schemeOf(url: string): string {
  const scheme = /^([a-z0-9]+):/.exec(url)?.[1] ?? '';
  if (Object.hasOwn(SCHEMES, scheme)) return scheme;
  // It may be a mistyped one with a password in it.
  const shown = withoutSecret(url);
  throw new UnspentError('SOURCE_UNKNOWN', `'${shown}' is not a source; there are ${SOURCE_SCHEMES.join(', ')}`, { url: shown });
}

function checkFamily(scheme: string, { family, name }: SourceNetwork): void {
  if (SCHEMES[scheme].family === family) return;
  const fitting = Object.values(SCHEMES).filter((entry) => entry.family === family);
  const forms = fitting.map(({ form }) => form).join(', ');
  throw new UnspentError('USAGE', `${scheme}: cannot be a source of '${name}'; its sources are ${forms}`, { scheme, network: name });
}

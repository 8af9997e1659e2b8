/**
 * From a source's URL to the source. Which kinds there are the descriptors say;
 * a new one is a folder below `sources/` and a line in its family's table.
 */
import type { Source } from '../sources/source.ts';
import { UnspentError } from '../util/errors.ts';
import { withoutSecret } from '../util/secret.ts';
import { suggest } from '../util/suggest.ts';
import type { Family, Network, SourceKind, SourceOptions } from './family.ts';
import { FAMILIES } from './networks.ts';

/** What a source needs to know of the network it serves. */
type SourceNetwork = Pick<Network, 'name' | 'family' | 'parameters'>;

interface FamilySource {
  readonly kind: SourceKind;
  readonly family: Family;
}

const KINDS: readonly FamilySource[] = FAMILIES.flatMap((family) => family.sources.map((kind) => ({ kind, family })));

const BY_SCHEME: ReadonlyMap<string, FamilySource> = new Map(
  KINDS.flatMap((source) => source.kind.forms.map((form) => [form.slice(0, form.indexOf(':')), source] as const)),
);

/** The form of every URL that is understood. */
export const SOURCE_FORMS: readonly string[] = KINDS.flatMap(({ kind }) => kind.forms);

/** A source that makes its own chain, and the network that chain is of. */
export interface EmbeddedSource {
  readonly source: Source;
  readonly network: string;
}

/** Null where the URLs name a source that serves another's chain: its network must be known to open it. Throws SOURCE_UNKNOWN. */
export function openEmbedded(urls: readonly string[]): EmbeddedSource | null {
  const { kind, family } = kindOf(urls);
  const network = family.networks.find(({ name }) => name === kind.makes);
  return network === undefined ? null : { source: openKind(kind, urls, network, {}), network: network.name };
}

/** Whose blocks come from there. Throws SOURCE_UNKNOWN. */
export function familyOfSource(urls: readonly string[]): Family {
  return kindOf(urls).family;
}

/** Throws SOURCE_UNKNOWN, and USAGE where the source cannot be of this network. */
export function openNetworkSource(given: string | readonly string[], network: SourceNetwork, options: SourceOptions = {}): Source {
  const urls = typeof given === 'string' ? [given] : given;
  const { kind, family } = kindOf(urls);
  if (family !== network.family) throw wrongNetwork(schemeOf(urls[0]), network);
  return openKind(kind, urls, network.parameters, options);
}

function openKind(kind: SourceKind, urls: readonly string[], parameters: SourceNetwork['parameters'], options: SourceOptions): Source {
  const [url] = urls;
  return kind.open(urls, parameters, { ...options, path: url.slice(url.indexOf(':') + 1) });
}

/** The one kind that all of the URLs are of. */
function kindOf(urls: readonly string[]): FamilySource {
  if (urls.length === 0) throw new UnspentError('USAGE', 'no source was given');
  const [first, ...others] = urls.map(sourceAt);
  if (others.length > 0 && !(first.kind.several && others.every(({ kind }) => kind === first.kind))) {
    const forms = KINDS.filter(({ kind }) => kind.several).map(({ kind }) => kind.forms.join(' and '));
    throw new UnspentError('USAGE', `only nodes of one chain can be several sources: ${forms.join(', or ')}`);
  }
  return first;
}

function schemeOf(url: string): string {
  return /^([a-z0-9]+):/.exec(url)?.[1] ?? '';
}

function sourceAt(url: string): FamilySource {
  const found = BY_SCHEME.get(schemeOf(url));
  if (found !== undefined) return found;
  // It may be a mistyped one with a password in it.
  const shown = withoutSecret(url);
  throw new UnspentError('SOURCE_UNKNOWN', `'${shown}' is not a source; there are ${SOURCE_FORMS.join(', ')}${meantBy(shown)}`, {
    url: shown,
  });
}

/** What somebody may have meant: a scheme that is mistyped, or a path or an address without one. */
function meantBy(url: string): string {
  const scheme = /^([a-z0-9-]+):/i.exec(url)?.[1];
  const rest = url.slice((scheme?.length ?? -1) + 1);
  const near = scheme === undefined ? undefined : suggest(scheme, BY_SCHEME.keys());
  if (near !== undefined) return `; did you mean '${near}:${rest}'?`;
  if (/^(https?:)?\/\/[^/]+|^(\[[0-9a-f:]+\]|[\w.-]+):\d{1,5}$/i.test(url)) {
    const host = url.replace(/^(https?:)?\/\//, '').replace(/\/$/, '');
    return `; did you mean 'n2n://${host}' (Cardano), or 'p2p://${host}' or 'rpc://USER:PASSWORD@${host}' (Bitcoin family)?`;
  }
  if (scheme === undefined && /[/\\]|^\.{1,2}$/.test(url))
    return `; did you mean 'immutable:${url}' or 'n2c:${url}' (Cardano), or 'blk:${url}' (Bitcoin family)?`;
  return '';
}

function wrongNetwork(scheme: string, { name, family }: SourceNetwork): UnspentError {
  const forms = family.sources.flatMap((kind) => kind.forms).join(', ');
  return new UnspentError('USAGE', `${scheme}: cannot be a source of '${name}'; its sources are ${forms}`, { scheme, network: name });
}

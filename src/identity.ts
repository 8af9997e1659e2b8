/**
 * What a store remembers about itself in unspent.json, and what it should be:
 * from the settings where it is new, from what it remembers where it is not.
 */
import type { Config } from './config/schema.ts';
import { checkNetwork, type Identity, SCHEMA_VERSION } from './engine/directory.ts';
import { type Network, networkNames, openNetwork, withoutGenesis } from './networks.ts';
import type { Shape } from './shape.ts';
import { type GenesisTexts, readGenesisFiles } from './sources/genesis-files.ts';
import { UnspentError } from './util/errors.ts';
import { VERSION } from './version.ts';

interface StoreFacts extends Identity {
  readonly family: string;
  readonly parameters: Network['parameters'];
  readonly partial: boolean;
  readonly selfContained: boolean;
  readonly createdBy: string;
  /** Only while a snapshot is being imported: what is there is not a store yet. */
  readonly importing?: true;
}

export interface StoreIdentity extends StoreFacts, Shape {}

interface Wishes {
  readonly data: string;
  readonly config: Config;
  readonly network?: string | undefined;
  readonly genesis?: string | GenesisTexts | undefined;
  readonly partial?: boolean | undefined;
  /** Of a private network whose genesis files are not at hand. */
  readonly parameters?: Network['parameters'] | undefined;
}

/** Everything but the shape. `existing` null: of a store that is to be made. */
export function wantedFacts(existing: StoreIdentity | null, wishes: Wishes): { facts: StoreFacts; network: Network } {
  const { config } = wishes;
  const name = networkName(existing, wishes);
  const given = wishes.genesis ?? config.genesis;
  const texts = typeof given === 'string' ? (given === '' ? null : readGenesisFiles(given, name)) : given;
  const partial = existing?.partial || (wishes.partial ?? false);
  const hasRange = existing === null ? config.utxo.store === 'mmr' : existing.projections.includes('mmr');
  if (partial && hasRange) throw rangeNeedsAll();
  const found = openNetwork(name, texts, existing?.parameters ?? wishes.parameters);
  const network = partial && !found.hasGenesis ? withoutGenesis(found) : found;
  const { selfContained } = config.utxo.delta;
  if (existing !== null && existing.selfContained !== selfContained) {
    throw new UnspentError('STORE_SHAPE', `the store was made with utxo.delta.selfContained = ${existing.selfContained}`);
  }
  const facts = {
    ...{ schema: SCHEMA_VERSION, network: name, family: network.family, parameters: network.parameters },
    ...{ partial, selfContained, createdBy: `unspent ${VERSION}` },
  };
  return { facts, network };
}

function networkName(existing: StoreIdentity | null, { data, config, network }: Wishes): string {
  const name = network ?? config.network;
  if (existing !== null) {
    if (name !== '') checkNetwork(existing, name);
    return existing.network;
  }
  if (name !== '') return name;
  throw new UnspentError(
    'NETWORK_NEEDED',
    `there is no store in ${data} yet, and no network was named; there are ${networkNames().join(', ')}`,
  );
}

function rangeNeedsAll(): UnspentError {
  return new UnspentError(
    'UNSUPPORTED',
    'a mountain range stands on every block from the first: a partial store cannot keep one (utxo.store)',
  );
}

export function genesisNeeded({ name }: Network): UnspentError {
  return new UnspentError('GENESIS_NEEDED', `the genesis of '${name}' is not built in, and the store is empty`, {
    network: name,
  });
}

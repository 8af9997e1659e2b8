/**
 * What a store remembers about itself in unspent.json, and what it should be:
 * from the settings where it is new, from what it remembers where it is not.
 */
import type { Config } from '../config/schema.ts';
import { checkNetwork, type Identity, SCHEMA_VERSION } from '../engine/directory.ts';
import type { EngineFactory } from '../engine/engine.ts';
import type { Network } from '../families/family.ts';
import { familyOfNetwork, networkNames, openNetwork } from '../families/networks.ts';
import type { GenesisTexts } from '../sources/source.ts';
import type { Windows } from '../state/pruned.ts';
import { txsSettings } from '../txstore/chain/entry.ts';
import type { TxStoreSettings } from '../txstore/store.ts';
import { UnspentError } from '../util/errors.ts';
import { VERSION } from '../util/version.ts';
import { withBlueprint } from './cardano/cage-blueprint.ts';
import { type AllowedChanges, type StoreSettings, settingsOf } from './settings.ts';
import type { Shape } from './shape.ts';

interface StoreFacts extends Identity {
  readonly family: string;
  readonly parameters: Network['parameters'];
  readonly partial: boolean;
  readonly selfContained: boolean;
  /** How far below the tip it keeps what it takes to go back. */
  readonly windows: Windows;
  /** How long it keeps records of transactions; absent: it keeps none. */
  readonly txs?: TxStoreSettings;
  readonly createdBy: string;
  /** It has had a block: from then on it has a database (begun.ts). */
  readonly begun?: true;
  /** The name of the program's own engine, where it was made with one. */
  readonly engine?: string;
  /** Only while a snapshot is being imported, or a backup restored: what is there is not a store yet. */
  readonly importing?: true | 'backup';
  /** Only while it is being upgraded: the schema that its rows may still have. */
  readonly upgrading?: { readonly from: number };
  /** While a backup is being restored: files beside the store that came with it. */
  readonly besides?: readonly string[];
}

export interface StoreIdentity extends StoreFacts, Shape {}

export interface StoreRequest {
  readonly data: string;
  readonly config: Config;
  readonly network?: string | undefined;
  readonly genesis?: string | GenesisTexts | undefined;
  readonly partial?: boolean | undefined;
  /** Of the program's own. */
  readonly engine?: EngineFactory | undefined;
  /** Of a private network whose genesis files are not at hand. */
  readonly parameters?: Network['parameters'] | undefined;
}

/** What a store should be, but for its shape. */
export interface StorePlan extends StoreSettings {
  readonly facts: StoreFacts;
  readonly network: Network;
}

/** `existing` null: of a store that is to be made. Throws STORE_NETWORK, STORE_SHAPE, GENESIS_WRONG and what else cannot be. */
export function planStore(existing: StoreIdentity | null, wishes: StoreRequest, may: AllowedChanges): StorePlan {
  const name = networkName(existing, wishes);
  const given = wishes.genesis ?? wishes.config.genesis;
  const texts = typeof given === 'string' ? (given === '' ? null : familyOfNetwork(name).readGenesis(given, name)) : given;
  const partial = existing?.partial || (wishes.partial ?? false);
  const found = openNetwork(name, texts, existing?.parameters ?? wishes.parameters);
  const network = partial && !found.hasGenesis ? found.family.withoutGenesis(found) : found;
  const { config: settings, ignored } = settingsOf(wishes.config, existing, network, may);
  // Whoever only comes to look takes the deployments that the store has.
  const config = existing === null || may.shape ? withBlueprint(settings) : settings;
  if (wishes.partial && config.utxo.store === 'mmr') throw rangeNeedsAll();
  if (wishes.partial && config.cage.enabled) throw cagesNeedAll();
  const { pruneDepth, rollbackWindow, delta } = config.utxo;
  if (existing !== null) checkFixed(existing, wishes.data, partial, delta.selfContained);
  const facts = {
    schema: SCHEMA_VERSION,
    ...(wishes.engine === undefined ? {} : { engine: wishes.engine.name }),
    network: name,
    family: network.family.name,
    parameters: network.parameters,
    partial,
    selfContained: delta.selfContained,
    windows: { pruneDepth, rollbackWindow },
    ...(config.txs.store === 'off' ? {} : { txs: txsSettings(config.txs) }),
    createdBy: `unspent ${VERSION}`,
  };
  return { facts, network, config, ignored };
}

/** What a store cannot become once it has blocks. */
function checkFixed(existing: StoreIdentity, data: string, partial: boolean, selfContained: boolean): void {
  if (existing.selfContained !== selfContained)
    throw new UnspentError('STORE_SHAPE', `the store was made with utxo.delta.selfContained = ${existing.selfContained}`);
  if (partial && !existing.partial)
    throw new UnspentError('STORE_SHAPE', `the store in ${data} began at the first block of the chain; only an empty one can be partial`);
}

function networkName(existing: StoreIdentity | null, { data, config, network }: StoreRequest): string {
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

function cagesNeedAll(): UnspentError {
  return new UnspentError(
    'UNSUPPORTED',
    'the facts of a cage are in blocks from its first on: a partial store cannot follow one (cage.enabled)',
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

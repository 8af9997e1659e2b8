/**
 * From a network's name to its ledger and its dialect: the one place that knows
 * which families of chain there are.
 */
import { BITCOIN_NETWORKS, type BitcoinNetwork, bitcoinLedger } from '../ledgers/bitcoin/index.ts';
import {
  builtinGenesis,
  builtinGenesisUtxos,
  byronGenesisHash,
  CARDANO_NETWORKS,
  type CardanoNetwork,
  cardanoLedger,
  type Genesis,
  genesisUtxos,
  networkFromGenesis,
} from '../ledgers/cardano/index.ts';
import type { Ledger } from '../ledgers/ledger.ts';
import { bitcoinDialect } from '../query/bitcoin/dialect.ts';
import { cardanoDialect } from '../query/cardano/dialect.ts';
import type { Dialect } from '../query/dialect.ts';
import type { GenesisTexts } from '../sources/cardano/genesis-files.ts';
import { fromHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';

/** Private networks go by this name; their parameters come from their genesis files. */
const PRIVATE = 'devnet';

interface Chain {
  readonly name: string;
  readonly ledger: Ledger;
  /** How its readers write what it says. */
  readonly dialect: Dialect;
  /** False: the chain cannot be followed from its first block. */
  readonly hasGenesis: boolean;
}

export interface CardanoChain extends Chain {
  readonly family: 'cardano';
  /** What the store remembers, so that a private network needs its files only once. */
  readonly parameters: CardanoNetwork;
}

export interface BitcoinChain extends Chain {
  readonly family: 'bitcoin';
  readonly parameters: BitcoinNetwork;
}

export type Network = CardanoChain | BitcoinChain;

export function networkNames(): string[] {
  return [...CARDANO_NETWORKS, ...BITCOIN_NETWORKS].map((network) => network.name);
}

/** Which family a network is of. Throws NETWORK_UNKNOWN. */
export function familyOf(name: string): Network['family'] {
  if (BITCOIN_NETWORKS.some((network) => network.name === name)) return 'bitcoin';
  if (CARDANO_NETWORKS.some((network) => network.name === name)) return 'cardano';
  throw unknownNetwork(name);
}

function unknownNetwork(name: string): UnspentError {
  return new UnspentError('NETWORK_UNKNOWN', `no network '${name}'; there are ${networkNames().join(', ')}`, { name });
}

/** `remembered` are the parameters of an existing store, `texts` the genesis files if any were given. Throws NETWORK_UNKNOWN. */
export function openNetwork(name: string, texts: GenesisTexts | null, remembered?: Network['parameters']): Network {
  const bitcoin = BITCOIN_NETWORKS.find((network) => network.name === name);
  if (bitcoin !== undefined) return openBitcoin(bitcoin, texts);
  const cardano = CARDANO_NETWORKS.find((network) => network.name === name);
  if (cardano !== undefined) return openCardano(cardano, texts, remembered as CardanoNetwork | undefined);
  throw unknownNetwork(name);
}

/** Its first block is built in, so there is nothing a store would have to remember. */
function openBitcoin(parameters: BitcoinNetwork, texts: GenesisTexts | null): BitcoinChain {
  const { name } = parameters;
  if (texts !== null) throw new UnspentError('GENESIS_WRONG', `'${name}' has its first block built in; genesis files are Cardano's`);
  return { name, family: 'bitcoin', parameters, ledger: bitcoinLedger(parameters), dialect: bitcoinDialect(parameters), hasGenesis: true };
}

function openCardano(known: CardanoNetwork, texts: GenesisTexts | null, remembered: CardanoNetwork | undefined): CardanoChain {
  const { name } = known;
  const parameters = remembered ?? (name === PRIVATE && texts !== null ? networkFromGenesis(name, texts.byron, texts.shelley) : known);
  const genesis = texts !== null ? genesisFromTexts(parameters, texts) : genesisBuiltIn(name);
  const [ledger, dialect] = [cardanoLedger(parameters, genesis), cardanoDialect(parameters)];
  return { name, family: 'cardano', parameters, ledger, dialect, hasGenesis: genesis !== null };
}

/** What cannot be learnt from the name alone, of a private network; null: the name says it all. */
export function ownParameters({ name, family, parameters }: Network): CardanoNetwork | null {
  return family === 'cardano' && name === PRIVATE ? parameters : null;
}

/** Blocks that a store keeps where nobody decides: two weeks of Bitcoin, and k of most Cardano networks. */
const WINDOW_BLOCKS = 2160;

/**
 * Blocks below the tip that a new store keeps what it spent, where nobody decides: the network's k, below which no
 * honest rollback goes. A private network often has a k of a handful, and looking back is what one makes it for.
 */
export function windowBlocks(network: Network): number {
  if (network.family === 'bitcoin') return WINDOW_BLOCKS;
  return network.name === PRIVATE ? Math.max(WINDOW_BLOCKS, network.parameters.k) : network.parameters.k;
}

/** For a store that starts in the middle of a chain whose genesis nobody has: as if it had granted nothing. */
export function withoutGenesis(network: Network): Network {
  if (network.family === 'bitcoin') return network;
  const nothing: Genesis = { utxos: { byron: [], shelley: [] }, byronHash: null };
  return { ...network, ledger: cardanoLedger(network.parameters, nothing), hasGenesis: true };
}

/** For what only Cardano has. Throws UNSUPPORTED. */
export function needCardano(network: Network, what: string): CardanoChain {
  if (network.family === 'cardano') return network;
  throw new UnspentError('UNSUPPORTED', `${what} is of Cardano, and '${network.name}' is of the Bitcoin family`, { network: network.name });
}

/** For what only the Bitcoin family has. Throws UNSUPPORTED. */
export function needBitcoin(network: Network, what: string): BitcoinChain {
  if (network.family === 'bitcoin') return network;
  throw new UnspentError('UNSUPPORTED', `${what} is of the Bitcoin family, and '${network.name}' is of Cardano`, { network: network.name });
}

function genesisFromTexts(parameters: CardanoNetwork, texts: GenesisTexts): Genesis {
  const { magic } = networkFromGenesis(parameters.name, texts.byron, texts.shelley);
  if (magic !== parameters.magic) {
    const wanted = `'${parameters.name}' has network magic ${parameters.magic}`;
    throw new UnspentError('GENESIS_WRONG', `the genesis files are of network magic ${magic}; ${wanted}`, {
      magic,
      wanted: parameters.magic,
    });
  }
  return { utxos: genesisUtxos(texts.byron, texts.shelley), byronHash: byronGenesisHash(texts.byron) };
}

function genesisBuiltIn(name: string): Genesis | null {
  const facts = builtinGenesis(name);
  const utxos = builtinGenesisUtxos(name);
  return facts === undefined || utxos === undefined ? null : { utxos, byronHash: fromHex(facts.byronHash) };
}

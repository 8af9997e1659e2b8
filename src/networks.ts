/**
 * From a network's name to its ledger: the one place that knows which families
 * of chain there are.
 */
import {
  builtinGenesis,
  builtinGenesisUtxos,
  byronGenesisHash,
  CARDANO_NETWORKS,
  type CardanoNetwork,
  cardanoLedger,
  cardanoNetwork,
  type Genesis,
  genesisUtxos,
  networkFromGenesis,
} from './ledgers/cardano/index.ts';
import type { Ledger } from './ledgers/ledger.ts';
import type { GenesisTexts } from './sources/genesis-files.ts';
import { fromHex } from './util/bytes.ts';
import { UnspentError } from './util/errors.ts';

/** Private networks go by this name; their parameters come from their genesis files. */
const PRIVATE = 'devnet';

export interface Network {
  readonly name: string;
  readonly family: 'cardano';
  /** What the store remembers, so that a private network needs its files only once. */
  readonly parameters: CardanoNetwork;
  readonly ledger: Ledger;
  /** False: the chain cannot be followed from its first block. */
  readonly hasGenesis: boolean;
}

export function networkNames(): string[] {
  return CARDANO_NETWORKS.map((network) => network.name);
}

/** `remembered` are the parameters of an existing store, `texts` the genesis files if any were given. */
export function openNetwork(name: string, texts: GenesisTexts | null, remembered?: CardanoNetwork): Network {
  const known = cardanoNetwork(name);
  const parameters = remembered ?? (name === PRIVATE && texts !== null ? networkFromGenesis(name, texts.byron, texts.shelley) : known);
  const genesis = texts !== null ? genesisFromTexts(parameters, texts) : genesisBuiltIn(name);
  return { name, family: 'cardano', parameters, ledger: cardanoLedger(parameters, genesis), hasGenesis: genesis !== null };
}

/** For a store that starts in the middle of a chain whose genesis nobody has: as if it had granted nothing. */
export function withoutGenesis(network: Network): Network {
  const nothing: Genesis = { utxos: { byron: [], shelley: [] }, byronHash: null };
  return { ...network, ledger: cardanoLedger(network.parameters, nothing), hasGenesis: true };
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

/**
 * Cardano, described: what only this family has, or where it is.
 */
import { openDevnet } from '../chains/cardano/devnet/index.ts';
import {
  builtinGenesis,
  builtinGenesisUtxos,
  byronGenesisHash,
  CARDANO_NETWORKS,
  type CardanoNetwork,
  cardanoLedger,
  cardanoNetwork,
  describeOutput,
  formatAddress,
  type Genesis,
  genesisUtxos,
  networkFromGenesis,
} from '../ledgers/cardano/index.ts';
import { bareCoins } from '../query/amounts.ts';
import { CARDANO_CURRENCY, cardanoDialect } from '../query/cardano/dialect.ts';
import { pendingTxReader } from '../query/cardano/pending-tx.ts';
import { PendingTxs } from '../query/pending/pending-txs.ts';
import { readGenesisFiles } from '../sources/cardano/genesis-files.ts';
import { openImmutable } from '../sources/cardano/immutable/index.ts';
import { openOuroboros } from '../sources/cardano/ouroboros/index.ts';
import { openWholeSet } from '../sources/cardano/ouroboros/whole-set.ts';
import type { GenesisTexts } from '../sources/source.ts';
import { fromHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import { WINDOW_BLOCKS } from '../util/limits.ts';
import { CARDANO_WALLETS_LACK } from '../wallet/cardano/lacks.ts';
import type { Family, Network } from './family.ts';

/** Private networks go by this name; their parameters come from their genesis files. */
const PRIVATE = 'devnet';

export const cardano: Family<CardanoNetwork> = {
  name: 'cardano',
  title: 'Cardano',
  unit: CARDANO_CURRENCY.unit,
  networks: CARDANO_NETWORKS,
  sources: [
    { forms: ['immutable:PATH'], open: (_urls, { byronEpochSlots }, { path }) => openImmutable(path, { byronEpochSlots }) },
    {
      forms: ['n2n://HOST:PORT', 'n2c:PATH'],
      several: true,
      open: (urls, { magic, byronEpochSlots }, { onPeer }) => openOuroboros(urls, { magic, byronEpochSlots, onPeer }),
    },
    { forms: ['devnet:?blocks=N&seed=N'], makes: PRIVATE, open: ([url]) => openDevnet(url) },
  ],
  wireShapes: ['blockfrost', 'evaluation', 'kupo', 'mpfs', 'ogmios', 'utxorpc', 'wallets'],
  wallets: {
    async open(url, network, settings) {
      const { openCardanoWallets } = await import('../wallet/cardano/cardano-wallets.ts');
      return openCardanoWallets(url, network, settings);
    },
    lacks: CARDANO_WALLETS_LACK,
  },

  open(known, { genesis: texts, remembered }) {
    const { name } = known;
    const parameters = remembered ?? (name === PRIVATE && texts !== null ? networkOf(name, texts) : known);
    const genesis = texts !== null ? genesisFromTexts(parameters, texts) : genesisBuiltIn(name);
    const [ledger, dialect] = [cardanoLedger(parameters, genesis), cardanoDialect(parameters)];
    return { name, family: cardano, parameters, ledger, dialect, hasGenesis: genesis !== null };
  },
  readGenesis: readGenesisFiles,
  withoutGenesis(network) {
    const nothing: Genesis = { utxos: { byron: [], shelley: [] }, byronHash: null };
    return { ...network, ledger: cardanoLedger(network.parameters, nothing), hasGenesis: true };
  },
  ownParameters: ({ name, parameters }) => (name === PRIVATE ? parameters : null),
  canBeOwnParameters,
  /** The network's k, below which no honest rollback goes. A private network often has a k of a handful, and looking back is what one makes it for. */
  windowBlocks: ({ name, parameters: { k } }) => (name === PRIVATE ? Math.max(WINDOW_BLOCKS, k) : k),

  describeLeaf(content) {
    const { address, lovelace, assets } = describeOutput(content);
    return { owner: address, amount: `${bareCoins(lovelace, CARDANO_CURRENCY)} ${CARDANO_CURRENCY.name}`, assets: assets.length };
  },
  ownerText: (owner) => formatAddress(owner),
  async nodeSet(from, { magic, byronEpochSlots }, { node, header, hashSerialized, setHash, signal }) {
    if ([node, header, hashSerialized, setHash].some((given) => given !== undefined))
      throw new UnspentError(
        'USAGE',
        'a node of Cardano tells its set itself: --node, --header, --hash-serialized and --set-hash are for dumps',
      );
    return openWholeSet(from, { magic, byronEpochSlots }, signal);
  },
  mempool: ({ ledger }) => new PendingTxs(pendingTxReader(ledger)),
};

/** For what only Cardano has. Throws UNSUPPORTED. */
export function needCardano(network: Network, what: string): Network<CardanoNetwork> {
  if (network.family === (cardano as Family)) return network as Network<CardanoNetwork>;
  const { name, family } = network;
  throw new UnspentError('UNSUPPORTED', `${what} is of ${cardano.title}, and '${name}' is of ${family.title}`, { network: name });
}

function networkOf(name: string, { byron, shelley }: GenesisTexts): CardanoNetwork {
  return networkFromGenesis(name, byron, shelley);
}

function genesisFromTexts(parameters: CardanoNetwork, texts: GenesisTexts): Genesis {
  const { magic } = networkOf(parameters.name, texts);
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

/** Every parameter that such a network has, and no other; none of them may stop a clock. */
function canBeOwnParameters(given: Readonly<Record<string, unknown>>): boolean {
  const { eraStartSlots, name, ...numbers } = given;
  const names = Object.keys(cardanoNetwork(PRIVATE)).sort();
  if (Object.keys(given).sort().join() !== names.join() || typeof name !== 'string') return false;
  if (typeof eraStartSlots !== 'object' || eraStartSlots === null || Array.isArray(eraStartSlots)) return false;
  if (!Object.values(eraStartSlots).every((slot) => Number.isSafeInteger(slot) && slot >= 0)) return false;
  return Object.entries(numbers).every(([each, value]) => {
    const divides = each.endsWith('Ms') || each.endsWith('EpochSlots') || each.endsWith('ChunkSlots');
    return typeof value === 'number' && Number.isFinite(value) && value >= (divides ? 1 : 0);
  });
}

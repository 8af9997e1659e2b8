/**
 * The Bitcoin family, described: what only this family has, or where it is.
 */
import { BITCOIN_NETWORKS, type BitcoinNetwork, bitcoinLedger, formatAddress } from '../ledgers/bitcoin/index.ts';
import { commitmentOf } from '../query/bitcoin/commitment.ts';
import { BITCOIN_UNIT, bitcoinDialect } from '../query/bitcoin/dialect.ts';
import { Mempool } from '../query/bitcoin/mempool/mempool.ts';
import { openBlk } from '../sources/bitcoin/blk/index.ts';
import { openDump } from '../sources/bitcoin/dump/index.ts';
import { openP2p } from '../sources/bitcoin/p2p/index.ts';
import { openRpc } from '../sources/bitcoin/rpc/index.ts';
import { toHex } from '../util/bytes.ts';
import { Cursor } from '../util/cbor.ts';
import { UnspentError } from '../util/errors.ts';
import { WINDOW_BLOCKS } from '../util/limits.ts';
import type { Family, Network } from './family.ts';

export const bitcoin: Family<BitcoinNetwork> = {
  name: 'bitcoin',
  title: 'the Bitcoin family',
  unit: BITCOIN_UNIT,
  networks: BITCOIN_NETWORKS,
  sources: [
    { forms: ['p2p://HOST:PORT'], several: true, open: (urls, network, { onPeer }) => openP2p(urls, network, { onPeer }) },
    {
      forms: ['rpc://USER:PASSWORD@HOST:PORT', 'rpcs://USER:PASSWORD@HOST:PORT?cert=FILE'],
      open: ([url], network, { onPeer }) => openRpc(url, network, { onPeer }),
    },
    { forms: ['blk:PATH'], open: (_urls, network, { path }) => openBlk(path, network) },
  ],
  wireShapes: ['esplora', 'electrum', 'mempool-stream', 'script-history', 'wallets'],
  wallets: {
    async open(url, network, settings) {
      const { openBitcoinWallets } = await import('../wallet/bitcoin/operations/open-context.ts');
      return openBitcoinWallets(url, network, settings);
    },
    lacks: {},
  },

  /** Its first block is built in, so there is nothing that a store would have to remember. */
  open(parameters, { genesis }) {
    const { name } = parameters;
    if (genesis !== null) throw noGenesisFiles(name);
    const [ledger, dialect] = [bitcoinLedger(parameters), bitcoinDialect(parameters)];
    return { name, family: bitcoin, parameters, ledger, dialect, hasGenesis: true };
  },
  readGenesis(_folder, network) {
    throw noGenesisFiles(network);
  },
  withoutGenesis: (network) => network,
  ownParameters: () => null,
  canBeOwnParameters: () => false,
  /** Two weeks. */
  windowBlocks: () => WINDOW_BLOCKS,

  /** CDDL: `[value, script]`. */
  describeLeaf(content) {
    const c = new Cursor(content);
    c.tuple(2, 'output');
    const value = c.bigUint();
    return { owner: c.byteString(), amount: `${value} ${BITCOIN_UNIT}`, assets: 0 };
  },
  ownerText(script, network) {
    const known = BITCOIN_NETWORKS.find(({ name }) => name === network);
    const text = known === undefined ? null : formatAddress(known, script);
    return text === null ? `script ${toHex(script)}` : `${text} (script ${toHex(script)})`;
  },
  async nodeSet(from, network, options) {
    if (!from.startsWith('n2c:')) return openDump(from, network, options);
    throw new UnspentError(
      'USAGE',
      `${from} is a node of Cardano, and '${network.name}' is of ${bitcoin.title}: give the file that dumptxoutset wrote`,
    );
  },
  mempool: ({ parameters: { mweb } }) => new Mempool({ mweb }),
  commitment: commitmentOf,
};

/** Whether there may be what only the Bitcoin family has. */
export function isOfBitcoin(network: Network): network is Network & Network<BitcoinNetwork> {
  return network.family === (bitcoin as Family);
}

/** For what only the Bitcoin family has. Throws UNSUPPORTED. */
export function needBitcoin(network: Network, what: string): Network<BitcoinNetwork> {
  if (isOfBitcoin(network)) return network;
  const { name, family } = network;
  throw new UnspentError('UNSUPPORTED', `${what} is of ${bitcoin.title}, and '${name}' is of ${family.title}`, { network: name });
}

function noGenesisFiles(name: string): UnspentError {
  return new UnspentError('GENESIS_WRONG', `'${name}' has its first block built in; genesis files are Cardano's`);
}

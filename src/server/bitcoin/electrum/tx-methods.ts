/**
 * Transactions: to the node, from the store or the mempool, and with the proof
 * that they are in their block.
 */
import { decodeTx, formatId } from '../../../ledgers/bitcoin/index.ts';
import { MerkleTree } from '../../../ledgers/bitcoin/merkle.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import type { Query } from '../../../query/query.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { ELECTRUM_PACKAGE_MAX, SUBMIT_PACKAGE_MS } from '../../../util/limits.ts';
import type { Backend } from './backend.ts';
import { blockAt } from './headers.ts';
import type { Methods } from './method.ts';
import { count, flag, rawTx, txId } from './params.ts';
import { RPC, RpcError, rpcErrorOf } from './rpc.ts';
import { verboseTx } from './verbose.ts';

/** Trees of blocks that are kept for the next proof: a wallet asks for several transactions of one block. */
const TREES_MAX = 16;

interface Refused {
  readonly txid: string;
  readonly error: string;
}

export function txMethods(backend: Backend): Methods {
  const { mempool, context, network } = backend;
  const trees = new BlockTrees();

  function get(query: Query, id: Uint8Array, verbose: boolean): unknown {
    const pending = mempool.get(id);
    const mined = pending === undefined ? query.history().tx(id) : null;
    const raw = pending?.raw ?? mined?.raw;
    if (raw === undefined) throw new RpcError(RPC.node, 'No such mempool or blockchain transaction');
    if (!verbose) return toHex(raw);
    return verboseTx(raw, network, mined === null ? null : { row: blockAt(query, mined.height), tip: query.head?.height ?? 0 });
  }

  function merkle(query: Query, id: Uint8Array, height: number | null): unknown {
    const tx = query.history().tx(id);
    if (tx === null || (height !== null && tx.height !== height)) {
      const where = height === null ? 'is in no block' : `is not in the block at height ${height}`;
      throw new RpcError(RPC.badRequest, `transaction ${formatId(id)} ${where}`);
    }
    const branch = trees.of(query, blockAt(query, tx.height)).branch(tx.txIndex);
    return { block_height: tx.height, merkle: branch.map(formatId), pos: tx.txIndex };
  }

  function idFromPos(query: Query, height: number, position: number, withBranch: boolean): unknown {
    const row = blockAt(query, height);
    const tx = position < row.txCount ? query.history().txAt(height, position) : null;
    if (tx === null)
      throw new RpcError(RPC.badRequest, `no transaction ${position} in the block at height ${height}; it has ${row.txCount}`);
    const tx_hash = formatId(tx.id);
    return withBranch ? { tx_hash, merkle: trees.of(query, row).branch(position).map(formatId) } : tx_hash;
  }

  /** One after the other: what we speak to nodes knows no packages, so that each must be acceptable after those before it. */
  async function submitAll(raws: readonly Uint8Array[]): Promise<Refused[]> {
    const refused: Refused[] = [];
    const deadline = performance.now() + SUBMIT_PACKAGE_MS;
    for (const raw of raws) {
      try {
        if (performance.now() > deadline) throw new UnspentError('BUSY', 'not tried: the node took too long over those before it');
        await context.submit(raw);
      } catch (error) {
        const known = rpcErrorOf(error);
        if (known === null) throw error;
        refused.push({ txid: formatId(decodeTx(raw, network.mweb).id), error: known.message });
      }
    }
    return refused;
  }

  return {
    'blockchain.transaction.broadcast': {
      names: ['raw_tx'],
      needed: 1,
      run: async ([raw]) => formatId(await context.submit(rawTx(raw))),
    },
    'blockchain.transaction.broadcast_package': {
      names: ['raw_txs', 'verbose'],
      needed: 1,
      since: '1.6',
      async run([given, verbose]) {
        const raws = packageOf(given);
        if (flag(verbose, 'verbose'))
          throw new RpcError(RPC.badRequest, 'broadcast_package is not verbose here: the answer would be made up');
        for (const raw of raws) decodeTx(raw, network.mweb);
        const errors = await submitAll(raws);
        return errors.length === 0 ? { success: true } : { success: false, errors };
      },
    },
    'blockchain.transaction.get': {
      names: ['tx_hash', 'verbose'],
      needed: 1,
      run([given, verbose]) {
        const [id, all] = [txId(given), flag(verbose, 'verbose')];
        return backend.read((query) => get(query, id, all));
      },
    },
    'blockchain.transaction.get_merkle': {
      names: ['tx_hash', 'height'],
      needed: 1,
      run([given, height]) {
        const [id, at] = [txId(given), height === undefined ? null : count(height, 'height')];
        return backend.read((query) => merkle(query, id, at));
      },
    },
    'blockchain.transaction.id_from_pos': {
      names: ['height', 'tx_pos', 'merkle'],
      needed: 2,
      run([height, position, withBranch]) {
        const [at, pos, branch] = [count(height, 'height'), count(position, 'tx_pos'), flag(withBranch, 'merkle')];
        return backend.read((query) => idFromPos(query, at, pos, branch));
      },
    },
  };
}

function packageOf(given: unknown): Uint8Array[] {
  if (Array.isArray(given) && given.length > 0 && given.length <= ELECTRUM_PACKAGE_MAX) return given.map(rawTx);
  throw new RpcError(RPC.badRequest, `raw_txs is an array of 1 to ${ELECTRUM_PACKAGE_MAX} transactions`);
}

/** The trees of the last blocks that were asked for. A block is named by its hash, so none is ever wrong. */
class BlockTrees {
  private readonly trees = new Map<string, MerkleTree>();

  of(query: Query, row: ChainRow): MerkleTree {
    const name = toHex(row.hash);
    const tree = this.trees.get(name) ?? new MerkleTree(query.history().ids(row.height));
    this.trees.delete(name);
    this.trees.set(name, tree);
    if (this.trees.size > TREES_MAX) for (const oldest of this.trees.keys()) return this.without(oldest, tree);
    return tree;
  }

  private without(name: string, tree: MerkleTree): MerkleTree {
    this.trees.delete(name);
    return tree;
  }
}

/**
 * Finds what a wallet has that is new to the feed, or has new addresses: asks the
 * indexes of addresses and stake credentials, not the blocks.
 *
 * A rollback must be able to bring back what was spent shortly before. So the
 * index is asked for the outputs as they were some blocks ago, and what these
 * blocks did to the wallet's addresses since then follows from their undo records,
 * just as the feed would have told it.
 */
import { blake2b224 } from '../../crypto/hash.ts';
import { OUTPUT_FLAG, readAddress } from '../../ledgers/cardano/index.ts';
import { outpointText } from '../../ledgers/outpoint.ts';
import type { ChainRow } from '../../projections/chain.ts';
import type { Clock } from '../../query/dialect.ts';
import type { Query } from '../../query/query.ts';
import type { Utxo } from '../../query/utxo.ts';
import type { ChainView } from '../../query/view.ts';
import { equalBytes, toHex } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { WALLET_SCAN_BLOCKS } from '../../util/limits.ts';
import { type FollowedStore, walletBlock } from '../feed/store-feed.ts';
import type { WalletBlock, WalletId, WalletTx } from '../records.ts';
import type { FeedPlace, NewTx, WalletStore } from '../store.ts';
import { stakeOwners } from './owners.ts';
import { changedTxs, walletTx } from './wallet-tx.ts';

export interface CoinScan {
  readonly walletId: WalletId;
  /** The block that the wallets are at. */
  readonly block: WalletBlock;
  readonly clock: Clock;
  /** Blocks that may be rolled back later, without the wallet missing what they had spent. */
  readonly blocks?: number | undefined;
  /** FEED_MOVED if the feed is elsewhere when the scan is stored. Undefined: nobody feeds the wallets meanwhile. */
  readonly feed?: FeedPlace | undefined;
}

/**
 * Takes the coins at all addresses of the wallet into it, as they are at that block. To be called between two events of
 * the feed, so that what comes after the block is the feed's. False: the block is not on the chain any more; to be done
 * again when the feed has caught up. Throws FEED_MOVED.
 */
export async function scanCoins(wallets: WalletStore, chain: Pick<FollowedStore, 'read'>, scan: CoinScan): Promise<boolean> {
  const addresses = (await wallets.listAddresses(scan.walletId)).map(({ script }) => script);
  const txs = chain.read((query) => {
    const row = query.blockAtHeight(scan.block.height);
    return row === null || !equalBytes(row.hash, scan.block.hash) ? null : new Scanner(query, scan, addresses).txsUpTo(row);
  });
  if (txs === null) return false;
  const { walletId, block, feed } = scan;
  await wallets.applyScanBatch(walletId, { horizons: [], txs, syncedBlocks: [block], now: 1000 * block.timestamp, feed });
  return true;
}

class Scanner {
  readonly #query: Query;
  readonly #scan: CoinScan;
  readonly #addresses: readonly Uint8Array[];
  /** In hex. */
  readonly #own: ReadonlySet<string>;
  /** Outputs that were paid to the addresses, as text. */
  readonly #paid = new Set<string>();
  /** What blocks up to this height did is not known any more. */
  readonly #knownAbove: number;
  /** By height. */
  readonly #blocks = new Map<number, readonly WalletTx[]>();

  constructor(query: Query, scan: CoinScan, addresses: readonly Uint8Array[]) {
    this.#query = query;
    this.#scan = scan;
    this.#addresses = addresses;
    this.#own = new Set(addresses.map((address) => toHex(address)));
    const { spent, deltas } = query.pruned();
    this.#knownAbove = Math.max(spent, deltas, query.base()?.height ?? -1);
  }

  txsUpTo(row: ChainRow): NewTx[] {
    const from = this.#startOf(row);
    const txs = this.#coinsAt(this.#query.at(from));
    for (const next of this.#query.blocksAfter(from)) {
      if (next.height > row.height) break;
      const block = walletBlock(next, this.#scan.clock);
      for (const tx of changedTxs(this.#query.changes(next))) if (this.#touches(tx)) txs.push(this.#newTx(tx, block));
    }
    return txs;
  }

  /** The block before those that are read one by one: as many as asked for, or as the store can still tell of. Null: the origin. */
  #startOf({ height }: ChainRow): ChainRow | null {
    const start = Math.max(height - (this.#scan.blocks ?? WALLET_SCAN_BLOCKS), Math.min(this.#knownAbove, height));
    return start < 0 ? null : this.#query.blockAtHeight(start);
  }

  /** One that is older than the snapshot the store began with has the block of that. */
  #blockOf({ output }: Utxo): ChainRow {
    const row = this.#query.blockAtHeight(output.height) ?? this.#query.base();
    assert(row !== null, `block ${output.height} is on the chain`);
    return row;
  }

  /** As its block says, with its inputs; null: the store cannot tell any more what that block did, nor undo it. */
  #wholeTx(row: ChainRow, txId: Uint8Array): WalletTx | null {
    if (row.height <= this.#knownAbove) return null;
    const txs = this.#blocks.get(row.height) ?? changedTxs(this.#query.changes(row));
    this.#blocks.set(row.height, txs);
    return txs.find(({ id }) => equalBytes(id, txId)) ?? null;
  }

  /** What the addresses have there: transactions with only those outputs as credits. */
  #coinsAt(view: ChainView): NewTx[] {
    const coins = new Map<string, Utxo>();
    for (const address of this.#addresses) {
      const { kind, stake } = readAddress(address);
      const found = kind === 'reward' ? view.byKey('stake', stake.hash) : view.byKey('address', blake2b224(address));
      for (const utxo of found) coins.set(outpointText(utxo), utxo);
    }
    const txs: NewTx[] = [];
    for (const utxos of Map.groupBy(coins.values(), ({ txId }) => toHex(txId)).values()) {
      const row = this.#blockOf(utxos[0]);
      const tx = this.#wholeTx(row, utxos[0].txId) ?? partOfTx(view, utxos[0]);
      // The index of stake credentials does not tell keys from scripts.
      const own = utxos.filter(({ index }) => this.#isOwn(tx.outputs[index].script));
      for (const utxo of own) this.#paid.add(outpointText(utxo));
      if (own.length > 0) txs.push(this.#newTx(tx, walletBlock(row, this.#scan.clock)));
    }
    return txs;
  }

  /** Whether it pays to the addresses, or spends what was paid to them. */
  #touches({ id, inputs, outputs }: WalletTx): boolean {
    let isTouched = inputs.some((input) => this.#paid.has(outpointText(input)));
    for (const [index, { script }] of outputs.entries()) {
      if (!this.#isOwn(script)) continue;
      this.#paid.add(outpointText({ txId: id, index }));
      isTouched = true;
    }
    return isTouched;
  }

  #isOwn(script: Uint8Array): boolean {
    return [script, ...stakeOwners(script)].some((owner) => this.#own.has(toHex(owner)));
  }

  /** Whether an output is of its own address or of its stake credential, the wallet store finds. */
  #newTx(tx: WalletTx, block: WalletBlock): NewTx {
    const own = [...tx.outputs.entries()].filter(([index]) => this.#paid.has(outpointText({ txId: tx.id, index })));
    const creditCandidates = new Map(own.map(([index, { script }]) => [index, stakeOwners(script)] as const));
    return {
      walletId: this.#scan.walletId,
      tx,
      block,
      received: 1000 * block.timestamp,
      status: 'published',
      credits: new Map(),
      creditCandidates,
    };
  }
}

/** With the outputs that are still known, without its inputs. Where its scripts failed, its only output is what came back of its collateral. */
function partOfTx(view: ChainView, { txId, output: { flags } }: Utxo): WalletTx {
  const tx = { ...walletTx(txId, [], view.tx(txId).outputs), isCoinbase: (flags & OUTPUT_FLAG.genesis) !== 0 };
  return (flags & OUTPUT_FLAG.collateralReturn) === 0 ? tx : { ...tx, scriptsFailed: true };
}

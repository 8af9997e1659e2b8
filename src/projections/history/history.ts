/**
 * What happened: every transaction, what each did to the owners of outputs, and
 * who spent which output. Nothing of it is pruned but the bytes of transactions,
 * where that is asked for: of those that nobody can need any more
 * (`txs.boundHistory`), or of those that are so many blocks old
 * (`utxo.historyDepth`). `rows.ts` has the layout.
 *
 * Outputs that nothing can spend never enter the set, and so have no row by
 * script. All keys are new ones, and a block that is undone still knows what it
 * created and spent: no undo of its own is needed.
 */
import type { Batch, ColumnSpec } from '../../engine/engine.ts';
import type { Ledger } from '../../ledgers/ledger.ts';
import { OUTPOINT_BYTES, TXID_BYTES } from '../../ledgers/outpoint.ts';
import { copyBytes, readU32, readU64, writeU32 } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { inPrefixOrder } from '../../util/key-order.ts';
import { Scratch } from '../../util/scratch.ts';
import { AT, type Coin, GRANT_TX_INDEX } from '../coin.ts';
import type { ForwardBlock, Projection, StepBlock } from '../projection.ts';
import { readStartHeight, startHeightKey, undoneSince } from '../start-height.ts';
import { ELSEWHERE_KEY } from './elsewhere.ts';
import { FORGOTTEN_KEY, forgetTxBytes } from './forget.ts';
import { KeyHistory, keyHistoryColumn, keyHistoryName } from './key-history.ts';
import { creatorIndex, spenderIndex } from './key-rows.ts';
import { HISTORY_SPEND, HISTORY_TX, PLACE_BYTES, SPEND_BYTES, TAIL_INDEX, writeHistoryPlace } from './rows.ts';

/** By bytes written: a transaction of some 300 bytes touches about three scripts and spends about two outputs. */
const columns: readonly ColumnSpec[] = [
  { name: HISTORY_TX, access: 'order', weight: 40 },
  keyHistoryColumn('address'),
  { name: HISTORY_SPEND, access: 'archive', weight: 10 },
];

const NAME = keyHistoryName('address');

/**
 * `txBytes` is the ledger's: without it there is nothing to keep. `forgetsBelow`: how far below a block that can never be
 * undone any more the bytes of transactions are forgotten; null: never. `leaves`: what is of old blocks to a published copy.
 */
export function historyProjection(
  ledger: Pick<Ledger, 'tailBytes' | 'joinBlock'>,
  txBytes: NonNullable<Ledger['txBytes']>,
  forgetsBelow: number | null = null,
  leaves = false,
): Projection {
  const { tailBytes } = ledger;
  const key = new Scratch(OUTPOINT_BYTES);
  const value = new Scratch(64 * 1024);
  const byAddress = new KeyHistory('address');

  function placeKey(height: number, txIndex: number): Uint8Array {
    writeHistoryPlace(key.bytes, 0, height, txIndex);
    return key.view(PLACE_BYTES);
  }

  function spendKey(coin: Coin): Uint8Array {
    copyBytes(coin.keyBytes, coin.keyAt, key.bytes, 0, OUTPOINT_BYTES);
    return key.view(OUTPOINT_BYTES);
  }

  function putTx(height: number, txIndex: number, id: Uint8Array, idAt: number, bytes: Uint8Array, batch: Batch): void {
    const length = TXID_BYTES + bytes.length;
    value.need(length);
    copyBytes(id, idAt, value.bytes, 0, TXID_BYTES);
    value.bytes.set(bytes, TXID_BYTES);
    batch.put(HISTORY_TX, placeKey(height, txIndex), value.view(length));
  }

  function putTxs({ block, height, created }: ForwardBlock, batch: Batch): void {
    const bytes = txBytes(block);
    for (let i = 0; i < bytes.length; i++) putTx(height, i, block.txs[i].id, 0, bytes[i], batch);
    for (const coin of grantsOf(created)) {
      putTx(height, creatorIndex(coin), coin.keyBytes, coin.keyAt, coin.bytes.subarray(coin.at, coin.end), batch);
    }
    const tail = tailBytes?.(block);
    if (tail !== undefined && tail.length > 0) batch.put(HISTORY_TX, placeKey(height, TAIL_INDEX), tail);
  }

  function deleteTxs({ txs, height, created }: StepBlock, batch: Batch): void {
    for (let i = 0; i < txs.length; i++) batch.del(HISTORY_TX, placeKey(height, i));
    for (const coin of grantsOf(created)) batch.del(HISTORY_TX, placeKey(height, creatorIndex(coin)));
    if (tailBytes !== undefined) batch.del(HISTORY_TX, placeKey(height, TAIL_INDEX));
  }

  /** An output that no transaction of the history made is kept with its spend: nothing else tells of it later. */
  function putSpend(coin: Coin, startHeight: number, batch: Batch): void {
    const { spender } = coin;
    assert(spender !== null, 'a spent coin has a spender');
    const isKept = readU32(coin.bytes, coin.at + AT.height) >= startHeight && creatorIndex(coin) < GRANT_TX_INDEX;
    const length = SPEND_BYTES + (isKept ? 0 : coin.length);
    value.need(length);
    writeHistoryPlace(value.bytes, 0, spender.height, spenderIndex(coin));
    writeU32(value.bytes, PLACE_BYTES, coin.input);
    if (!isKept) value.bytes.set(coin.bytes.subarray(coin.at, coin.end), SPEND_BYTES);
    batch.put(HISTORY_SPEND, spendKey(coin), value.view(length));
  }

  function del(blocks: readonly StepBlock[], batch: Batch): void {
    byAddress.del(blocks, batch);
    for (const block of blocks) {
      deleteTxs(block, batch);
      for (const coin of block.spent) batch.del(HISTORY_SPEND, spendKey(coin));
    }
  }

  return {
    name: NAME,
    columns,
    reserved: [startHeightKey(NAME), FORGOTTEN_KEY, ELSEWHERE_KEY],
    keepsBlocks: true,
    // Who asks a chain whose blocks can be put together again (Electrum, Esplora) cannot be told "from here on".
    ...(ledger.joinBlock === undefined ? { startsLate: true as const } : {}),
    apply(step, view, batch) {
      for (const block of step.blocks) putTxs(block, batch);
      byAddress.put(step.blocks, batch);
      const spent = step.blocks.flatMap((block) => block.spent);
      if (spent.length === 0) return undefined;
      const startHeight = readStartHeight(view, NAME);
      for (const coin of inPrefixOrder(spent, ({ keyBytes, keyAt }) => readU32(keyBytes, keyAt))) putSpend(coin, startHeight, batch);
      return undefined;
    },
    settle(blocks, view, batch) {
      const last = blocks.at(-1);
      if (forgetsBelow !== null && last !== undefined) forgetTxBytes(readU64(last.key, 0) - forgetsBelow, view, batch);
    },
    revert(step, _undo, view, batch) {
      del(undoneSince(step.blocks, view, batch, NAME), batch);
    },
    ...(leaves ? { leave: del } : {}),
  };
}

/** Outputs that the ledger granted stand before those of transactions. */
function grantsOf(created: readonly Coin[]): readonly Coin[] {
  const end = created.findIndex((coin) => creatorIndex(coin) < GRANT_TX_INDEX);
  return end === 0 ? [] : created.slice(0, end < 0 ? created.length : end);
}

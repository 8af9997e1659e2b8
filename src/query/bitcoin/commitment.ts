/**
 * What a node's `gettxoutsetinfo` says of the unspent set, computed from all of
 * ours in one walk: the two serialized hashes need the coins in the order of
 * their keys, which is the order they are stored in.
 */
import { createHash } from 'node:crypto';
import type { Reader } from '../../engine/engine.ts';
import { type CoinRecord, formatId, OUTPUT_FLAG, SerializedHash2, SerializedHash3, SetTotals } from '../../ledgers/bitcoin/index.ts';
import { outpointIndex, outpointTxId } from '../../ledgers/outpoint.ts';
import { readStored } from '../../projections/coin.ts';
import { UNSPENT } from '../../projections/utxo.ts';
import { equalBytes } from '../../util/bytes.ts';
import type { Commitment, CommitmentOptions } from '../commitment.ts';

/** `tipHash`: of the block the set is at; before the first block, zeros. */
export function commitmentOf(reader: Reader, tipHash: Uint8Array, { muhash = true, onRows }: CommitmentOptions = {}): Commitment {
  const totals = new SetTotals(muhash);
  const hash2 = new SerializedHash2(tipHash, createHash('sha256'));
  const hash3 = new SerializedHash3(createHash('sha256'));
  let transactions = 0;
  let last: Uint8Array | null = null;
  for (const [key, bytes] of reader.scan(UNSPENT)) {
    const coin = recordOf(key, bytes);
    totals.add(coin);
    hash2.add(coin);
    hash3.add(coin);
    if (last === null || !equalBytes(last, coin.txId)) transactions++;
    last = coin.txId;
    if (onRows !== undefined && totals.count % 100_000 === 0) onRows(totals.count);
  }
  return {
    txouts: totals.count,
    value: totals.value,
    bogosize: totals.bogosize,
    transactions,
    hashSerialized2: formatId(hash2.digest()),
    hashSerialized3: formatId(hash3.digest()),
    muhash: muhash ? formatId(totals.muhash.digest()) : null,
  };
}

function recordOf(key: Uint8Array, bytes: Uint8Array): CoinRecord {
  const { height, flags, raw } = readStored(bytes);
  const coinbase = (flags & OUTPUT_FLAG.coinbase) !== 0;
  return { txId: outpointTxId(key), index: outpointIndex(key), height, coinbase, output: raw };
}

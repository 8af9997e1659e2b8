/**
 * What nodes ask of a transaction before they look at its inputs and scripts,
 * and the few sums of the chain: subsidy, median time, finality, signature
 * operations. Reasons are in the words of Bitcoin Core, because people search
 * for those.
 */
import type { DescribedTx } from '../../../ledgers/bitcoin/describe.ts';
import type { BitcoinNetwork } from '../../../ledgers/bitcoin/networks.ts';
import { OPCODE, operationAt } from '../../../ledgers/bitcoin/script.ts';
import { type Coin, inputKey } from './coins.ts';

export const COIN = 100_000_000n;
const MONEY_MAX = 21_000_000n * COIN;
const FIRST_SUBSIDY = 50n * COIN;
const HALVINGS_MAX = 64;
export const BLOCK_WEIGHT_MAX = 4_000_000;
/** Of a block; each of an old script counts four. */
export const SIGOPS_COST_MAX = 80_000;
const SIGOP_COST = 4;
const MULTISIG_SIGOPS = 20;
/** Core's: shorter ones can be taken for an inner node of a Merkle tree. */
const STRIPPED_BYTES_MIN = 65;
const TX_WEIGHT_MAX = 400_000;
/** Lock times below are heights, others seconds. */
const LOCK_SECONDS_MIN = 500_000_000;
const FINAL = 0xffff_ffff;
/** BIP68. */
const RELATIVE_OFF = 0x8000_0000;
const RELATIVE_SECONDS = 0x40_0000;
const RELATIVE_MASK = 0xffff;
const RELATIVE_SECONDS_SHIFT = 9;
const MEDIAN_SPAN = 11;

/** What a chain says of the block to come. */
export interface NextBlock {
  readonly nextHeight: number;
  /** Of the block at that height and the ten before it (BIP113). */
  medianTime(height: number): number;
}

export function subsidyAt(height: number, { halvingBlocks }: BitcoinNetwork): bigint {
  const halvings = Math.floor(height / halvingBlocks);
  return halvings >= HALVINGS_MAX ? 0n : FIRST_SUBSIDY >> BigInt(halvings);
}

/** `timeOf`: of the block at a height. */
export function medianTimeOf(height: number, timeOf: (height: number) => number): number {
  const times: number[] = [];
  for (let at = height; at >= 0 && times.length < MEDIAN_SPAN; at--) times.push(timeOf(at));
  times.sort((a, b) => a - b);
  return times[times.length >> 1];
}

/** Null: nothing is wrong with it by itself. */
export function whyMalformed(tx: DescribedTx): string | null {
  if (tx.coinbase) return 'coinbase';
  if (tx.strippedSize < STRIPPED_BYTES_MIN) return 'tx-size-small';
  if (tx.weight > TX_WEIGHT_MAX) return 'tx-size';
  let sum = 0n;
  for (const { value } of tx.outputs) {
    sum += value;
    if (value > MONEY_MAX) return 'bad-txns-vout-toolarge';
    if (sum > MONEY_MAX) return 'bad-txns-txouttotal-toolarge';
  }
  const keys = tx.inputs.map(inputKey);
  if (new Set(keys).size < keys.length) return 'bad-txns-inputs-duplicate';
  return sigopsCost(tx) > SIGOPS_COST_MAX / 5 ? 'bad-txns-too-many-sigops' : null;
}

/** Null: it can be in the next block as far as its locks go. */
export function whyLockedInTime(tx: DescribedTx, coins: readonly Coin[], ahead: NextBlock): string | null {
  const { lockTime, inputs, version } = tx;
  const now = lockTime < LOCK_SECONDS_MIN ? ahead.nextHeight : ahead.medianTime(ahead.nextHeight - 1);
  if (lockTime >= now && inputs.some(({ sequence }) => sequence !== FINAL)) return 'non-final';
  if (version >= 0 && version < 2) return null;
  const waits = inputs.some(({ sequence }, i) => sequence < RELATIVE_OFF && isTooYoung(sequence, coins[i], ahead));
  return waits ? 'non-BIP68-final' : null;
}

function isTooYoung(sequence: number, coin: Coin, ahead: NextBlock): boolean {
  const span = sequence & RELATIVE_MASK;
  if ((sequence & RELATIVE_SECONDS) === 0) return coin.height + span > ahead.nextHeight;
  const since = ahead.medianTime(Math.max(0, coin.height - 1));
  return since + (span << RELATIVE_SECONDS_SHIFT) > ahead.medianTime(ahead.nextHeight - 1);
}

/** Only old scripts have any here: what P2SH and witnesses hold needs no signature. */
export function sigopsCost({ inputs, outputs }: DescribedTx): number {
  const scripts = [...inputs.map(({ scriptSig }) => scriptSig), ...outputs.map(({ script }) => script)];
  return SIGOP_COST * scripts.reduce((sum, script) => sum + sigops(script), 0);
}

function sigops(script: Uint8Array): number {
  let count = 0;
  for (let at = 0; at < script.length; ) {
    const operation = operationAt(script, at);
    if (operation === null) break;
    const { opcode } = operation;
    if (opcode === OPCODE.checkSig || opcode === OPCODE.checkSig + 1) count++;
    if (opcode === OPCODE.checkMultisig || opcode === OPCODE.checkMultisig + 1) count += MULTISIG_SIGOPS;
    at = operation.stop;
  }
  return count;
}

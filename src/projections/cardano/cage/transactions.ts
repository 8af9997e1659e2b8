/**
 * The transactions of a block that may matter to a cage, each with its inputs
 * resolved: outputs of earlier transactions of the block included, because the
 * fold has resolved them already. A transaction that did not succeed only moved
 * collateral, and is passed over.
 */
import type { CageOutput, CageTx } from '../../../ledgers/cardano/cage/index.ts';
import { describeOutput } from '../../../ledgers/cardano/describe.ts';
import type { OutputTraits, ScriptData } from '../../../ledgers/ledger.ts';
import { OUTPOINT_BYTES, outpointIndex, outpointTxId } from '../../../ledgers/outpoint.ts';
import { compareBytes, readU32, readU64 } from '../../../util/bytes.ts';
import { AT, type Coin, NO_INPUT, outputOffset } from '../../coin.ts';
import type { ForwardBlock } from '../../projection.ts';
import { type CageWatch, scriptHashOf } from './watch.ts';

/** What it takes to read a block of a chain that has cages. */
export interface CageChain {
  readonly traits: OutputTraits;
  scriptData(block: ForwardBlock['block']): ScriptData;
}

/** In the order of the block. Whoever takes them may add to `watch` between one and the next. */
export function* cageTxs(chain: CageChain, block: ForwardBlock, watch: CageWatch, policies: readonly Uint8Array[]): Iterable<CageTx> {
  const { created, spent } = block;
  const { txs } = block.block;
  let script: ScriptData | null = null;
  let [spentAt, createdAt] = [firstOf(spent, spenderOf), firstOf(created, txIndexOf)];
  for (let i = 0; i < txs.length; i++) {
    const [spentEnd, createdEnd] = [endOf(spent, spentAt, i, spenderOf), endOf(created, createdAt, i, txIndexOf)];
    if (txs[i].valid) {
      script ??= chain.scriptData(block.block);
      const matters =
        anyMatters(spent, spentAt, spentEnd, watch) || anyMatters(created, createdAt, createdEnd, watch) || script.mints(i, policies);
      if (matters) {
        const inputs = spent.slice(spentAt, spentEnd).sort(byOutpoint);
        const outputs = created.slice(createdAt, createdEnd);
        yield cageTx(chain.traits, script, i, txs[i].id, inputs, outputs);
      }
    }
    [spentAt, createdAt] = [spentEnd, createdEnd];
  }
}

/** Where the coins of transactions begin: what the ledger itself granted or dropped stands before them. */
function firstOf(coins: readonly Coin[], txOf: (coin: Coin) => number): number {
  let at = 0;
  while (at < coins.length && txOf(coins[at]) < 0) at++;
  return at;
}

function endOf(coins: readonly Coin[], from: number, txIndex: number, txOf: (coin: Coin) => number): number {
  let end = from;
  while (end < coins.length && txOf(coins[end]) === txIndex) end++;
  return end;
}

function anyMatters(coins: readonly Coin[], from: number, to: number, watch: CageWatch): boolean {
  for (let i = from; i < to; i++) if (watch.mayMatter(coins[i])) return true;
  return false;
}

const spenderOf = ({ spender, input }: Coin): number => (spender === null || input === NO_INPUT ? -1 : spender.txIndex);

/** Grants have numbers behind those of all transactions; as a signed number such a one is below zero. */
const txIndexOf = ({ bytes, at }: Coin): number => readU32(bytes, at + AT.txIndex) | 0;

/** The order in which the ledger counts inputs. */
function byOutpoint(a: Coin, b: Coin): number {
  return compareBytes(a.keyBytes.subarray(a.keyAt, a.keyAt + OUTPOINT_BYTES), b.keyBytes.subarray(b.keyAt, b.keyAt + OUTPOINT_BYTES));
}

function cageTx(
  traits: OutputTraits,
  script: ScriptData,
  txIndex: number,
  id: Uint8Array,
  inputs: readonly Coin[],
  outputs: readonly Coin[],
): CageTx {
  return {
    id,
    inputs: inputs.map((coin) => cageOutput(traits, coin)),
    outputs: outputs.map((coin) => cageOutput(traits, coin)),
    mint: script.mint(txIndex),
    redeemer: (purpose, index) => script.redeemer(txIndex, purpose, index),
  };
}

/** Null: it is at no script and has neither assets nor a datum, so that no cage wants anything of it. */
export function cageOutput(traits: OutputTraits, { keyBytes, keyAt, bytes, at, end }: Coin): CageOutput | null {
  const start = outputOffset(bytes, at);
  const { address, assets, inlineDatum } = describeOutput(bytes, start, end);
  const scriptHash = scriptHashOf(address);
  if (scriptHash === null && traits.isPlain(bytes, start, end)) return null;
  return {
    txId: outpointTxId(keyBytes, keyAt),
    index: outpointIndex(keyBytes, keyAt),
    slot: readU64(bytes, at + AT.slot),
    txIndex: readU32(bytes, at + AT.txIndex),
    scriptHash,
    assets,
    datum: inlineDatum,
  };
}

/**
 * What the inputs of a mempool's transactions spend, by what the store says:
 * all that are asked for in one read, and what the answers mean.
 */
import { describeOutput, scriptKey } from '../../../ledgers/bitcoin/index.ts';
import { outpointKey } from '../../../ledgers/outpoint.ts';
import { hexOf } from '../../dialect.ts';
import type { Query } from '../../query.ts';
import type { Utxo } from '../../utxo.ts';
import type { Entry, SpentCoin } from './entry.ts';
import type { MempoolTable } from './table.ts';

/** For each input what the store has; null: nothing, or it was not asked because the mempool has it. */
export type Answers = readonly (Utxo | null)[];

export function lookUp(entries: Iterable<Entry>, table: MempoolTable, query: Query): ReadonlyMap<Entry, Answers> {
  const found = new Map<Entry, (Utxo | null)[]>();
  const asked: { readonly answers: (Utxo | null)[]; readonly input: number }[] = [];
  const keys: Uint8Array[] = [];
  for (const entry of entries) {
    const answers: (Utxo | null)[] = entry.inputs.map(() => null);
    found.set(entry, answers);
    for (const [i, input] of entry.inputs.entries()) {
      if (table.has(input.parent)) continue;
      asked.push({ answers, input: i });
      keys.push(outpointKey(entry.parentId(input), input.index));
    }
  }
  for (const [i, utxo] of query.outpoints(keys).entries()) asked[i].answers[asked[i].input] = utxo;
  return found;
}

/** A block has spent one of its inputs, so it cannot get into one any more. */
export function isSpentOnChain(answers: Answers): boolean {
  return answers.some((utxo) => utxo !== null && utxo.spent !== null);
}

/** A block holds an input of it unspent, so that it is in none itself. */
export function isOpen(answers: Answers): boolean {
  return answers.some((utxo) => utxo !== null && utxo.spent === null);
}

/**
 * One of its inputs was in a block that is still there, up to the height
 * `fork`, and the store does not know it any more: it was spent so long ago
 * that it was forgotten.
 */
export function hasLost({ coins }: Entry, answers: Answers, fork: number): boolean {
  return coins.some((coin, i) => coin !== null && coin.height >= 0 && coin.height <= fork && answers[i] === null);
}

/** Whether the store says of any input something else than it did. */
export function isOutdated({ inputs, coins }: Entry, table: MempoolTable, answers: Answers): boolean {
  return coins.some((coin, i) => {
    if (table.has(inputs[i].parent)) return false;
    const utxo = answers[i];
    return utxo === null || utxo.spent !== null ? coin !== null || utxo !== null : coin?.height !== utxo.output.height;
  });
}

/** What each input spends: an output of the mempool, or of the unspent set. */
export function coinsOf({ inputs }: Entry, table: MempoolTable, answers: Answers): readonly (SpentCoin | null)[] {
  return inputs.map(({ parent, index }, i) => {
    const inMempool = table.get(parent);
    if (inMempool !== undefined) return inMempool.coin(index);
    const utxo = answers[i];
    return utxo === null ? null : coinOf(utxo);
  });
}

function coinOf({ output: { raw, height } }: Utxo): SpentCoin {
  const { value, script } = describeOutput(raw);
  // A copy: what it was read in may hold many others.
  return { value, script: script.slice(), key: hexOf(scriptKey(script)), height };
}

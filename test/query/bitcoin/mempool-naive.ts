/**
 * The mempool worked out the slow way: a list of transactions, and a chain that
 * is replayed from its first block for every question. It shares no code with
 * the real one but the reading of a transaction.
 */
import assert from 'node:assert/strict';
import { scriptKey } from '../../../src/ledgers/bitcoin/index.ts';
import type { Mempool } from '../../../src/query/bitcoin/mempool/mempool.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { type Made, type PoolChain, SCRIPTS } from '../../support/pool-chain.ts';

type Output = Made['outputs'][number];

const nameOf = (txId: Uint8Array, index: number): string => `${toHex(txId)}#${index}`;
const keyOf = ({ script }: Output): string | null => (script[0] === 0x6a ? null : toHex(scriptKey(script)));

interface ChainState {
  readonly ids: ReadonlySet<string>;
  readonly unspent: ReadonlyMap<string, Output>;
  readonly spent: ReadonlySet<string>;
}

function replay({ blocks }: PoolChain): ChainState {
  const ids = new Set<string>();
  const unspent = new Map<string, Output>();
  const spent = new Set<string>();
  for (const { id, inputs, outputs } of blocks.flatMap((block) => block.txs)) {
    ids.add(toHex(id));
    for (const { txId, index } of inputs) if (unspent.delete(nameOf(txId, index))) spent.add(nameOf(txId, index));
    for (const [index, output] of outputs.entries()) if (keyOf(output) !== null) unspent.set(nameOf(id, index), output);
  }
  return { ids, unspent, spent };
}

export class NaiveMempool {
  txs: Made[] = [];
  private readonly chain: PoolChain;

  constructor(chain: PoolChain) {
    this.chain = chain;
  }

  add(tx: Made): void {
    this.settle();
    const { ids, spent } = replay(this.chain);
    const wants = new Set(tx.inputs.map(({ txId, index }) => nameOf(txId, index)));
    if (ids.has(toHex(tx.id)) || this.has(tx.id) || [...wants].some((name) => spent.has(name))) return;
    this.dropWithDescendants((other) => other.inputs.some(({ txId, index }) => wants.has(nameOf(txId, index))));
    this.txs.push(tx);
  }

  remove(id: Uint8Array): void {
    this.settle();
    this.txs = this.txs.filter((tx) => toHex(tx.id) !== toHex(id));
  }

  settle(): void {
    const { ids, spent } = replay(this.chain);
    this.txs = this.txs.filter(({ id }) => !ids.has(toHex(id)));
    this.dropWithDescendants(({ inputs }) => inputs.some(({ txId, index }) => spent.has(nameOf(txId, index))));
  }

  private has(id: Uint8Array): boolean {
    return this.txs.some((tx) => toHex(tx.id) === toHex(id));
  }

  private dropWithDescendants(isFirst: (tx: Made) => boolean): void {
    const gone = new Set(this.txs.filter(isFirst).map(({ id }) => toHex(id)));
    for (let before = -1; before !== gone.size; ) {
      before = gone.size;
      for (const { id, inputs } of this.txs) if (inputs.some(({ txId }) => gone.has(toHex(txId)))) gone.add(toHex(id));
    }
    this.txs = this.txs.filter(({ id }) => !gone.has(toHex(id)));
  }

  /** What every reader of a script should see of it, as a text. */
  scripts(): Map<string, string> {
    const seen = new Map<string, string>();
    const resolved = this.resolved();
    for (const key of SCRIPTS.map((script) => toHex(scriptKey(script)))) {
      const touching = resolved.filter(({ funded, spends }) => [...funded, ...spends].some((output) => keyOf(output) === key));
      const lines = touching.map(({ tx, fee, unconfirmed, prevouts }) => `${toHex(tx.id)} ${fee} ${unconfirmed} ${prevouts.length}`);
      const mine = (outputs: readonly Output[]): Output[] => outputs.filter((output) => keyOf(output) === key);
      const [funded, spent] = [mine(touching.flatMap((entry) => entry.funded)), mine(touching.flatMap((entry) => entry.spends))];
      const sum = (outputs: readonly Output[]): bigint => outputs.reduce((total, { value }) => total + value, 0n);
      seen.set(key, [...lines, `+${funded.length} ${sum(funded)} -${spent.length} ${sum(spent)}`].join('\n'));
    }
    return seen;
  }

  private resolved() {
    const { unspent } = replay(this.chain);
    return this.txs.map((tx) => {
      const prevouts = tx.inputs.map(({ txId, index }) => {
        const parent = this.txs.find(({ id }) => toHex(id) === toHex(txId));
        return { parent, output: (parent === undefined ? unspent.get(nameOf(txId, index)) : parent.outputs[index]) ?? null };
      });
      const spends = prevouts.flatMap(({ output }) => (output === null ? [] : [output]));
      const total = (outputs: readonly Output[]): bigint => outputs.reduce((sum, { value }) => sum + value, 0n);
      const fee = spends.length === prevouts.length ? total(spends) - total(tx.outputs) : null;
      const unconfirmed = prevouts.some(({ parent, output }) => parent !== undefined || output === null);
      return { tx, prevouts, spends, funded: tx.outputs, fee, unconfirmed };
    });
  }

  /** The real one says the same to every question. */
  check(mempool: Mempool): void {
    const resolved = this.resolved();
    assert.deepEqual(
      [...mempool.all()].map(({ id }) => toHex(id)),
      this.txs.map(({ id }) => toHex(id)),
    );
    assert.equal(mempool.size, this.txs.length);
    assert.equal(
      mempool.bytes,
      this.txs.reduce((sum, { raw }) => sum + raw.length, 0),
    );
    for (const { tx, prevouts, fee, unconfirmed } of resolved) {
      const entry = mempool.get(tx.id);
      assert.ok(entry);
      assert.deepEqual([entry.raw, entry.fee, entry.hasUnconfirmedParents], [tx.raw, fee, unconfirmed]);
      assert.deepEqual(plain(entry.prevouts), plain(prevouts.map(({ output }) => output)));
      for (const [input, { txId, index }] of tx.inputs.entries()) assert.deepEqual(mempool.spender(txId, index), { tx: entry, input });
      for (const [index, output] of tx.outputs.entries()) assert.deepEqual(plain([mempool.output(tx.id, index)]), plain([output]));
    }
    for (const [key, text] of this.scripts()) assert.equal(scriptText(mempool, key), text);
  }
}

function plain(outputs: readonly (Output | null)[]): unknown[] {
  return outputs.map((output) => (output === null ? null : [output.value, toHex(output.script)]));
}

function scriptText(mempool: Mempool, hex: string): string {
  const key = fromHex(hex);
  const entries = mempool.byScript(key);
  const lines = entries.map((tx) => `${toHex(tx.id)} ${tx.fee} ${tx.hasUnconfirmedParents} ${tx.prevouts.length}`);
  const { fundedCount, fundedSum, spentCount, spentSum, txs } = mempool.totals(key);
  assert.equal(txs, entries.length);
  return [...lines, `+${fundedCount} ${fundedSum} -${spentCount} ${spentSum}`].join('\n');
}

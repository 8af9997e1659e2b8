/**
 * The mempool against one that is worked out anew for every question: random
 * transactions in any order, replacements, blocks with and without them, turns
 * of the chain. Whoever listens is told once per change, of every script whose
 * picture changed.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { Mempool } from '../../../src/query/bitcoin/mempool/mempool.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { TEST_SEED } from '../../support/harness.ts';
import { type Made, makeTx, PoolChain } from '../../support/pool-chain.ts';
import { NaiveMempool } from './mempool-naive.ts';

type Command =
  | { readonly kind: 'make'; readonly from: readonly number[]; readonly scripts: readonly number[]; readonly value: number }
  | { readonly kind: 'take'; readonly picks: readonly number[] }
  | { readonly kind: 'remove'; readonly picks: readonly number[] }
  | { readonly kind: 'mine'; readonly picks: readonly number[]; readonly settle: boolean }
  | { readonly kind: 'back'; readonly depth: number; readonly settle: boolean }
  | { readonly kind: 'settle' }
  | { readonly kind: 'reset' };

const picks = fc.array(fc.nat(1000), { minLength: 1, maxLength: 8 });
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('make' as const),
        from: fc.array(fc.nat(60), { minLength: 1, maxLength: 3 }),
        scripts: fc.array(fc.nat(4), { minLength: 1, maxLength: 3 }),
        value: fc.integer({ min: 1, max: 1000 }),
      }),
    },
    { weight: 8, arbitrary: fc.record({ kind: fc.constant('take' as const), picks }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), picks }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('mine' as const), picks, settle: fc.boolean() }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('back' as const), depth: fc.integer({ min: 1, max: 3 }), settle: fc.boolean() }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('settle' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const) }) },
  ),
  { minLength: 5, maxLength: 60, size: 'max' },
);

class Rig {
  readonly chain = new PoolChain();
  readonly mempool = new Mempool();
  readonly naive = new NaiveMempool(this.chain);
  readonly made: Made[] = [];
  /** Every transaction there ever was, coinbases too: what can be spent, or be tried to. */
  private readonly every: Made[] = [];
  private told: ReadonlySet<string>[] = [];
  private before = this.naive.scripts();

  constructor() {
    for (let i = 0; i < 4; i++) this.every.push(this.chain.mine());
    this.mempool.onChange((keys) => this.told.push(keys));
  }

  run(command: Command): void {
    this.told = [];
    if (command.kind === 'make') this.make(command);
    else if (command.kind === 'take') this.take(this.pick(command.picks));
    else if (command.kind === 'remove') this.remove(this.pick(command.picks));
    else if (command.kind === 'mine') this.every.push(this.chain.mine(this.minable(this.pick(command.picks))));
    else if (command.kind === 'back') this.chain.back(Math.min(command.depth, this.chain.height - 1));
    else if (command.kind === 'reset') this.reset();
    if (command.kind === 'settle' || ('settle' in command && command.settle)) this.settle();
    if (command.kind === 'make' || ('settle' in command && !command.settle)) return;
    this.naive.check(this.mempool);
    this.checkTold();
  }

  /** Newer ones rather than older: otherwise hardly any would build on one another. */
  private make({ from, scripts, value }: Extract<Command, { kind: 'make' }>): void {
    const outpoints = this.every.flatMap(({ id, outputs }) => outputs.map((_, index) => ({ txId: id, index }))).reverse();
    const inputs = [...new Set(from.map((n) => n % Math.min(outpoints.length, 30)))].map((n) => outpoints[n]);
    const tx = makeTx(
      inputs,
      scripts.map((script) => [BigInt(value), script]),
    );
    this.made.push(tx);
    this.every.push(tx);
  }

  private pick(numbers: readonly number[]): Made[] {
    const recent = this.made.slice(-25);
    return recent.length === 0 ? [] : numbers.map((n) => recent[n % recent.length]);
  }

  private take(txs: readonly Made[]): void {
    this.chain.read((query) => this.mempool.take({ kind: 'add', txs: txs.map(({ raw }) => raw) }, query));
    this.naive.settle();
    for (const tx of txs) this.naive.add(tx);
  }

  private remove(txs: readonly Made[]): void {
    this.chain.read((query) => this.mempool.take({ kind: 'remove', ids: txs.map(({ id }) => id) }, query));
    this.naive.settle();
    for (const { id } of txs) this.naive.remove(id);
  }

  private reset(): void {
    this.chain.read((query) => this.mempool.take({ kind: 'reset' }, query));
    this.naive.txs = [];
  }

  private settle(): void {
    this.chain.read((query) => this.mempool.settle(query));
    this.naive.settle();
  }

  /** Of these, in this order, those that a block can hold. */
  private minable(txs: readonly Made[]): Made[] {
    const unspent = new Set<string>();
    const ids = new Set<string>();
    const nameOf = (txId: Uint8Array, index: number): string => `${toHex(txId)}#${index}`;
    const fits = ({ id, inputs, outputs }: Made): boolean => {
      const names = inputs.map(({ txId, index }) => nameOf(txId, index));
      const isFirst = inputs.some(({ index }) => index === 0xffff_ffff);
      if (ids.has(toHex(id)) || !(isFirst || names.every((name) => unspent.has(name)))) return false;
      for (const name of names) unspent.delete(name);
      for (const [index, { script }] of outputs.entries()) if (script[0] !== 0x6a) unspent.add(nameOf(id, index));
      ids.add(toHex(id));
      return true;
    };
    for (const tx of this.chain.blocks.flatMap((block) => block.txs)) fits(tx);
    return txs.filter(fits);
  }

  private checkTold(): void {
    const after = this.naive.scripts();
    const changed = [...after].filter(([key, text]) => this.before.get(key) !== text).map(([key]) => key);
    this.before = after;
    assert.ok(this.told.length <= 1, `told ${this.told.length} times`);
    for (const key of changed) assert.ok(this.told[0]?.has(key), `${key} changed, and nobody was told`);
  }
}

describe('the mempool', () => {
  it('is what it would be if it were worked out anew, whatever happens', () => {
    const seen = { replaced: 0, children: 0, unknown: 0, confirmed: 0 };
    fc.assert(
      fc.property(commands, (list) => {
        const rig = new Rig();
        for (const command of list) {
          const before = new Set([...rig.mempool.all()].map(({ id }) => toHex(id)));
          rig.run(command);
          for (const { id } of rig.mempool.all()) before.delete(toHex(id));
          if (command.kind === 'take') seen.replaced += before.size;
          if (command.kind === 'mine') seen.confirmed += before.size;
          for (const tx of rig.mempool.all()) {
            if (tx.fee === null) seen.unknown++;
            else if (tx.hasUnconfirmedParents) seen.children++;
          }
        }
      }),
      { seed: TEST_SEED, numRuns: 150 },
    );
    // What the test is about did come up.
    for (const [what, count] of Object.entries(seen)) assert.ok(count > 50, `${what}: ${count}`);
  });
});

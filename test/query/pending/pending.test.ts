/**
 * Transactions in no block over the newest one, against a model: chains of them,
 * conflicts, blocks that hold some of them or spend what they spend, scripts that
 * fail, times that end, and turns of the chain. Every list, page, balance and
 * output that a view gives is what the model says.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readSubmitted } from '../../../src/chains/cardano/devnet/submitted.ts';
import { blake2b224 } from '../../../src/crypto/hash.ts';
import { writeTransaction } from '../../../src/ledgers/cardano/transaction-write.ts';
import type { MempoolChange } from '../../../src/ledgers/mempool-change.ts';
import { pendingTxReader } from '../../../src/query/cardano/pending-tx.ts';
import { PendingTxs } from '../../../src/query/pending/pending-txs.ts';
import type { Query } from '../../../src/query/query.ts';
import type { ChainView } from '../../../src/query/view.ts';
import { fromHex, toHex } from '../../../src/util/bytes.ts';
import { PENDING_RETURN_BLOCKS, PENDING_SECONDS_MAX } from '../../../src/util/limits.ts';
import { Devnet, memoryRig, type Rig, TEST_SEED } from '../../support/harness.ts';
import { type ModelOutput, type ModelTx, nameOf, nameParts, PendingModel } from './pending-model.ts';

type Command =
  | {
      readonly kind: 'make';
      readonly from: readonly number[];
      readonly outputs: number;
      readonly lives: number;
      readonly fails: boolean;
      readonly isTold: boolean;
    }
  | { readonly kind: 'tell'; readonly picks: readonly number[] }
  | { readonly kind: 'remove'; readonly picks: readonly number[]; readonly ahead: boolean }
  | { readonly kind: 'mine'; readonly picks: readonly number[] }
  | { readonly kind: 'back'; readonly depth: number }
  | { readonly kind: 'reset' };

const picks = fc.array(fc.nat(40), { minLength: 1, maxLength: 6 });
const make = fc.record({
  kind: fc.constant('make' as const),
  from: fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }),
  outputs: fc.integer({ min: 1, max: 3 }),
  lives: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 80 })),
  fails: fc.nat(9).map((n) => n === 0),
  isTold: fc.nat(3).map((n) => n > 0),
});
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: make },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('tell' as const), picks }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('remove' as const), picks, ahead: fc.boolean() }) },
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('mine' as const), picks }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('back' as const), depth: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset' as const) }) },
  ),
  { minLength: 10, maxLength: 40, size: 'max' },
);

const KEEPS = ['chain', 'transactions', 'utxo', 'index.address', 'balance.address'];
const FEE = 200_000n;

class Stage {
  readonly rig: Rig;
  readonly model: PendingModel;
  readonly mempool: PendingTxs;
  time = 1000;
  readonly made: ModelTx[] = [];
  readonly addresses: readonly string[];

  constructor(limits: { readonly txsMax?: number } = {}) {
    const devnet = new Devnet({ seed: 5, addresses: 3, txPerBlock: 1 });
    this.rig = memoryRig(devnet, { keeps: KEEPS });
    this.rig.forward(8);
    this.model = new PendingModel(devnet.chain);
    this.mempool = new PendingTxs(pendingTxReader(devnet.ledger), { ...limits, now: () => this.time });
    const owners = [...devnet.chain.utxos.values()].map(({ addressHex }) => addressHex).filter((hex) => !hex.startsWith('8'));
    this.addresses = [...new Set(owners)];
  }

  get chain() {
    return this.rig.devnet.chain;
  }

  /** Null: it would not have enough to spend. */
  make({ from, outputs, lives, fails }: Extract<Command, { kind: 'make' }>): ModelTx | null {
    const known = new Map<string, ModelOutput>();
    for (const [name, utxo] of this.chain.utxos) if (utxo.assets.size === 0) known.set(name, utxo);
    for (const { creates } of this.made) for (const [name, output] of creates) known.set(name, output);
    // Mostly what can be spent, else anything: then it waits, or takes the place of another.
    const open = [...this.model.state().unspent.keys()].filter((name) => known.has(name));
    const names = from[0] % 6 === 0 ? [...known.keys()] : open;
    const spends = [...new Set(from.map((n) => names.at(-1 - (n % names.length))!))];
    const sum = spends.reduce((total, name) => total + known.get(name)!.lovelace, 0n) - FEE;
    if (sum < 1_000_000n * BigInt(outputs)) return null;
    const share = sum / BigInt(outputs);
    const until = lives === Number.POSITIVE_INFINITY ? undefined : this.chain.blocks.at(-1)!.slot + lives;
    const made = Array.from({ length: outputs }, (_, i) => ({
      addressHex: this.addresses[(from[0] + i) % this.addresses.length],
      lovelace: i === 0 ? sum - share * BigInt(outputs - 1) : share,
    }));
    const toWrite = made.map(({ addressHex, lovelace }) => ({ address: fromHex(addressHex), lovelace }));
    const { tx, id } = writeTransaction({
      inputs: spends.map(nameParts),
      outputs: toWrite,
      fee: FEE,
      validity: { until },
      collateral: { input: nameParts(spends[0]), total: known.get(spends[0])!.lovelace, change: toWrite[0] },
      signers: [],
      references: [],
      scripts: [],
      units: { memory: 0n, steps: 0n },
      costModel: [],
    });
    // Of one whose scripts fail, only the collateral goes, and its change comes behind the outputs that never are.
    if (fails) tx[tx.length - 2] = 0xf4;
    const creates = new Map(made.map((output, i) => [`${toHex(id)}#${i}`, output]));
    const back = new Map([[`${toHex(id)}#${outputs}`, made[0]]]);
    const effect = fails ? { spends: spends.slice(0, 1), creates: back } : { spends, creates };
    return { id: toHex(id), raw: tx, ...effect, until: until ?? Number.POSITIVE_INFINITY };
  }

  take(changes: readonly MempoolChange[]): void {
    this.rig.read((query) => this.mempool.takeAll(changes, query));
  }

  tell(txs: readonly ModelTx[]): void {
    for (const tx of txs) this.model.add(tx);
    this.take([{ kind: 'add', txs: txs.map(({ raw }) => raw) }]);
  }

  /** A block with those of them that fit into it; the devnet adds one of its own, which may spend what others wanted to. */
  mine(txs: readonly ModelTx[]): void {
    const unspent = new Set(this.chain.utxos.keys());
    const fitting = txs.filter(({ spends, creates }) => {
      if (!spends.every((name) => unspent.has(name))) return false;
      for (const name of spends) unspent.delete(name);
      for (const name of creates.keys()) unspent.add(name);
      return true;
    });
    this.chain.mine(fitting.map(({ raw }) => readSubmitted(raw)));
    this.rig.apply(this.rig.devnet.blocks(-1));
    this.rig.read((query) => this.mempool.settle(query));
  }

  back(depth: number): void {
    this.rig.fold.rollback(this.rig.devnet.pointBelow(depth));
    this.chain.rollback(depth);
    this.rig.read((query) => this.mempool.settle(query));
  }

  run(command: Command): void {
    const chosen = (from: readonly ModelTx[], numbers: readonly number[]): ModelTx[] =>
      from.length === 0 ? [] : [...new Set(numbers.map((n) => from[n % from.length]))];
    if (command.kind === 'make') {
      const tx = this.make(command);
      if (tx === null) return;
      this.made.push(tx);
      if (command.isTold) this.tell([tx]);
    } else if (command.kind === 'tell') this.tell(chosen(this.made.slice(-40), command.picks));
    else if (command.kind === 'remove') {
      const ids = chosen(this.model.state().txs, command.picks).map(({ id }) => id);
      const slot = command.ahead ? this.chain.nextSlot + 1 : 0;
      this.model.remove(ids, slot);
      this.take([{ kind: 'remove', ids: ids.map((id) => fromHex(id)), ...(command.ahead ? { slot } : {}) }]);
    } else if (command.kind === 'mine') this.mine(chosen(this.model.state().txs, command.picks));
    else if (command.kind === 'back') this.back(Math.min(command.depth, this.chain.blocks.length - 2));
    else {
      this.model.reset();
      this.take([{ kind: 'reset' }]);
    }
  }

  view<T>(body: (view: ChainView, query: Query) => T): T {
    return this.rig.read((query) => body(query.pending(this.mempool.overlayAt(query)), query));
  }

  check(): void {
    const { unspent, spenders, txs } = this.model.state();
    this.view((view) => {
      assert.equal(this.mempool.size, txs.length);
      for (const address of this.addresses) {
        const wanted = [...unspent].filter(([, { addressHex }]) => addressHex === address);
        this.checkOwner(view, blake2b224(fromHex(address)), new Map(wanted));
      }
      for (const { creates, spends } of this.made)
        for (const name of [...creates.keys(), ...spends]) this.checkOutput(view, name, unspent, spenders);
    });
  }

  private checkOwner(view: ChainView, key: Uint8Array, wanted: ReadonlyMap<string, ModelOutput>): void {
    const found = [...view.byKey('address', key)];
    const names = found.map(nameOf);
    assert.deepEqual(names.toSorted(), [...wanted.keys()].toSorted());
    assert.deepEqual([...view.byKey('address', key, { order: 'desc' })].map(nameOf), names.toReversed());
    for (const order of ['asc', 'desc'] as const) {
      const paged: string[] = [];
      for (let after: Uint8Array | undefined; ; ) {
        const page = [...view.byKey('address', key, { order, after, limit: 2 })];
        paged.push(...page.map(nameOf));
        after = page.at(-1)?.cursor;
        if (page.length < 2) break;
      }
      assert.deepEqual(paged, order === 'asc' ? names : names.toReversed(), 'pages put together are the whole');
    }
    const { utxos, value } = view.balance('address', key);
    assert.deepEqual([utxos, value], [wanted.size, [...wanted.values()].reduce((sum, { lovelace }) => sum + lovelace, 0n)]);
  }

  private checkOutput(
    view: ChainView,
    name: string,
    unspent: ReadonlyMap<string, ModelOutput>,
    spenders: ReadonlyMap<string, string>,
  ): void {
    const { txId, index } = nameParts(name);
    const found = view.outpoint(txId, index);
    const listed = view.tx(txId).outputs.find((utxo) => utxo.index === index) ?? null;
    assert.deepEqual(listed, found);
    if (unspent.has(name)) assert.deepEqual([found?.spent, found?.output.value], [null, unspent.get(name)!.lovelace]);
    else if (spenders.has(name)) assert.equal(toHex(found!.spent!.txId!), spenders.get(name));
    else assert.notEqual(found?.spent, null, 'unknown, or spent by a block');
  }
}

describe('the mempool over the newest block', () => {
  it('is what the model says, whatever happens', () => {
    fc.assert(
      fc.property(commands, (list) => {
        const stage = new Stage();
        for (const command of list) {
          stage.run(command);
          stage.check();
        }
      }),
      { seed: TEST_SEED, numRuns: 25 },
    );
  });

  const anyTx = { kind: 'make', from: [0], outputs: 2, lives: Number.POSITIVE_INFINITY, fails: false, isTold: false } as const;

  it('forgets what has not counted for many blocks, and no sooner', () => {
    const stage = new Stage();
    const tx = stage.make(anyTx)!;
    stage.tell([tx]);
    stage.mine([tx]);
    for (let i = 0; i < PENDING_RETURN_BLOCKS - 1; i++) stage.mine([]);
    stage.back(PENDING_RETURN_BLOCKS);
    assert.equal(stage.mempool.size, 1, 'it is back');
    stage.mine([tx]);
    for (let i = 0; i < PENDING_RETURN_BLOCKS; i++) stage.mine([]);
    stage.back(PENDING_RETURN_BLOCKS + 1);
    assert.equal(stage.mempool.size, 0);
  });

  it('keeps what came back from a block for a time, if the node does not hold it', () => {
    const stage = new Stage();
    const tx = stage.make(anyTx)!;
    stage.tell([tx]);
    stage.mine([tx]);
    stage.take([{ kind: 'remove', ids: [fromHex(tx.id)] }]);
    stage.back(1);
    assert.equal(stage.mempool.size, 1);
    stage.time += PENDING_SECONDS_MAX;
    stage.take([]);
    assert.equal(stage.mempool.size, 1);
    stage.time++;
    stage.take([]);
    assert.equal(stage.mempool.size, 0);
  });

  it('holds a bounded number, and bytes that are no transaction not at all', () => {
    const stage = new Stage({ txsMax: 2 });
    const txs: ModelTx[] = [];
    for (let i = 0; i < 3; i++) {
      const tx = stage.make({ ...anyTx, from: [i] });
      if (tx !== null) txs.push(tx);
    }
    stage.take([{ kind: 'add', txs: [Uint8Array.of(0x80), new Uint8Array(0), ...txs.map(({ raw }) => raw)] }]);
    assert.equal(txs.length, 3);
    assert.equal(stage.mempool.size, 2);
    stage.view((view) => {
      assert.equal(view.tx(fromHex(txs[0].id)).outputs.length, 0, 'the oldest had to go');
      assert.equal(view.tx(fromHex(txs[2].id)).outputs.length, 2);
    });
  });
});

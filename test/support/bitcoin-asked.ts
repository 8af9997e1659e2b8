/**
 * Every kind of question to a store of the Bitcoin family, put at random and
 * answered by plain maps: outputs, scripts, balances, transactions, what a block
 * did, the chain as it was at an earlier block, and the history.
 */

import assert from 'node:assert/strict';
import type { Random } from '../../src/chains/random.ts';
import { describeOutput, scriptKey } from '../../src/ledgers/bitcoin/index.ts';
import type { SetSummary } from '../../src/ledgers/ledger.ts';
import { rawBlock } from '../../src/query/bitcoin/raw-block.ts';
import type { Query, Utxo } from '../../src/query/query.ts';
import type { ChainView } from '../../src/query/view.ts';
import { type PrunedHeights, readPruned } from '../../src/state/pruned.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { Account, type PlainSpend } from './bitcoin-account.ts';
import { nameOf, type PlainBlock, type PlainOutput } from './bitcoin-chain.ts';
import type { BitcoinRig } from './bitcoin-rig.ts';

const SET_HASH_EVERY = 8;

export class Asked {
  /** How often each question was put, and how often the answer was that it is not known any more. */
  readonly counts = {
    unspent: 0,
    spent: 0,
    forgotten: 0,
    scripts: 0,
    changes: 0,
    changesPruned: 0,
    past: 0,
    pastPruned: 0,
    history: 0,
    setHash: 0,
  };
  private readonly rig: BitcoinRig;
  private readonly random: Random;

  constructor(rig: BitcoinRig, random: Random) {
    this.rig = rig;
    this.random = random;
  }

  /** `lost`: a block of a fork that was left. */
  everything(account: Account, lost: PlainBlock | undefined): void {
    const pruned = readPruned(this.rig.engine);
    this.rig.read((query) => {
      assert.equal(query.head && toHex(query.head.hash), account.tip === undefined ? null : toHex(account.tip.hash));
      this.view(query, account, pruned, 2);
      this.lost(query, account, lost);
      this.past(query, account, pruned);
      if (account.blocks.length === 0) return;
      this.block(query, account);
      this.changes(query, account, pruned);
      this.history(query, account);
      if (this.random.int(SET_HASH_EVERY) === 0) assert.equal(query.setHash(this.rig.ledger.setHash)?.bogosize, account.setHash().bogosize);
    });
  }

  /** What both the present and the past answer, for some outputs, transactions and scripts. */
  private view(view: ChainView, account: Account, pruned: PrunedHeights, times: number): void {
    const { random } = this;
    const outputs = [...account.outputs.values()];
    for (let i = 0; i < times && outputs.length > 0; i++) {
      const output = random.pick(outputs);
      this.output(view.outpoint(output.txId, output.index), output, account, pruned);
      assert.equal(view.outpoint(output.txId, output.index + 700), null);
      this.script(view, account, random.pick(outputs).key);
    }
    const nobody = new Uint8Array(28).fill(3);
    assert.deepEqual([...view.byKey('address', nobody)], []);
    assert.deepEqual(view.balance('address', nobody), { utxos: 0, value: 0n, assets: [] });
    if (account.txs.size > 0) this.tx(view, account, pruned);
  }

  private script(view: ChainView, account: Account, hex: string): void {
    const { random } = this;
    const key = fromHex(hex);
    const all = account.byKey(hex);
    const order = random.chance(0.5) ? 'asc' : 'desc';
    const wanted = order === 'desc' ? all.toReversed() : all;
    const limit = 1 + random.int(6);
    const first = [...view.byKey('address', key, { order, limit })];
    const rest = first.length < limit ? [] : [...view.byKey('address', key, { order, after: first[limit - 1].cursor })];
    assert.deepEqual(
      [...first, ...rest].map(({ txId, index, output, spent }) => [nameOf(txId, index), output.value, output.height, spent]),
      wanted.map(({ name, value, height }) => [name, value, height, null]),
    );
    const value = all.reduce((sum, output) => sum + output.value, 0n);
    assert.deepEqual(view.balance('address', key), { utxos: all.length, value, assets: [] });
    this.counts.scripts++;
  }

  private tx(view: ChainView, account: Account, pruned: PrunedHeights): void {
    const { tx, height, txIndex } = this.random.pick([...account.txs.values()]);
    const { row, outputs } = view.tx(tx.id);
    assert.deepEqual(row, { height, txIndex, valid: true });
    const known = tx.creates.filter(({ name }) => (account.spends.get(name)?.height ?? Number.POSITIVE_INFINITY) > pruned.spent);
    assert.deepEqual(
      outputs.map(({ index }) => index),
      known.map(({ index }) => index),
    );
    for (const [i, output] of known.entries()) this.output(outputs[i], output, account, pruned);
  }

  private output(found: Utxo | null, wanted: PlainOutput, account: Account, pruned: PrunedHeights): void {
    const spend = account.spends.get(wanted.name);
    if (spend !== undefined && spend.height <= pruned.spent) {
      assert.equal(found, null, `${wanted.name}, spent at ${spend.height}, is not known any more`);
      this.counts.forgotten++;
      return;
    }
    assert.ok(found !== null, `${wanted.name} is known`);
    this.counts[spend === undefined ? 'unspent' : 'spent']++;
    sameOutput(found, wanted);
    sameSpend(found, spend);
  }

  private lost(query: Query, { txs, outputs }: Account, lost: PlainBlock | undefined): void {
    const tx = lost?.txs.find(({ id }) => !txs.has(toHex(id)));
    if (tx === undefined) return;
    assert.deepEqual(query.tx(tx.id), { row: null, outputs: [] }, 'a transaction of a fork that was left');
    assert.equal(query.history().tx(tx.id), null);
    for (const { txId, index, name } of tx.creates.slice(0, 2)) if (!outputs.has(name)) assert.equal(query.outpoint(txId, index), null);
    assert.equal(query.blockByHash(lost!.hash), null);
    refused(() => query.at(lost!), 'POINT_UNKNOWN');
  }

  private past(query: Query, account: Account, pruned: PrunedHeights): void {
    const { blocks } = account;
    assert.deepEqual(query.at(null).head, null);
    if (blocks.length === 0) return;
    // Mostly of what is not long ago, where it is known.
    const back = Math.min(this.random.int(this.random.chance(0.3) ? 60 : 12), blocks.length - 1);
    const number = blocks.length - 1 - back;
    const knownFrom = this.rig.options.selfContained ? pruned.deltas : Math.max(pruned.spent, pruned.deltas);
    if (back > 0 && number + 1 <= knownFrom) {
      refused(() => query.at(blocks[number]), 'PRUNED');
      this.counts.pastPruned++;
      return;
    }
    const view = query.at(blocks[number]);
    const then = new Account(blocks.slice(0, number + 1));
    assert.equal(view.head && toHex(view.head.hash), toHex(blocks[number].hash));
    this.view(view, then, pruned, 2);
    for (const { tx } of [...account.txs.values()].slice(then.txs.size).slice(0, 2))
      assert.deepEqual(view.tx(tx.id), { row: null, outputs: [] }, 'a transaction that came later');
    if (this.random.int(SET_HASH_EVERY) === 0) this.setHash(query.setHashAt(this.rig.ledger.setHash, blocks[number]), then);
    this.counts.past++;
  }

  private setHash(found: SetSummary | null, account: Account): void {
    const { row, bogosize } = account.setHash();
    const wanted = this.rig.ledger.setHash.summary(row === '' ? null : fromHex(row));
    assert.deepEqual([found, wanted.bogosize], [wanted, bogosize]);
    this.counts.setHash++;
  }

  private block(query: Query, { blocks }: Account): void {
    const { hash, height, raw, txs } = this.random.pick(blocks);
    const row = query.blockByHash(hash);
    assert.deepEqual([row?.height, row?.slot, row?.size, row?.txCount], [height, height, raw.length, txs.length]);
    assert.equal(toHex(query.blockAtHeight(height)!.hash), toHex(hash));
    assert.equal(toHex(query.blockAtSlot(height)!.hash), toHex(hash));
    assert.equal(query.blockAtHeight(blocks.length), null);
  }

  private changes(query: Query, account: Account, pruned: PrunedHeights): void {
    const block = this.random.pick(account.blocks);
    const created = block.txs.flatMap(({ creates }) => creates);
    const spent = block.txs.flatMap(({ spends }) => spends);
    const row = query.blockByHash(block.hash)!;
    // A self-contained undo record holds what its block spent for as long as it is there itself.
    const goneUpTo = this.rig.options.selfContained ? pruned.deltas : pruned.spent;
    const isGone = ({ name }: PlainOutput): boolean => (account.spends.get(name)?.height ?? Number.POSITIVE_INFINITY) <= goneUpTo;
    if (block.height <= pruned.deltas || [...created, ...spent].some(isGone)) {
      refused(() => query.changes(row), 'PRUNED');
      this.counts.changesPruned++;
      return;
    }
    const found = query.changes(row);
    assert.deepEqual(
      found.txs.map(({ id }) => toHex(id)),
      block.txs.map(({ id }) => toHex(id)),
    );
    assert.deepEqual([found.created.length, found.spent.length], [created.length, spent.length]);
    for (const [i, output] of created.entries()) {
      const spend = account.spends.get(output.name);
      sameOutput(found.created[i], output);
      sameSpend(found.created[i], spend?.height === block.height ? spend : undefined);
    }
    for (const [i, output] of spent.entries()) {
      sameOutput(found.spent[i], output);
      sameSpend(found.spent[i], account.spends.get(output.name));
    }
    this.counts.changes++;
  }

  private history(query: Query, account: Account): void {
    const { random } = this;
    const history = query.history();
    const block = random.pick(account.blocks);
    const { height, txs } = block;
    assert.equal(toHex(rawBlock(query, query.blockByHash(block.hash)!)), toHex(block.raw), 'the block, byte by byte');
    const told = txs.map(({ id, raw }, txIndex) => ({ height, txIndex, id: toHex(id), raw: toHex(raw) }));
    const tell = (tx: { height: number; txIndex: number; id: Uint8Array; raw: Uint8Array }) => ({
      ...tx,
      id: toHex(tx.id),
      raw: toHex(tx.raw),
    });
    const from = random.int(txs.length);
    assert.deepEqual(history.txs(height, from, 2).map(tell), told.slice(from, from + 2));
    assert.deepEqual(
      history.ids(height).map((id) => toHex(id)),
      told.map(({ id }) => id),
    );
    assert.deepEqual(tell(history.tx(txs[from].id)!), told[from]);
    assert.equal(history.txAt(height, txs.length), null);
    if (account.outputs.size === 0) return;
    const output = random.pick([...account.outputs.values()]);
    const spend = account.spends.get(output.name);
    const wanted = spend === undefined ? null : { height: spend.height, txIndex: spend.txIndex, input: spend.input, output: null };
    assert.deepEqual(history.spend(output.txId, output.index), wanted);
    const rows = account.scriptHistory().get(output.key)!;
    const key = fromHex(output.key);
    const after = random.pick(rows);
    assert.deepEqual([...history.ofKey('address', key)], rows);
    assert.deepEqual([...history.ofKey('address', key, { after, limit: 3 })], rows.slice(rows.indexOf(after) + 1).slice(0, 3));
    assert.deepEqual([...history.ofKey('address', key, { after, order: 'desc' })], rows.slice(0, rows.indexOf(after)).reverse());
    const sum = (pick: (row: (typeof rows)[number]) => bigint): bigint => rows.reduce((total, row) => total + pick(row), 0n);
    const { txs: count, fundedSum, spentSum, fundedCount, spentCount } = history.totals('address', key);
    assert.deepEqual([count, fundedSum, spentSum], [rows.length, sum((row) => row.fundedSum), sum((row) => row.spentSum)]);
    assert.equal(fundedCount - spentCount, account.byKey(output.key).length, 'what is left of a script');
    this.counts.history++;
  }
}

function sameOutput({ txId, index, output }: Utxo, wanted: PlainOutput): void {
  const { value, height, slot, txIndex, raw, flags } = output;
  assert.equal(nameOf(txId, index), wanted.name);
  assert.deepEqual(
    { value, height, slot, txIndex, flags, raw: toHex(raw), key: toHex(scriptKey(describeOutput(raw).script)) },
    {
      value: wanted.value,
      height: wanted.height,
      slot: wanted.height,
      txIndex: wanted.txIndex,
      flags: wanted.coinbase ? 1 : 0,
      raw: toHex(wanted.raw),
      key: wanted.key,
    },
  );
}

function sameSpend({ spent }: Utxo, wanted: PlainSpend | undefined): void {
  assert.deepEqual(
    spent && [toHex(spent.txId!), spent.input, spent.height, spent.slot],
    wanted === undefined ? null : [toHex(wanted.by.id), wanted.input, wanted.height, wanted.height],
  );
}

function refused(body: () => unknown, code: string): void {
  assert.throws(body, (error) => isUnspentError(error) && error.code === code);
}

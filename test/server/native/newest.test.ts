/**
 * What came last, assets as a whole, and what rollbacks took away: held against
 * the devnet's own account of its blocks.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { toHex } from '../../../src/util/bytes.ts';
import { assertProblem, Served } from '../../support/served.ts';

interface BlockDocument {
  readonly height: number;
  readonly hash: string;
}

interface TxDocument {
  readonly tx_hash: string;
  readonly tx_index: number;
  readonly block: number;
  readonly valid: boolean;
  readonly output_count: number;
  readonly lovelace_amount: string;
}

interface RollbackDocument {
  readonly to: BlockDocument | null;
  readonly undone: number;
  readonly blocks: readonly BlockDocument[];
  readonly partial: boolean;
  readonly transactions: readonly (TxDocument & {
    readonly outputs: readonly { readonly tx_hash: string }[];
    readonly after: { readonly state: string; readonly block?: number; readonly instead?: string };
  })[];
}

describe('what came last', () => {
  let served: Served;
  before(async () => {
    served = await Served.open({ seed: 5, blocks: 60 });
  });
  after(() => served.close());
  const chain = () => served.devnet.chain.blocks;

  test('blocks come from the newest down, and go on below a height', async () => {
    const first = (await served.get('/blocks?limit=5')).json<BlockDocument[]>();
    const newest = chain().slice(-5).reverse();
    assert.deepEqual(
      first.map(({ height, hash }) => [height, hash]),
      newest.map(({ height, hash }) => [height, toHex(hash)]),
    );
    const next = (await served.get(`/blocks?limit=100&before=${first[4].height}`)).json<BlockDocument[]>();
    assert.equal(next[0].height, first[4].height - 1);
    assert.equal(next.at(-1)?.height, 0);
    assert.deepEqual((await served.get('/blocks?before=0')).json(), []);
    assertProblem(await served.get('/blocks?limit=101'), 'USAGE', 400, 'limit');
  });

  test('transactions come last first, with what they made', async () => {
    const txs = (await served.get('/txs?limit=50')).json<TxDocument[]>();
    const { block: top } = txs[0];
    const below = (await served.get(`/txs?limit=50&before=${top}`)).json<TxDocument[]>();
    assert.deepEqual(below.slice(0, 10), txs.filter(({ block }) => block < top).slice(0, 10), 'those below a block are the same, later on');
    const expected = chain()
      .toReversed()
      .flatMap((block) => block.txs.map((tx, i) => ({ tx, i, height: block.height })).reverse())
      .slice(0, 50);
    assert.equal(txs.length, 50);
    assert.deepEqual(
      txs.map(({ tx_hash, tx_index, block, valid, output_count, lovelace_amount }) => [
        tx_hash,
        tx_index,
        block,
        valid,
        output_count,
        lovelace_amount,
      ]),
      expected.map(({ tx, i, height }) => [
        tx.id,
        i,
        height,
        tx.valid,
        tx.creates.length,
        tx.creates.reduce((sum, { lovelace }) => sum + lovelace, 0n).toString(),
      ]),
    );
  });

  test('an asset is added up over all that hold it, also as of an earlier block', async () => {
    const held = new Map<string, { quantity: bigint; owners: Set<string> }>();
    for (const { assets, addressHex } of served.devnet.chain.utxos.values())
      for (const [name, quantity] of assets) {
        const unit = name.replace('.', '');
        const sum = held.get(unit) ?? { quantity: 0n, owners: new Set() };
        sum.owners.add(addressHex);
        held.set(unit, { quantity: sum.quantity + quantity, owners: sum.owners });
      }
    assert.ok(held.size > 3, `${held.size} assets`);
    for (const [unit, { quantity, owners }] of held) {
      const asset = (await served.get(`/assets/${unit}`)).json<{
        quantity: string;
        holder_count: number;
        holders: { quantity: string }[];
      }>();
      assert.deepEqual([asset.quantity, asset.holder_count], [quantity.toString(), owners.size], unit);
      const shown = asset.holders.reduce((sum, holder) => sum + BigInt(holder.quantity), 0n);
      if (owners.size <= 25) assert.equal(shown, quantity);
    }
    const [unit] = held.keys();
    const before = (await served.get(`/assets/${unit}?at=height:0`)).json<{ quantity: string; holder_count: number }>();
    assert.deepEqual([before.quantity, before.holder_count], ['0', 0]);
  });

  test('the transaction that minted an asset is found, however often it changed hands', async () => {
    const held = [...served.devnet.chain.utxos.values()].flatMap(({ assets }) => [...assets.keys()].map((name) => name.replace('.', '')));
    let followed = 0;
    for (const unit of new Set(held)) {
      const answer = await served.get(`/assets/${unit}/mint`);
      assert.equal(answer.status, 200, answer.text);
      const mint = answer.json<{ tx_hash: string; transfers: number }>();
      followed += mint.transfers;
      const tx = (await served.get(`/txs/${mint.tx_hash}`)).json<{ mint: { unit: string; quantity: string }[] }>();
      assert.ok(
        tx.mint.some((each) => each.unit === unit && BigInt(each.quantity) > 0n),
        unit,
      );
    }
    assert.ok(followed > 0, 'some changed hands');
    assertProblem(await served.get(`/assets/${'ab'.repeat(28)}/mint`), 'NOT_FOUND', 404);
  });

  test('what a rollback took away is told, with where each transaction is now', async () => {
    assert.deepEqual((await served.get('/rollbacks')).json(), []);
    served.forward(3);
    assert.deepEqual((await served.get('/rollbacks')).json(), [], 'blocks that come are no rollback');
    const gone = chain().slice(-4);
    served.back(4);
    const [alone] = (await served.get('/rollbacks')).json<RollbackDocument[]>();
    assert.equal(alone.undone, 4);
    assert.equal(alone.to?.height, gone[0].height - 1);
    assert.deepEqual(
      alone.blocks.map(({ hash }) => hash),
      gone.map(({ hash }) => toHex(hash)).reverse(),
    );
    const lost = gone.flatMap(({ txs }) => txs.map(({ id }) => id));
    assert.deepEqual(alone.transactions.map(({ tx_hash }) => tx_hash).sort(), [...lost].sort());
    for (const { tx_hash, outputs } of alone.transactions) for (const output of outputs) assert.equal(output.tx_hash, tx_hash);
    const spendsChain = gone[0].txs.find(({ valid, spends }) => valid && spends.length > 0)!;
    assert.equal(alone.transactions.find(({ tx_hash }) => tx_hash === spendsChain.id)?.after.state, 'waiting');

    served.forward(6);
    const [later] = (await served.get('/rollbacks')).json<RollbackDocument[]>();
    const spentBy = new Map(chain().flatMap(({ txs }) => txs.flatMap(({ id, spends }) => spends.map(({ key }) => [key, id] as const))));
    for (const block of gone)
      for (const tx of block.txs) {
        const { after: now } = later.transactions.find(({ tx_hash }) => tx_hash === tx.id)!;
        const rivals = tx.spends.map(({ key }) => spentBy.get(key)).filter((id) => id !== undefined);
        if (rivals.length > 0) assert.equal(now.state, 'lost', tx.id);
        if (now.instead !== undefined) assert.ok(rivals.includes(now.instead), `${now.instead} took the place of ${tx.id}`);
      }
    assert.ok(
      later.transactions.some(({ after: now }) => now.instead !== undefined),
      'some were replaced',
    );
  });
});

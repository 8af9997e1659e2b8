/**
 * A chain that grows, is rolled back and has transactions come and go, and
 * after every step each script asked about in every way: what the server says
 * is what the model says, and who is subscribed was told of every status that
 * became another, and of the newest tip.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from '../../../support/patience.ts';
import { LineClient } from './client.ts';
import { ElectrumRig, SCRIPTS } from './rig.ts';

const SEED = Number(process.env['UNSPENT_TEST_SEED'] ?? 5);

async function compare(rig: ElectrumRig, client: LineClient): Promise<void> {
  const { model } = rig;
  for (const script of SCRIPTS) {
    const hash = model.scriptHash(script);
    const history = model.history(script);
    assert.deepEqual(await client.ask('blockchain.scripthash.get_history', hash), history);
    assert.deepEqual(
      await client.ask('blockchain.scripthash.get_mempool', hash),
      history.filter(({ height }) => height <= 0),
    );
    assert.deepEqual(await client.ask('blockchain.scripthash.get_balance', hash), model.balance(script));
    const unspent = await client.ask<{ height: number; tx_hash: string; tx_pos: number }[]>('blockchain.scripthash.listunspent', hash);
    const sorted = [...unspent].sort((a, b) => Number(a.height === 0) - Number(b.height === 0) || (a.height > 0 ? 0 : byName(a, b)));
    assert.deepEqual(sorted, model.unspent(script));
  }
}

function byName(a: { tx_hash: string; tx_pos: number }, b: { tx_hash: string; tx_pos: number }): number {
  return a.tx_hash === b.tx_hash ? a.tx_pos - b.tx_pos : a.tx_hash < b.tx_hash ? -1 : 1;
}

test('what clients are told is what the model says, step by step', async () => {
  const rig = await ElectrumRig.open({ seed: SEED });
  const asking = await LineClient.open(rig.ports.tcp, ['1.4', '1.6']);
  const watching = await LineClient.open(rig.ports.tcp);
  const known = new Map<string, unknown>();
  try {
    for (const script of SCRIPTS) {
      const hash = rig.model.scriptHash(script);
      known.set(hash, await watching.ask('blockchain.scripthash.subscribe', hash));
      assert.equal(known.get(hash), null);
    }
    assert.deepEqual(await watching.ask('blockchain.headers.subscribe'), { height: 0, hex: rig.model.header() });
    for (let i = 0; i < 120; i++) {
      rig.step();
      if (i % 3 > 0) await compare(rig, asking);
      if (i % 5 > 0) continue;
      await eventually(() => {
        for (const [hash, status] of watching.notified('blockchain.scripthash.subscribe') as [string, string][]) known.set(hash, status);
        for (const script of SCRIPTS) assert.equal(known.get(rig.model.scriptHash(script)), rig.model.status(script), `step ${i}`);
        const tips = watching.notified('blockchain.headers.subscribe');
        if (rig.model.height > 0) assert.deepEqual(tips.at(-1), [{ height: rig.model.height, hex: rig.model.header() }]);
      });
    }
    assert.ok(rig.model.height > 10 && watching.notified('blockchain.scripthash.subscribe').length > 30, 'something happened');
    // Nobody is told twice of the same.
    const told = watching.notified('blockchain.scripthash.subscribe').map(String);
    const last = new Map<string, string>();
    for (const pair of told) {
      const [hash] = pair.split(',');
      assert.notEqual(last.get(hash), pair);
      last.set(hash, pair);
    }
  } finally {
    await Promise.all([asking.close(), watching.close()]);
    await rig.close();
  }
});

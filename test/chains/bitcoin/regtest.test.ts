/**
 * The embedded regtest chain: its blocks are ones a node would take, our own
 * ledger and fold take them too, and what it says is unspent is what they add
 * up to, through forks.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { p2wshScript, RegtestDevnet } from '../../../src/chains/bitcoin/regtest/index.ts';
import { type BitcoinBlock, bitcoinLedger, bitcoinNetwork, decodeTx, parseId } from '../../../src/ledgers/bitcoin/index.ts';
import { equalBytes, toHex } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { forgeTx } from '../../ledgers/bitcoin/forge.ts';
import { forgedRig } from '../../support/forged-chain.ts';
import { checkChain } from './regtest-node.ts';

const NOW = 1_800_000_000;
const clock = (): number => NOW;
const OP_TRUE = Uint8Array.of(0x51);
const OPEN = p2wshScript(OP_TRUE);
const ledger = bitcoinLedger(bitcoinNetwork('bitcoin-regtest'));

function mined(blocks: number, seed = 1): RegtestDevnet {
  const devnet = new RegtestDevnet({ seed, clock });
  devnet.mine(blocks);
  return devnet;
}

function blocksOf(devnet: RegtestDevnet): Uint8Array[] {
  return Array.from({ length: devnet.height + 1 }, (_, height) => devnet.block(devnet.hashAt(height)!)!);
}

/** The chain's own account is the one that a plain reading of its blocks gives. */
function assertSameSet(devnet: RegtestDevnet): void {
  const { coins } = checkChain(devnet, NOW);
  assert.equal(devnet.utxos.size, coins.size);
  for (const [key, { value, script, height, coinbase }] of devnet.utxos) {
    assert.deepEqual({ value, script: toHex(script), height, coinbase }, coins.get(key), key);
  }
}

describe('the embedded regtest chain', () => {
  const devnet = mined(420);

  it('has 420 blocks that a node would take, past two halvings, of every kind', () => {
    const { txs, inside, spent, paid, fees } = checkChain(devnet, NOW);
    assert.ok(txs > 1000 && inside > 100 && fees > 0n, `${txs} transactions, ${inside} spends inside a block`);
    assert.deepEqual([...spent.keys()].sort(), ['bare', 'p2sh', 'p2wsh']);
    const kinds = ['bare', 'data', 'future', 'multisig', 'p2pk', 'p2pkh', 'p2sh', 'p2tr', 'p2wpkh', 'p2wsh'];
    assert.deepEqual([...paid.keys()].sort(), kinds);
  });

  it('keeps the set its blocks add up to', () => assertSameSet(devnet));

  it('begins with the first block of the network and has a past of a day at most', () => {
    assert.deepEqual(devnet.hashAt(0), parseId(devnet.network.genesisHash));
    const times = blocksOf(devnet).map((raw) => ledger.decode(raw).header.time);
    assert.ok(times[1] >= NOW - 86_400 && times[1] < NOW - 3600 && times[420] >= NOW);
  });

  it('is verified by our ledger and applied by our fold, with and without groups', async () => {
    const blocks = blocksOf(devnet).map((raw, height) => ledger.decode(raw, height));
    for (const block of blocks) ledger.verify(block);
    for (const sizes of [[1], [7, 1, 90]]) {
      const rig = forgedRig(ledger);
      rig.apply(blocks, sizes);
      const { utxos, value } = rig.fold.head!;
      assert.equal(utxos, devnet.utxos.size);
      assert.equal(
        value,
        [...devnet.utxos.values()].reduce((sum, coin) => sum + coin.value, 0n),
      );
      await rig.close();
    }
  });

  it('has outputs whose indexes have gaps', () => {
    const gaps = blocksOf(devnet)
      .flatMap((raw, height) => [...ledger.decode(raw, height).txs])
      .filter(({ creates }) => creates.some(({ index }, i) => index !== i));
    assert.ok(gaps.length > 20, `${gaps.length} transactions`);
  });

  it('is the same for the same seed and calls, and another for another', () => {
    const play = (seed: number): string[] => {
      const chain = mined(130, seed);
      chain.fund(OPEN, 5_000_000n);
      chain.fork(4);
      chain.mine(3);
      return [...blocksOf(chain), ...chain.mempool().map((id) => chain.tx(id)!)].map((bytes) => toHex(bytes));
    };
    const [first, second, other] = [play(7), play(7), play(8)];
    assert.deepEqual(first, second);
    assert.notDeepEqual(first.slice(1, 3), other.slice(1, 3));
  });
});

describe('a fork of it', () => {
  it('puts one block more in the place of the last ones, and forgets none of them', () => {
    const devnet = mined(140);
    const lost = blocksOf(devnet).slice(-5);
    const hashes = lost.map((raw) => ledger.decode(raw).hash);
    const { undone, to } = devnet.fork(5);
    assert.deepEqual([undone, to.height, devnet.height], [5, 135, 141]);
    assert.deepEqual(devnet.hashAt(135), to.hash);
    hashes.forEach((hash, i) => {
      assert.equal(devnet.heightOf(hash), null);
      assert.deepEqual(devnet.block(hash), lost[i]);
      assert.ok(!equalBytes(devnet.hashAt(136 + i)!, hash));
    });
    assertSameSet(devnet);
  });

  it('gives transactions of others back to the mempool, and then to a block', () => {
    const devnet = mined(130);
    const id = devnet.fund(OPEN, 1_000_000n);
    devnet.mine(3);
    assert.equal(devnet.tx(id), null);
    const news: string[] = [];
    const stop = devnet.watch((item) => news.push(item.kind === 'tip' ? 'tip' : toHex(item.id)));
    devnet.fork(3);
    stop();
    assert.equal(news[0], 'tip');
    assert.ok([...devnet.utxos.values()].some((coin) => equalBytes(coin.txId, id) && coin.height > 130));
    // What was in the lost blocks and is in none now waits, and watchers are told.
    const waiting = devnet.mempool().map((waits) => toHex(waits));
    assert.deepEqual(new Set(news.slice(1)), new Set(waiting));
  });

  it('drops what loses its ground: the spender of a coinbase that is not mature any more', () => {
    const devnet = mined(130);
    const coinbase = [...devnet.utxos.values()].find(({ height, script }) => height > 5 && height < 30 && equalBytes(script, OPEN))!;
    const { txId, index, value } = coinbase;
    const id = devnet.submit(forgeTx({ inputs: [{ txId, index, witness: [OP_TRUE] }], outputs: [{ value: value - 1000n, script: OPEN }] }));
    devnet.mine();
    const isThere = (): boolean => [...devnet.utxos.values()].some((coin) => equalBytes(coin.txId, id));
    assert.equal(isThere(), true);
    devnet.fork(31);
    assert.deepEqual([devnet.height, isThere(), devnet.tx(id)], [132, false, null]);
    assertSameSet(devnet);
  });

  it('refuses what cannot be', () => {
    const devnet = mined(5);
    for (const depth of [0, -1, 6, 1.5, Number.NaN]) assert.throws(() => devnet.fork(depth), { code: 'USAGE' });
    assert.equal(devnet.height, 5);
    devnet.fork(5);
    assert.equal(devnet.height, 6);
  });
});

describe('by itself', () => {
  it('it makes blocks, keeps transactions waiting, replaces some, and forks', async () => {
    const devnet = new RegtestDevnet({ seed: 3, clock, forks: { everyBlocks: 8, depthMax: 3 } });
    devnet.mine(115);
    const heard: Uint8Array[] = [];
    const tips: Uint8Array[] = [];
    let waiting = 0;
    devnet.watch((news) => {
      if (news.kind === 'tip') tips.push(devnet.tip.hash);
      else heard.push(news.id);
      waiting = Math.max(waiting, devnet.mempool().length);
    });
    const seen = new Map<string, Uint8Array>();
    devnet.watch((news) => {
      if (news.kind === 'tx') seen.set(toHex(news.id), devnet.tx(news.id)!);
    });
    devnet.setInterval(8);
    while (tips.length < 60) await new Promise((resolve) => setTimeout(resolve, 20));
    await devnet.close();
    const spenders = new Map<string, Set<string>>();
    for (const [id, raw] of seen) {
      for (const { at, index } of decodeTx(raw).spends) {
        const key = `${toHex(raw, at, at + 32)}:${index}`;
        spenders.set(key, (spenders.get(key) ?? new Set()).add(id));
      }
    }
    assert.ok(heard.length > 100 && waiting >= 4, `${heard.length} heard of, ${waiting} waited at most`);
    assert.ok(
      [...spenders.values()].some(({ size }) => size > 1),
      'one was replaced',
    );
    assert.ok(
      tips.some((hash) => devnet.heightOf(hash) === null),
      'it forked',
    );
    const { height } = devnet;
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(devnet.height, height);
    assertSameSet(devnet);
  });
});

describe('whatever is done to it', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('mine' as const), n: fc.integer({ min: 1, max: 4 }) }),
    fc.record({ kind: fc.constant('fork' as const), n: fc.integer({ min: 1, max: 12 }) }),
    fc.record({ kind: fc.constant('fund' as const), n: fc.integer({ min: 1, max: 500 }) }),
    fc.record({ kind: fc.constant('spend' as const), n: fc.nat(1000) }),
  );

  it('chain, set and mempool fit', () => {
    fc.assert(
      fc.property(fc.nat(1000), fc.array(step, { minLength: 5, maxLength: 40 }), (seed, steps) => {
        const devnet = mined(104, seed);
        const rig = forgedRig(ledger);
        const had: BitcoinBlock[] = [];
        const follow = (): void => {
          while (had.length > 0 && devnet.heightOf(had.at(-1)!.hash) === null) had.pop();
          rig.fold.rollback(had.at(-1) ?? null);
          while (had.length <= devnet.height) {
            had.push(ledger.decode(devnet.block(devnet.hashAt(had.length)!)!, had.length));
            rig.apply([had.at(-1)!]);
          }
        };
        for (const { kind, n } of steps) {
          if (kind === 'mine') devnet.mine(n);
          else if (kind === 'fork') devnet.fork(n);
          else if (kind === 'fund') devnet.fund(OPEN, BigInt(n) * 1000n);
          else spendAny(devnet, n);
          follow();
          assert.equal(rig.fold.head!.utxos, devnet.utxos.size);
          assertMempool(devnet);
        }
        assertSameSet(devnet);
        while (devnet.mempool().length > 0) devnet.mine();
        assertSameSet(devnet);
      }),
      { numRuns: 25 },
    );
  });
});

/** Spends any coin with the commonest witness: taken where that opens it, refused in a node's words where not. */
function spendAny(devnet: RegtestDevnet, n: number): void {
  const coins = [...devnet.utxos.values()];
  const { txId, index, value, script } = coins[n % coins.length];
  const raw = forgeTx({
    inputs: [{ txId, index, witness: [OP_TRUE] }],
    outputs: [{ value: value > 5000n ? value - 5000n : 0n, script: OPEN }],
  });
  const before = devnet.mempool();
  try {
    const id = devnet.submit(raw);
    assert.deepEqual(script, OPEN);
    assert.deepEqual(devnet.tx(id), raw);
  } catch (error) {
    if (!isUnspentError(error, 'TX_REFUSED')) throw error;
    assert.deepEqual(devnet.mempool(), before);
  }
}

/** Each waits for coins of the chain or of one before it, and no two for the same. */
function assertMempool(devnet: RegtestDevnet): void {
  const made = new Set<string>();
  const spent = new Set<string>();
  for (const id of devnet.mempool()) {
    const raw = devnet.tx(id)!;
    const tx = decodeTx(raw);
    for (const { at, index } of tx.spends) {
      const key = `${toHex(raw, at, at + 32)}:${index}`;
      assert.ok((made.has(key) || devnet.utxos.has(key)) && !spent.has(key), key);
      spent.add(key);
    }
    for (const { index } of tx.creates) made.add(`${toHex(id)}:${index}`);
  }
}

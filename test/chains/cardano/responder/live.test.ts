/**
 * The devnet with a clock: what it remembers over a restart, what it does by
 * itself, and that it leaves alone what is not its own.
 */
import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { DevnetChain } from '../../../../src/chains/cardano/devnet/index.ts';
import { LiveDevnet } from '../../../../src/chains/cardano/devnet/live.ts';
import { keyFiles, makeWallet } from '../../../../src/chains/cardano/devnet/wallet.ts';
import { toHex } from '../../../../src/util/bytes.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import { until } from '../../../support/patience.ts';
import { folder, later, SMALL } from './net.ts';

const tipOf = ({ tip }: LiveDevnet): string => toHex(tip.point!.hash);
const ownedBy = ({ utxos }: LiveDevnet, address: Uint8Array) =>
  [...utxos.values()].filter(({ addressHex }) => addressHex === toHex(address)).map(({ lovelace }) => lovelace);

describe('a live devnet', () => {
  it('without interference is the chain of its seed', () => {
    const live = new LiveDevnet(SMALL);
    live.mine(50);
    const plain = new DevnetChain(SMALL);
    for (let i = 0; i < 50; i++) plain.mine();
    assert.equal(tipOf(live), toHex(plain.tip!.hash));
    assert.equal(live.digest(), plain.digest());
  });

  it('makes blocks by its clock, and forks at random', async (t) => {
    const live = new LiveDevnet({ ...SMALL, intervalMs: 1, forks: { everyBlocks: 3, depthMax: 4 } });
    later(t, () => live.close());
    const reader = live.reader();
    await until(() => live.blocks.length > 60, 'blocks');
    live.pause();
    const { length } = live.blocks;
    let [forward, back] = [0, 0];
    for (let step = await reader.next(); step.kind !== 'tip'; step = await reader.next()) step.kind === 'forward' ? forward++ : back++;
    assert.deepEqual([forward, back], [length, 1], 'a reader that comes late is told the chain as it is');
    assert.equal(live.isPaused, true);
    live.resume();
    await until(() => live.blocks.length > length, 'more blocks');
  });

  it('comes back from its journal as it was, a last line that was not finished aside', async (t) => {
    const journal = join(folder(t), 'journal');
    const first = new LiveDevnet({ ...SMALL, journal });
    const { address } = makeWallet(1);
    first.fund(address, 7_000_000n);
    first.mine(20);
    first.fork(15);
    first.fund(address, 8_000_000n);
    first.mine(1);
    first.rollback(1);
    first.fund(address, 9_000_000n);
    assert.equal(first.pending().length, 2);
    appendFileSync(journal, 's 84a3');
    const second = new LiveDevnet({ ...SMALL, journal });
    assert.deepEqual([tipOf(second), second.digest()], [tipOf(first), first.digest()]);
    assert.deepEqual(ownedBy(second, address), [7_000_000n]);
    // What waited is forgotten, so the two part from here on.
    assert.equal(second.pending().length, 0);
    second.mine(3);
    const third = new LiveDevnet({ ...SMALL, journal });
    assert.equal(tipOf(third), tipOf(second));
  });

  it('refuses a journal that is of another devnet, or not one', (t) => {
    const journal = join(folder(t), 'journal');
    new LiveDevnet({ ...SMALL, journal }).mine(2);
    assert.throws(
      () => new LiveDevnet({ ...SMALL, seed: 99, journal }),
      (error) => isUnspentError(error, 'CONFIG'),
    );
    writeFileSync(journal, `${readFileSync(journal, 'utf8')}x 3\n`);
    assert.throws(
      () => new LiveDevnet({ ...SMALL, journal }),
      (error) => isUnspentError(error, 'SOURCE_DAMAGED'),
    );
  });

  it('funds anybody, several in one block, and never spends it', () => {
    const live = new LiveDevnet({ ...SMALL, txPerBlock: 4 });
    const people = [1, 2, 3].map((seed) => makeWallet(seed).address);
    for (const [i, address] of people.entries()) live.fund(address, BigInt(i + 2) * 1_000_000n);
    live.mine(150);
    live.fork(149);
    live.fork(150);
    for (const [i, address] of people.entries()) assert.deepEqual(ownedBy(live, address), [BigInt(i + 2) * 1_000_000n]);
    assert.throws(() => live.fund(people[0], 1n), { code: 'USAGE' });
    assert.throws(() => live.fund(people[0], 1n << 62n), { code: 'USAGE' });
    assert.throws(() => live.rollback(0), { code: 'USAGE' });
    assert.throws(() => live.rollback(1000), { code: 'USAGE' });
  });

  it('has a wallet that others can load', () => {
    const wallet = makeWallet(1);
    assert.deepEqual(makeWallet(1), wallet);
    const { skey, vkey } = keyFiles(wallet);
    assert.match(skey, /"type": "PaymentSigningKeyShelley_ed25519"/);
    assert.equal((JSON.parse(vkey) as { cborHex: string }).cborHex, `5820${toHex(wallet.verificationKey)}`);
    assert.equal(wallet.address[0], 0x60);
  });
});

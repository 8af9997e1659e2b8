/**
 * What the embedded regtest chain takes into its mempool and what it refuses,
 * in the words of Bitcoin Core: coins, values, locks, scripts, and replacement
 * by a better fee (BIP125).
 */
import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { GUEST_SCRIPT, namedScript, p2wshScript, RegtestDevnet } from '../../../src/chains/bitcoin/regtest/index.ts';
import { decodeTx } from '../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, equalBytes, fromHex, utf8, writeU32LE } from '../../../src/util/bytes.ts';
import { isUnspentError } from '../../../src/util/errors.ts';
import { type ForgedInput, type ForgedOutput, forgeTx } from '../../ledgers/bitcoin/forge.ts';

const OP_TRUE = Uint8Array.of(0x51);
const OPEN = p2wshScript(OP_TRUE);
const P2SH_OPEN = fromHex('a914da1745e9b549bd0bfa1a569971c77eba30cd5a4b87');
const P2PKH = fromHex(`76a914${'11'.repeat(20)}88ac`);
const SATS = 1_000_000n;

let devnet: RegtestDevnet;
/** A coin of SATS satoshi that nobody else spends. */
let coin: ForgedInput;

beforeEach(() => {
  devnet = new RegtestDevnet({ seed: 5, clock: () => 1_800_000_000 });
  devnet.mine(120);
  coin = { txId: funded(OPEN), index: 0, witness: [OP_TRUE] };
});

function funded(script: Uint8Array): Uint8Array {
  const id = devnet.fund(script, SATS);
  devnet.mine();
  return id;
}

function pay(value: bigint, script = OPEN): ForgedOutput {
  return { value, script };
}

interface Locks {
  readonly sequence?: number;
  readonly lockTime?: number;
  readonly version?: number;
}

/** The forge knows final transactions of version 2 only. */
function tx(inputs: readonly ForgedInput[], outputs: readonly ForgedOutput[], { sequence, lockTime, version }: Locks = {}): Uint8Array {
  const raw = forgeTx({ inputs, outputs });
  if (version !== undefined) writeU32LE(raw, 0, version);
  if (lockTime !== undefined) writeU32LE(raw, raw.length - 4, lockTime);
  if (sequence === undefined) return raw;
  const decoded = decodeTx(raw);
  for (const { at } of decoded.spends) writeU32LE(raw, at + 37, sequence);
  return raw;
}

function refused(raw: Uint8Array, words: RegExp): void {
  const before = devnet.mempool();
  assert.throws(
    () => devnet.submit(raw),
    (error) => isUnspentError(error, 'TX_REFUSED') && words.test(error.message),
    `${words}`,
  );
  assert.deepEqual(devnet.mempool(), before);
}

describe('the mempool of the regtest chain', () => {
  it('takes a transaction, tells of it, and puts it into the next block', () => {
    const raw = tx([coin], [pay(SATS - 500n)]);
    const told: Uint8Array[] = [];
    devnet.watch((news) => news.kind === 'tx' && told.push(news.id));
    const id = devnet.submit(raw);
    assert.deepEqual(told, [id]);
    assert.deepEqual(devnet.tx(id), raw);
    devnet.mine();
    assert.equal(devnet.tx(id), null);
    assert.ok([...devnet.utxos.values()].some(({ txId, height }) => equalBytes(txId, id) && height === devnet.height));
    refused(raw, /^txn-already-known$/);
  });

  it('keeps a copy: whoever handed it in may use the bytes again', () => {
    const raw = tx([coin], [pay(SATS - 500n)]);
    const [id, before] = [devnet.submit(raw), raw.slice()];
    raw.fill(0);
    assert.deepEqual(devnet.tx(id), before);
  });

  it('leaves alone what it was told to pay, for sixty blocks', () => {
    devnet.mine(60);
    assert.ok([...devnet.utxos.values()].some(({ txId, index }) => equalBytes(txId, coin.txId) && index === 0));
  });

  it('takes the other ways to need no signature', () => {
    const named = namedScript(utf8('guest'));
    const inputs = [
      { txId: funded(OP_TRUE), index: 0 },
      { txId: funded(P2SH_OPEN), index: 0, scriptSig: Uint8Array.of(1, 0x51) },
      { txId: funded(GUEST_SCRIPT), index: 0, witness: [named] },
    ];
    devnet.submit(tx(inputs, [pay(3n * SATS - 500n)]));
  });

  it('refuses what is no transaction, or one that cannot stand alone', () => {
    refused(Uint8Array.of(1, 2, 3), /^TX decode failed/);
    refused(concatBytes(tx([coin], [pay(1n)]), Uint8Array.of(0)), /^TX decode failed/);
    const none = { txId: new Uint8Array(32), index: 0xffff_ffff, scriptSig: Uint8Array.of(1, 1) };
    refused(tx([none], [pay(SATS)]), /^coinbase$/);
    refused(tx([coin, coin], [pay(SATS)]), /^bad-txns-inputs-duplicate$/);
    refused(tx([coin], [pay(2_100_000_000_000_001n)]), /^bad-txns-vout-toolarge$/);
    refused(tx([{ txId: coin.txId, index: 0 }], [pay(1n, OP_TRUE)]), /^tx-size-small$/);
  });

  it('refuses coins that are not there, too young, or too small', () => {
    refused(tx([{ ...coin, index: 7 }], [pay(1000n)]), /^bad-txns-inputs-missingorspent$/);
    refused(tx([{ ...coin, txId: new Uint8Array(32).fill(9) }], [pay(1000n)]), /^bad-txns-inputs-missingorspent$/);
    const young = [...devnet.utxos.values()].find(({ coinbase, height }) => coinbase && devnet.height + 1 - height === 99)!;
    refused(tx([{ txId: young.txId, index: 0, witness: [OP_TRUE] }], [pay(1000n)]), /^bad-txns-premature-spend-of-coinbase/);
    refused(tx([coin], [pay(SATS + 1n)]), /^bad-txns-in-belowout, value in \(1000000\) < value out \(1000001\)$/);
    refused(tx([coin], [pay(SATS)]), /^min relay fee not met, 0 < \d+$/);
    refused(tx([coin], [pay(SATS - 50n)]), /^min relay fee not met, 50 < \d+$/);
  });

  it('refuses what does not unlock its coins', () => {
    const out = [pay(SATS - 500n)];
    const wrong = /^mandatory-script-verify-flag-failed/;
    refused(tx([{ ...coin, witness: [Uint8Array.of(0x52)] }], out), wrong);
    refused(tx([{ ...coin, witness: [OP_TRUE, OP_TRUE] }], out), wrong);
    refused(tx([{ txId: coin.txId, index: 0 }], out), wrong);
    refused(tx([{ ...coin, scriptSig: OP_TRUE }], out), wrong);
    refused(tx([{ txId: funded(P2PKH), index: 0, scriptSig: OP_TRUE }], out), /checks signatures of P2WPKH only/);
    refused(tx([{ txId: funded(P2SH_OPEN), index: 0 }], out), wrong);
    refused(tx([{ txId: funded(P2SH_OPEN), index: 0, scriptSig: Uint8Array.of(1, 0x52) }], out), wrong);
    refused(tx([{ txId: funded(OP_TRUE), index: 0, witness: [OP_TRUE] }], out), wrong);
  });

  it('refuses what its locks keep out of the next block', () => {
    const out = [pay(SATS - 500n)];
    const next = devnet.height + 1;
    refused(tx([coin], out, { sequence: 0xffff_fffe, lockTime: next }), /^non-final$/);
    refused(tx([coin], out, { sequence: 0xffff_fffe, lockTime: 1_900_000_000 }), /^non-final$/);
    // The coin is one block old, and a block counts from the next.
    refused(tx([coin], out, { sequence: 2 }), /^non-BIP68-final$/);
    refused(tx([coin], out, { sequence: (1 << 22) | 2 }), /^non-BIP68-final$/);
    devnet.submit(tx([coin], out, { sequence: 2, version: 1 }));
    devnet.submit(tx([{ txId: funded(OPEN), index: 0, witness: [OP_TRUE] }], out, { sequence: 1 }));
    devnet.submit(tx([{ txId: funded(OPEN), index: 0, witness: [OP_TRUE] }], out, { sequence: 0xffff_fffe, lockTime: devnet.height }));
  });

  it('refuses a row of more than 25', () => {
    let [parent, left] = [coin, SATS];
    for (let i = 0; i < 25; i++) {
      left -= 500n;
      parent = { ...parent, txId: devnet.submit(tx([parent], [pay(left)])) };
    }
    refused(tx([parent], [pay(left - 500n)]), /^too-long-mempool-chain/);
  });
});

describe('replacement', () => {
  const replaceable = { sequence: 0xffff_fffd };

  it('takes the better paid and drops the other with its children', () => {
    const first = devnet.submit(tx([coin], [pay(SATS - 500n)], replaceable));
    const child = devnet.submit(tx([{ ...coin, txId: first }], [pay(SATS - 1000n)]));
    refused(tx([coin], [pay(SATS - 400n)], replaceable), /^insufficient fee, rejecting replacement [0-9a-f]{64}; new feerate/);
    refused(tx([coin], [pay(SATS - 999n)]), /^insufficient fee, rejecting replacement .* less fees than conflicting txs; 999 < 1000$/);
    refused(tx([coin], [pay(SATS - 1001n)]), /^insufficient fee, rejecting replacement .* not enough additional fees to relay; 1 < \d+$/);
    const second = devnet.submit(tx([coin], [pay(SATS - 2000n)]));
    assert.deepEqual([devnet.tx(first), devnet.tx(child)], [null, null]);
    assert.deepEqual(devnet.mempool(), [second]);
  });

  it('refuses it where nobody allowed it, and takes it where a parent did', () => {
    const first = devnet.submit(tx([coin], [pay(SATS - 500n)]));
    refused(tx([coin], [pay(SATS - 5000n)]), /^txn-mempool-conflict$/);
    refused(tx([coin], [pay(SATS - 500n)]), /^txn-already-in-mempool$/);
    assert.deepEqual(devnet.mempool(), [first]);
    const other = { ...coin, txId: funded(OPEN) };
    const parent = { ...coin, txId: devnet.submit(tx([other], [pay(SATS - 500n)], replaceable)) };
    devnet.submit(tx([parent], [pay(SATS - 1000n)]));
    devnet.submit(tx([parent], [pay(SATS - 5000n)]));
  });

  it('refuses one that needs what it drops, or what else waits', () => {
    const first = devnet.submit(tx([coin], [pay(SATS - 500n)], replaceable));
    refused(tx([coin, { ...coin, txId: first }], [pay(SATS)]), /^bad-txns-spends-conflicting-tx$/);
    const other = funded(OPEN);
    const again = { ...coin, txId: funded(OPEN) };
    devnet.submit(tx([{ ...coin, txId: other }], [pay(SATS - 500n)], replaceable));
    const waiting = { ...coin, txId: devnet.submit(tx([again], [pay(SATS - 500n)])) };
    refused(tx([{ ...coin, txId: other }, waiting], [pay(SATS)], replaceable), /^replacement-adds-unconfirmed$/);
  });
});

describe('whatever comes in', () => {
  it('bytes that were tampered with are taken whole or refused, and the chain goes on', () => {
    const raw = tx([coin], [pay(SATS - 50_000n), pay(1000n, P2PKH)]);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(raw.length - 1), fc.integer({ min: 0, max: 255 })), { maxLength: 4 }), (changes) => {
        const changed = raw.slice();
        for (const [at, value] of changes) changed[at] = value;
        try {
          devnet.submit(changed);
          devnet.fork(1);
        } catch (error) {
          if (!isUnspentError(error, 'TX_REFUSED')) throw error;
        }
      }),
      { numRuns: 300 },
    );
    devnet.mine(2);
  });
});

describe('the faucet', () => {
  it('pays a script, from several coins where one is too small', () => {
    const sats = 120n * 100_000_000n;
    const id = devnet.fund(P2PKH, sats);
    devnet.mine();
    const paid = [...devnet.utxos.values()].find(({ txId, index }) => equalBytes(txId, id) && index === 0);
    assert.deepEqual([paid?.value, paid?.script], [sats, P2PKH]);
  });

  it('refuses dust, and more than there is', () => {
    assert.throws(() => devnet.fund(P2PKH, 545n), { code: 'USAGE' });
    assert.throws(() => devnet.fund(P2PKH, 21_000_000n * 100_000_000n), { code: 'USAGE' });
    assert.throws(() => new RegtestDevnet({ seed: 1 }).fund(P2PKH, 1000n), { code: 'USAGE' });
  });
});

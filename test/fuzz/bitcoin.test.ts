/**
 * Whatever the bytes: an answer or the documented error, at once, and no memory
 * kept. Damaged, cut and random blocks, transactions, outputs, scripts and
 * addresses of the Bitcoin family. UNSPENT_TEST_SEED repeats a run,
 * UNSPENT_TEST_ROUNDS=N makes it N times as long.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  type BitcoinBlock,
  bitcoinLedger,
  bitcoinNetwork,
  coreAsm,
  coreType,
  decodeBlock,
  decodeTx,
  describeOutput,
  describeTx,
  esploraAsm,
  esploraType,
  formatAddress,
  genesisBlock,
  parseAddress,
  parseId,
  readHeader,
} from '../../src/ledgers/bitcoin/index.ts';
import { OutputKeys } from '../../src/ledgers/ledger.ts';
import { concatBytes, toHex, utf8 } from '../../src/util/bytes.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';
import { forgeBlock, forgeCoinbase, forgeTx, OP_TRUE } from '../ledgers/bitcoin/forge.ts';
import { bitcoin, regtest, sampleBytes, samples } from '../ledgers/bitcoin/samples.ts';
import { cpuTimed } from '../support/cpu-time.ts';
import { ROUNDS } from '../support/rounds.ts';
import { Dice, damage, damageText } from './mutate.ts';

const SEED = Number(process.env['UNSPENT_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
/** Milliseconds of processor time that one input may take. Measured again before it counts: garbage may have been collected meanwhile. */
const CASE_MS_MAX = 200;
const HEAP_GROWTH_MAX = 64 * 1024 * 1024;
const HEIGHT = 600;

const litecoin = bitcoinLedger(bitcoinNetwork('litecoin-regtest'));
const ledger = bitcoinLedger(regtest);

function readBlock(raw: Uint8Array): unknown {
  tolerate('BLOCK_INVALID', () => litecoin.verify(litecoin.decode(raw, HEIGHT)));
  tolerate('BLOCK_INVALID', () => ledger.decode(raw));
  tolerate('BLOCK_INVALID', () => readHeader(raw));
  const block = decodeBlock(raw, HEIGHT);
  assertInside(block);
  for (const tx of block.txs) {
    const { outputs } = describeTx(tx);
    for (const { script } of outputs) formatAddress(bitcoin, script);
  }
  return ledger.verify(block);
}

/** Nothing points outside of the bytes, and nothing overlaps what comes behind it. */
function assertInside({ raw, txs }: BitcoinBlock): void {
  let at = 81;
  for (const tx of txs) {
    const places = [tx.start, tx.bodyStart, ...tx.spends.map((spend) => spend.at), ...tx.creates.flatMap(({ start, end }) => [start, end])];
    for (const place of [...places, tx.bodyEnd, tx.witnessEnd, tx.lockTimeAt, tx.end]) {
      assert.ok(place >= at, `${place} after ${at}`);
      at = place;
    }
  }
  assert.ok(at <= raw.length);
}

function readTx(raw: Uint8Array): unknown {
  tolerate('BLOCK_INVALID', () => describeTx(decodeTx(raw, true)).witnessId);
  return describeTx(decodeTx(raw));
}

function readOutput(raw: Uint8Array): unknown {
  const create = ledger.readOutput(raw, 0, raw.length);
  ledger.findKeys(raw, create, new OutputKeys());
  return describeOutput(raw);
}

function readScript(script: Uint8Array): unknown {
  const texts = [coreAsm(script, true), esploraAsm(script), coreType(script, true), esploraType(script)];
  assert.ok(!/undefined|NaN/.test(texts.join(' ')));
  const address = formatAddress(bitcoin, script);
  if (address !== null) assert.equal(toHex(parseAddress(bitcoin, address)), toHex(script));
  return address;
}

function readText(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  tolerate('USAGE', () => parseId(text));
  tolerate('USAGE', () => parseAddress(bitcoinNetwork('litecoin'), text));
  return parseAddress(bitcoin, text);
}

/** Everything that reads foreign bytes, and the one error it may answer with. */
const TARGETS = {
  block: { code: 'BLOCK_INVALID', run: readBlock },
  tx: { code: 'BLOCK_INVALID', run: readTx },
  output: { code: 'BLOCK_INVALID', run: readOutput },
  script: { code: 'USAGE', run: readScript },
  text: { code: 'USAGE', run: readText },
} as const satisfies Record<string, { code: ErrorCode; run: (bytes: Uint8Array) => unknown }>;

type TargetName = keyof typeof TARGETS;

/** Runs it; the given error is an answer, any other a failure. True when it gave a result. */
function tolerate(code: ErrorCode, run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (!isUnspentError(error, code)) throw error;
    if (code === 'BLOCK_INVALID') assert.ok(error.meta['at'] !== undefined || error.meta['hash'] !== undefined, error.message);
    return false;
  }
}

const counts = new Map<string, { cases: number; accepted: number }>();

function tryOut(name: TargetName, bytes: Uint8Array, what: string): boolean {
  const { code, run } = TARGETS[name];
  let accepted = false;
  for (let attempt = 0; ; attempt++) {
    let ms: number;
    try {
      [accepted, ms] = cpuTimed(() => tolerate(code, () => run(bytes)));
    } catch (cause) {
      throw new Error(`${what} (seed ${SEED}): ${name} of ${toHex(bytes.subarray(0, 4000))}`, { cause });
    }
    if (ms <= CASE_MS_MAX) break;
    assert.ok(attempt < 3, `${what} (seed ${SEED}): more than ${CASE_MS_MAX} ms`);
  }
  const count = counts.get(name) ?? { cases: 0, accepted: 0 };
  counts.set(name, { cases: count.cases + 1, accepted: count.accepted + (accepted ? 1 : 0) });
  return accepted;
}

function storm(name: TargetName, cases: number, make: (dice: Dice) => Uint8Array): void {
  for (let i = 0; i < cases * ROUNDS; i++) tryOut(name, make(new Dice(SEED, i)), `case ${i}`);
}

function report(t: TestContext, name: TargetName): void {
  const { cases, accepted } = counts.get(name) ?? { cases: 0, accepted: 0 };
  t.diagnostic(`${name}: ${cases} cases, ${accepted} accepted (seed ${SEED})`);
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed;
}

const spends = [1, 2, 3].map((seed) => ({
  txId: new Uint8Array(32).fill(seed),
  index: seed,
  witness: [OP_TRUE, new Uint8Array(70 * seed)],
}));
const paid = [0x00, 0x51, 0x6a, 0x76].map((first, i) => ({ value: BigInt(i), script: Uint8Array.of(first, i, 0xac) }));
const madeTxs = [
  forgeTx({ inputs: spends, outputs: paid }),
  forgeTx({ inputs: spends.map(({ txId, index }) => ({ txId, index, scriptSig: OP_TRUE })), outputs: paid }),
];
const hogEx = forgeTx({ inputs: [{ txId: new Uint8Array(32).fill(8), index: 0 }], outputs: paid, mweb: Uint8Array.of(0) });
const madeBlocks = [
  genesisBlock(bitcoin),
  forgeBlock(new Uint8Array(32), [forgeCoinbase(HEIGHT, paid, madeTxs), ...madeTxs]),
  forgeBlock(new Uint8Array(32), [forgeCoinbase(HEIGHT, paid, [...madeTxs, hogEx]), ...madeTxs, hogEx], new Uint8Array(50)),
];
const blocks = [...madeBlocks, ...samples.filter(({ bytes }) => bytes < 10_000).map(({ file }) => sampleBytes(file))];
const txs = blocks.flatMap((raw) => decodeBlock(raw, 1, true).txs.map((tx) => raw.slice(tx.start, tx.end)));
const outputs = blocks.flatMap((raw) =>
  decodeBlock(raw, 1, true).txs.flatMap((tx) => describeTx(tx).outputs.map(({ start, end }) => raw.slice(start, end))),
);
const scripts = outputs.map((output) => describeOutput(output).script);
const addresses = scripts.flatMap((script) => formatAddress(bitcoin, script) ?? []);
addresses.push('1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', 'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqzk5jj0');

/** Counts and lengths that ask for much, or are written in more bytes than they need. */
const SIZES: readonly (readonly number[])[] = [
  [0xfd, 0xff, 0xff],
  [0xfd, 0x10, 0x00],
  [0xfe, 0xff, 0xff, 0xff, 0xff],
  [0xfe, 0xff, 0xff, 0xff, 0x7f],
  [0xfe, 0x01, 0x00, 0x00, 0x00],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x1f, 0x00],
  [0xff, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00],
];

describe('bytes that nobody promised anything about', () => {
  const heapBefore = heapBytes();

  test('whole ones are accepted', () => {
    assert.ok(tryOut('block', madeBlocks[1], 'whole'));
    for (const raw of madeTxs) assert.ok(tryOut('tx', raw, 'whole'));
    for (const raw of outputs) assert.ok(tryOut('output', raw, 'whole'));
    for (const text of addresses) assert.ok(tryOut('text', utf8(text), 'whole'));
  });

  test('damaged blocks', (t) => {
    storm('block', 8000, (dice) => damage(dice.pick(blocks), dice, dice.pick(blocks)));
    report(t, 'block');
  });

  test('damaged transactions and outputs', (t) => {
    storm('tx', 10_000, (dice) => damage(dice.pick(txs), dice, dice.pick(txs)));
    storm('output', 8000, (dice) => damage(dice.pick(outputs), dice, dice.pick(outputs)));
    report(t, 'tx');
    report(t, 'output');
  });

  test('damaged scripts and addresses', (t) => {
    storm('script', 6000, (dice) => damage(dice.pick(scripts.filter(({ length }) => length > 0)), dice, dice.pick(scripts)));
    storm('text', 6000, (dice) => utf8(damageText(dice.pick(addresses), dice, 'bc1qplzry0OIl \u0000\u00e9')));
    report(t, 'script');
    report(t, 'text');
  });

  test('random bytes', (t) => {
    for (const name of ['block', 'tx', 'output', 'script', 'text'] as const) storm(name, 1500, (dice) => dice.bytes(dice.below(300)));
    // Behind a header everything is transactions.
    const header = madeBlocks[1].subarray(0, 80);
    storm('block', 1500, (dice) => concatBytes(header, Uint8Array.of(1 + dice.below(3)), dice.bytes(dice.below(300))));
    report(t, 'block');
  });

  test('cut at every byte: nothing is accepted short of its end, or with more behind it', () => {
    for (const raw of [madeBlocks[1], ...blocks.filter(({ length }) => length < 6000)]) {
      for (let end = 0; end < raw.length; end++) {
        assert.throws(() => decodeBlock(raw.subarray(0, end), HEIGHT), { code: 'BLOCK_INVALID' }, `${end} of ${raw.length}`);
        tryOut('block', raw.subarray(0, end), `cut at ${end}`);
      }
      assert.throws(() => decodeBlock(concatBytes(raw, Uint8Array.of(0)), HEIGHT), { code: 'BLOCK_INVALID' });
    }
    for (const raw of madeTxs) {
      for (let end = 0; end < raw.length; end++) assert.ok(!tryOut('tx', raw.subarray(0, end), `cut at ${end}`));
      assert.throws(() => decodeTx(concatBytes(raw, Uint8Array.of(0))), { code: 'BLOCK_INVALID' });
    }
  });

  test('counts inflated at every byte of some blocks', () => {
    for (const raw of madeBlocks) {
      for (let at = 80; at < raw.length; at++) {
        for (const size of SIZES) {
          tryOut('block', concatBytes(raw.subarray(0, at), Uint8Array.from(size), raw.subarray(at + 1)), `size at ${at}`);
        }
      }
    }
  });

  test('blocks as full of the smallest things as they can be', () => {
    const header = madeBlocks[1].subarray(0, 80);
    const filled = (unit: Uint8Array, bytes: number): Uint8Array => {
      const out = new Uint8Array(bytes);
      for (let at = 0; at + unit.length <= bytes; at += unit.length) out.set(unit, at);
      return out;
    };
    const count = (value: number): Uint8Array => Uint8Array.of(0xfe, value, value >>> 8, value >>> 16, value >>> 24);
    const most = 7_900_000;
    const cases: readonly Uint8Array[] = [
      concatBytes(header, count(Math.floor(most / 10)), filled(new Uint8Array(10), most)),
      concatBytes(header, Uint8Array.of(1, 1, 0, 0, 0), count(Math.floor(most / 41)), filled(new Uint8Array(41), most)),
      concatBytes(
        header,
        Uint8Array.of(1, 1, 0, 0, 0, 1),
        new Uint8Array(41),
        count(Math.floor(most / 9)),
        filled(new Uint8Array(9), most),
      ),
      new Uint8Array(9_000_000),
    ];
    for (const raw of cases) {
      const [, ms] = cpuTimed(() => assert.throws(() => decodeBlock(raw, HEIGHT), { code: 'BLOCK_INVALID' }));
      assert.ok(ms < 5000, 'no more than a few seconds for the longest block there can be');
    }
  });

  test('enough cases, and no memory kept', (t) => {
    const total = [...counts.values()].reduce((sum, { cases }) => sum + cases, 0);
    const growth = heapBytes() - heapBefore;
    t.diagnostic(`${total} cases, heap ${growth < 0 ? 'shrank' : 'grew'} by ${Math.round(Math.abs(growth) / 1024)} KB`);
    assert.ok(total >= 40_000, `${total} cases`);
    assert.ok(growth < HEAP_GROWTH_MAX, `${growth} bytes more in use`);
  });
});

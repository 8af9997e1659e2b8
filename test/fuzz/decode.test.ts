/**
 * Whatever the bytes: an answer or the documented error, at once, and no memory
 * kept. More than 100,000 damaged, cut and random inputs to everything that
 * reads what the outside world wrote. UNSPENT_TEST_SEED repeats a run,
 * UNSPENT_TEST_ROUNDS=N makes it N times as long.
 */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { formatAddress, parseAddress, parseCredential, readAddress, stakeAddressOf } from '../../src/ledgers/cardano/address.ts';
import { verifyBody } from '../../src/ledgers/cardano/body-proof.ts';
import { type CardanoBlock, decodeBlock } from '../../src/ledgers/cardano/decode.ts';
import { describeOutput } from '../../src/ledgers/cardano/describe.ts';
import { byronGenesisHash, genesisUtxos, isRedeemOutput, isZeroOutput } from '../../src/ledgers/cardano/genesis.ts';
import { ERA, readHeader } from '../../src/ledgers/cardano/header.ts';
import { cardanoLedger } from '../../src/ledgers/cardano/index.ts';
import { cardanoNetwork, networkFromGenesis } from '../../src/ledgers/cardano/networks.ts';
import { cardanoTraits } from '../../src/ledgers/cardano/traits.ts';
import { describeByronTx, describeTx } from '../../src/ledgers/cardano/transaction.ts';
import { OutputKeys } from '../../src/ledgers/ledger.ts';
import { OUTPOINT_BYTES } from '../../src/ledgers/outpoint.ts';
import { DeltaWriter, readDelta } from '../../src/state/delta.ts';
import { concatBytes, fromHex, toHex, utf8 } from '../../src/util/bytes.ts';
import { ARRAY, Cursor } from '../../src/util/cbor.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { type ErrorCode, isUnspentError } from '../../src/util/errors.ts';
import { cpuTimed } from '../support/cpu-time.ts';
import { ROUNDS } from '../support/rounds.ts';
import { blocks, decoded, devnet, EPOCH_SLOTS, madeBlocks, realBlocks, smallBlocks } from './cardano-samples.ts';
import { everyItem, type Item, readTree, rewrite } from './cbor-tree.ts';
import { Dice, damage, damageText, noise } from './mutate.ts';

const SEED = Number(process.env['UNSPENT_TEST_SEED'] ?? Math.floor(Math.random() * 1e9));
/** Milliseconds of processor time that one input may take. Measured again before it counts: garbage may have been collected meanwhile. */
const CASE_MS_MAX = 200;
const HEAP_GROWTH_MAX = 64 * 1024 * 1024;
const LEVELS = 100_000;

type Target = (bytes: Uint8Array) => unknown;

const ledger = cardanoLedger(cardanoNetwork('mainnet'), null);

function readBlock(raw: Uint8Array): unknown {
  const block = decodeBlock(raw, EPOCH_SLOTS);
  assertInside(block);
  const read = block.era >= ERA.shelley ? describeTx : describeByronTx;
  for (const tx of block.txs) tolerate('BLOCK_INVALID', () => read(raw, tx.start, tx.end, tx.valid));
  tolerate('BLOCK_INVALID', () => cardanoTraits.witnesses(block));
  for (const { creates } of block.txs) {
    for (const { start, end, addressStart, addressEnd } of creates) {
      tolerate('BLOCK_INVALID', () => describeOutput(raw, start, end));
      readTraits(raw, start, end);
      readAddress(raw.subarray(addressStart, addressEnd));
    }
  }
  return verifyBody(block);
}

function readTraits(raw: Uint8Array, start: number, end: number): void {
  cardanoTraits.isPlain(raw, start, end);
  tolerate('BLOCK_INVALID', () => cardanoTraits.assets(raw, start, end, () => {}));
  for (const trait of [cardanoTraits.datumHash, cardanoTraits.inlineDatum, cardanoTraits.referenceScript])
    tolerate('BLOCK_INVALID', () => trait(raw, start, end));
}

function readOutput(raw: Uint8Array): unknown {
  readTraits(raw, 0, raw.length);
  tolerate('BLOCK_INVALID', () => isZeroOutput(raw, 0, raw.length));
  tolerate('BLOCK_INVALID', () => isRedeemOutput(raw, 0, raw.length));
  tolerate('BLOCK_INVALID', () => ledger.findKeys(raw, ledger.readOutput(raw, 0, raw.length), new OutputKeys()));
  return describeOutput(raw);
}

function readTx(raw: Uint8Array): unknown {
  tolerate('BLOCK_INVALID', () => describeByronTx(raw, 0, raw.length));
  return describeTx(raw, 0, raw.length, true);
}

function readAddressBytes(bytes: Uint8Array): unknown {
  const text = formatAddress(bytes);
  stakeAddressOf(bytes);
  if (readAddress(bytes).kind !== 'unknown') assert.equal(toHex(parseAddress(text)), toHex(bytes));
  return text;
}

function readAddressText(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  tolerate('USAGE', () => parseCredential(text));
  return parseAddress(text);
}

function readGenesis(bytes: Uint8Array): unknown {
  const text = new TextDecoder().decode(bytes);
  tolerate('GENESIS_WRONG', () => byronGenesisHash(text));
  tolerate('GENESIS_WRONG', () => networkFromGenesis('devnet', text, devnet.genesisShelley));
  tolerate('GENESIS_WRONG', () => networkFromGenesis('devnet', devnet.genesisByron, text));
  tolerate('GENESIS_WRONG', () => genesisUtxos(devnet.genesisByron, text));
  return genesisUtxos(text, devnet.genesisShelley);
}

/** Everything that reads foreign bytes, and the one error it may answer with. */
const TARGETS = {
  block: { code: 'BLOCK_INVALID', run: readBlock },
  header: { code: 'BLOCK_INVALID', run: (raw) => readHeader(raw, EPOCH_SLOTS) },
  skip: { code: 'BLOCK_INVALID', run: (raw) => new Cursor(raw).skip() },
  output: { code: 'BLOCK_INVALID', run: readOutput },
  tx: { code: 'BLOCK_INVALID', run: readTx },
  address: { code: 'USAGE', run: readAddressBytes },
  addressText: { code: 'USAGE', run: readAddressText },
  genesis: { code: 'GENESIS_WRONG', run: readGenesis },
  delta: { code: 'STORE_DAMAGED', run: (raw) => readDelta(raw, 'the delta of a test') },
} as const satisfies Record<string, { code: ErrorCode; run: Target }>;

type TargetName = keyof typeof TARGETS;

/** Runs it; the given error is an answer, any other a failure. True when it gave a result. */
function tolerate(code: ErrorCode, run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch (error) {
    if (isUnspentError(error, code)) return false;
    throw error;
  }
}

/** All positions a block names lie inside it, and its numbers are exact. */
function assertInside({ raw, height, slot, hash, txs, parts }: CardanoBlock): void {
  assert.ok(Number.isSafeInteger(height) && Number.isSafeInteger(slot) && hash.length === 32);
  assert.ok(parts.every((at, i) => at <= raw.length && (i === 0 || at >= parts[i - 1])));
  for (const { start, end, spends, creates, id } of txs) {
    assert.ok(start < end && end <= raw.length && id.length === 32);
    for (const spend of spends) assert.ok(spend.at + 32 <= raw.length && spend.index <= 0xffff_ffff);
    for (const create of creates) {
      assert.ok(start < create.start && create.start < create.addressStart && create.addressEnd <= create.end && create.end <= end);
      assert.ok(create.addressStart <= create.addressEnd && create.valueHi >= 0 && create.valueLo >= 0);
    }
  }
}

/** One input to one target. Returns whether it was accepted. */
function tryOut(name: TargetName, bytes: Uint8Array, what: string): boolean {
  const { code, run } = TARGETS[name];
  const attempt = (): [boolean, number] => cpuTimed(() => tolerate(code, () => run(bytes)));
  try {
    let [accepted, ms] = attempt();
    for (let again = 0; ms > CASE_MS_MAX && again < 3; again++) [accepted, ms] = attempt();
    assert.ok(ms <= CASE_MS_MAX, `took ${Math.round(ms)} ms`);
    return accepted;
  } catch (error) {
    const shown = bytes.length <= 2000 ? toHex(bytes) : `${toHex(bytes, 0, 200)}... (${bytes.length} bytes)`;
    throw new Error(`${name}, ${what}, UNSPENT_TEST_SEED=${SEED}: ${(error as Error).message}; input ${shown}`, { cause: error });
  }
}

const txs = decoded
  .flatMap((block) => block.txs.map(({ start, end }) => block.raw.slice(start, end)))
  .filter(({ length }) => length < 4000);
const outputs = decoded.flatMap((block) =>
  block.txs.flatMap(({ creates }) => creates.map(({ start, end }) => block.raw.slice(start, end))),
);
const addresses = decoded.flatMap((block) =>
  block.txs.flatMap(({ creates }) => creates.map(({ addressStart, addressEnd }) => block.raw.slice(addressStart, addressEnd))),
);
const addressTexts = addresses.slice(0, 500).map((address) => utf8(formatAddress(address)));
const genesisTexts = [devnet.genesisByron, devnet.genesisShelley];

function someDelta(dice: Dice): Uint8Array {
  const tx = () => ({
    id: dice.bytes(32),
    valid: dice.below(2) === 0,
    kind: (['tx', 'grant', 'more'] as const)[dice.below(3)],
    firstIndex: dice.below(9),
    count: dice.below(300),
  });
  const list = <T>(make: () => T): T[] => Array.from({ length: dice.below(6) }, make);
  const coin = () => ({
    keyBytes: dice.bytes(OUTPOINT_BYTES),
    keyAt: 0,
    bytes: dice.bytes(60),
    at: 0,
    end: 60,
    length: 60,
    born: false,

    spender: { txId: dice.bytes(32), txIndex: dice.below(300), slot: dice.below(1000), height: dice.below(1000) },
    input: dice.below(300),
  });
  const undo = list(() => ['mmr', dice.bytes(dice.below(50))] as const);
  return new DeltaWriter().write({ missing: dice.below(3), txs: list(tx), spent: list(coin), undo }, dice.below(2) === 0).slice();
}

/** Inputs that once did harm, and near misses; they are tried before anything else. */
const KEPT: readonly (readonly [TargetName, string])[] = [
  // A quantity of as many bytes as there are: turning it into a number took minutes.
  ['output', `8241008201a140a140c259fde8${'ff'.repeat(65_000)}`],
  // A slot past 2^53, by an epoch number below it.
  ['header', `82008385005820${'00'.repeat(32)}00821b001fffffffffffff810000`],
  ['skip', '5f5f5f5fff'],
  ['skip', 'bf00ff'],
  ['skip', '9b0000000100000000'],
  ['output', 'bf00ff'],
  ['output', 'a2004000a0'],
  ['address', '82d818'],
  ['address', `41${'00'.repeat(28)}${'ff'.repeat(1100)}`],
  ['delta', '00ffffffffffffffff7f'],
  ['delta', '0000ffffffffffffff0f'],
];

const counts = new Map<string, { cases: number; accepted: number }>();

function count(kind: string, accepted: boolean): void {
  const entry = counts.get(kind) ?? { cases: 0, accepted: 0 };
  entry.cases++;
  if (accepted) entry.accepted++;
  counts.set(kind, entry);
}

/** That many inputs (times ROUNDS), each made from the seed and its number. */
function storm(kind: string, name: TargetName, number: number, make: (dice: Dice) => Uint8Array): void {
  const salt = kind.length * 1000 + kind.charCodeAt(0);
  for (let i = 0; i < number * ROUNDS; i++) count(kind, tryOut(name, make(new Dice(SEED + salt, i)), `${kind} ${i}`));
}

const pickBlock = (dice: Dice): Uint8Array => dice.pick(dice.below(30) === 0 ? blocks : smallBlocks);
const damaged = (from: readonly Uint8Array[]) => (dice: Dice) => damage(dice.pick(from), dice, dice.pick(from));

function report(t: TestContext, kinds: readonly string[]): void {
  for (const kind of kinds) {
    const { cases, accepted } = counts.get(kind) ?? { cases: 0, accepted: 0 };
    t.diagnostic(`${kind}: ${cases} cases, ${accepted} accepted (seed ${SEED})`);
  }
}

function heapBytes(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

describe('damaged input', () => {
  const heapBefore = heapBytes();

  test('what once did harm', () => {
    for (const [name, hex] of KEPT) tryOut(name, fromHex(hex), 'kept');
  });

  test('undamaged input is accepted', () => {
    for (const raw of blocks) assert.ok(tryOut('block', raw, 'sound'));
    for (const raw of outputs.slice(0, 2000)) assert.ok(tryOut('output', raw, 'sound'));
    for (const text of addressTexts) assert.ok(tryOut('addressText', text, 'sound'));
  });

  test('blocks', (t) => {
    storm('blocks', 'block', 60_000, (dice) => damage(pickBlock(dice), dice, pickBlock(dice)));
    storm('headers', 'header', 10_000, (dice) => damage(pickBlock(dice).subarray(0, 1200), dice, pickBlock(dice)));
    storm('items', 'skip', 10_000, (dice) => damage(pickBlock(dice), dice, pickBlock(dice)));
    report(t, ['blocks', 'headers', 'items']);
  });

  test('transactions, outputs, addresses', (t) => {
    storm('transactions', 'tx', 12_000, damaged(txs));
    storm('outputs', 'output', 12_000, damaged(outputs));
    storm('addresses', 'address', 6000, damaged(addresses));
    storm('address texts', 'addressText', 6000, (dice) =>
      utf8(damageText(new TextDecoder().decode(dice.pick(addressTexts)), dice, 'q1ioIO0l_Z \u0000\u00e9')),
    );
    report(t, ['transactions', 'outputs', 'addresses', 'address texts']);
  });

  test('random bytes', (t) => {
    for (const name of ['block', 'header', 'skip', 'output', 'tx', 'address', 'addressText', 'delta'] as const) {
      storm(`random ${name}`, name, 1500, noise);
    }
    report(t, ['random block', 'random skip']);
  });

  test('deltas', (t) => {
    storm('sound deltas', 'delta', 500, someDelta);
    assert.equal(counts.get('sound deltas')?.accepted, 500 * ROUNDS);
    storm('deltas', 'delta', 6000, (dice) => damage(someDelta(dice), dice, someDelta(dice)));
    report(t, ['deltas']);
  });

  test('genesis files', (t) => {
    storm('genesis', 'genesis', 3000, (dice) => utf8(damageText(dice.pick(genesisTexts), dice, '{}[]",:0123456789.eE-+\\n')));
    for (const text of [
      `{"a":"${'x'.repeat(2_000_000)}`,
      '{"a":'.repeat(LEVELS),
      '['.repeat(LEVELS),
      `{"protocolConsts":${'['.repeat(2500)}${']'.repeat(2500)}}`,
      '{"protocolConsts":{"protocolMagic":{"toString":1,"valueOf":1}}}',
      `{"protocolConsts":{"protocolMagic":${'9'.repeat(20_000)}}}`,
      '{"__proto__":{"protocolConsts":{}}}',
      'null',
      '1',
      '',
    ])
      count('genesis', tryOut('genesis', utf8(text), text.slice(0, 40)));
    report(t, ['genesis']);
  });

  test('cut at every byte: no block is accepted short of its end, or with more behind it', (t) => {
    const cut = [madeBlocks[0], ...smallBlocks.filter((_, i) => i % 29 === 0)];
    for (const raw of cut) {
      for (const whole of [raw, rewrite(raw, 'indefinite')]) {
        for (let end = 0; end < whole.length; end++) {
          const accepted = tryOut('block', whole.subarray(0, end), `cut at ${end}`);
          assert.ok(!accepted, `accepted ${end} of ${whole.length} bytes`);
          count('cut', accepted);
        }
        for (const more of [0x00, 0xf6, 0xff]) {
          assert.throws(() => decodeBlock(concatBytes(whole, Uint8Array.of(more)), EPOCH_SLOTS), { code: 'BLOCK_INVALID' });
        }
      }
    }
    report(t, ['cut']);
  });

  test('lengths inflated at every head of some blocks', (t) => {
    const withTxs = smallBlocks.filter((raw) => decodeBlock(raw, EPOCH_SLOTS).txs.length > 0);
    for (const raw of withTxs.filter((_, i) => i % 17 === 0)) {
      for (const { major, start, body } of everyItem(readTree(raw))) {
        for (const length of [0x17n, 0xffn, 0xffffn, 0x7fff_ffffn, 0xffff_ffffn, 1n << 53n, (1n << 64n) - 1n]) {
          const inflated = concatBytes(raw.subarray(0, start), head(major, length), raw.subarray(body));
          for (const name of ['block', 'skip'] as const) count('inflated', tryOut(name, inflated, `head at ${start}`));
        }
      }
    }
    report(t, ['inflated']);
  });

  test(`nested ${LEVELS} levels deep`, () => {
    for (const deep of deepItems()) {
      tryOut('skip', deep, 'deep');
      for (const raw of [madeBlocks[0], ...realBlocks.slice(0, 1)]) {
        // In place of each part of the block, of its header, and of the whole.
        const [, block] = readTree(raw).items;
        for (const place of [...block.items, ...block.items[0].items]) tryOut('block', replace(raw, place, deep), 'deep');
      }
      const body = new CborWriter().map(2).uint(0).array(0).uint(99).raw(deep).take();
      const output = new CborWriter().map(3).uint(0).bytes(addresses[0]).uint(1).uint(5).uint(77).raw(deep).take();
      const assets = new CborWriter().array(2).bytes(addresses[0]).array(2).uint(1).raw(deep).take();
      for (const bytes of [body, output, assets]) for (const name of ['tx', 'output'] as const) tryOut(name, bytes, 'deep');
      tryOut('address', concatBytes(fromHex('82d8185a000186a0'), deep), 'deep');
    }
  });

  test('numbers too big to be any', () => {
    for (const bytes of [9, 1024, 1025, 300_000, 2_000_000]) {
      const quantity = new CborWriter().tag(2).bytes(new Uint8Array(bytes).fill(0xff)).take();
      const assets = new CborWriter().map(1).bytes(new Uint8Array(28)).map(1).bytes(new Uint8Array(0)).raw(quantity).take();
      tryOut('output', new CborWriter().array(2).bytes(addresses[0]).array(2).uint(1).raw(assets).take(), 'big');
    }
  });

  test('millions of empty transactions', () => {
    const [, block] = readTree(madeBlocks[0]).items;
    const nothing = concatBytes(head(ARRAY, 4_000_000n), new Uint8Array(4_000_000).fill(0xa0));
    const raw = replace(madeBlocks[0], block.items[1], nothing);
    assert.throws(() => decodeBlock(raw, EPOCH_SLOTS), { code: 'BLOCK_INVALID', message: /more than 65536 transactions/ });
  });

  test('enough cases, and no memory kept', (t) => {
    const total = [...counts.values()].reduce((sum, { cases }) => sum + cases, 0);
    const growth = heapBytes() - heapBefore;
    t.diagnostic(`${total} cases, heap ${growth < 0 ? 'shrank' : 'grew'} by ${Math.round(Math.abs(growth) / 1024)} KB`);
    assert.ok(total >= 100_000, `${total} cases`);
    assert.ok(growth < HEAP_GROWTH_MAX, `${growth} bytes more in use`);
  });
});

function head(major: number, argument: bigint): Uint8Array {
  const bytes = new Uint8Array(9);
  bytes[0] = (major << 5) | 27;
  new DataView(bytes.buffer).setBigUint64(1, argument);
  return bytes;
}

function replace(raw: Uint8Array, { start, end }: Item, by: Uint8Array): Uint8Array {
  return concatBytes(raw.subarray(0, start), by, raw.subarray(end));
}

/** Arrays, maps, tags, of both kinds of length, each inside the last. */
function deepItems(): Uint8Array[] {
  const nests = ['81', 'a100', 'c1', '9f', 'bf00', 'd81881', '9fa1c2009f', '82'];
  return nests.map((nest) => concatBytes(fromHex(nest.repeat(LEVELS)), Uint8Array.of(0)));
}

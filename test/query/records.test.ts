/**
 * Interchange records: any record is read back as it was written, canonical by
 * the judgement of another library, and nothing else is taken for one. Those of
 * a devnet's chain say what the producer's model says.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decode as cborgDecode, encode as cborgEncode } from 'cborg';
import fc from 'fast-check';
import { cardanoNetwork, slotToEpoch, slotToTime } from '../../src/ledgers/cardano/index.ts';
import { cardanoDialect } from '../../src/query/cardano/dialect.ts';
import { compactDelta, Recorder } from '../../src/query/recorder.ts';
import {
  type BlockDelta,
  type CompactDelta,
  type CreatedOutput,
  decodeBlockDelta,
  decodeOutputEntry,
  decodeSpentRecord,
  decodeUtxoRecord,
  encodeBlockDelta,
  encodeOutputEntry,
  encodeSpentRecord,
  encodeUtxoRecord,
  type OutputEntry,
  type RecordedOutpoint,
  type SelfContainedDelta,
  type SpentOutput,
  type SpentRecord,
  type UtxoRecord,
} from '../../src/records.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { keysOf } from '../support/expected.ts';
import { assertCode, Devnet, devnetOptions, memoryRig, TEST_SEED } from '../support/harness.ts';

const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const some = fc.uint8Array({ maxLength: 80 });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const number = fc.oneof(fc.nat({ max: 300 }), fc.maxSafeNat());
const u64 = fc.oneof(fc.bigInt(0n, 300n), fc.bigInt(0n, (1n << 64n) - 1n));

const utxos: fc.Arbitrary<UtxoRecord> = fc.record({
  address: some,
  value: u64,
  assets: fc.array(fc.record({ policy: bytes(28), name: fc.uint8Array({ maxLength: 32 }), quantity: u64 }), { maxLength: 3 }),
  datumHash: maybe(bytes(32)),
  inlineDatum: maybe(some),
  scriptRef: maybe(some),
  scriptHash: maybe(bytes(28)),
  isCollateralReturn: fc.boolean(),
  isCoinbase: fc.boolean(),
  slot: number,
  block: number,
  blockHash: maybe(bytes(32)),
  epoch: maybe(number),
  blockTime: maybe(number),
  paymentCredential: maybe(bytes(28)),
  stakeCredential: maybe(bytes(28)),
  stakeAddress: maybe(bytes(29)),
});

const spents: fc.Arbitrary<SpentRecord> = fc.record({
  spentBy: maybe(bytes(32)),
  slot: number,
  block: number,
  blockHash: maybe(bytes(32)),
  time: maybe(number),
  epoch: maybe(number),
  before: utxos,
});

const entries: fc.Arbitrary<OutputEntry> = fc.record({
  txId: bytes(32),
  index: fc.nat({ max: 0xffff_ffff }),
  record: fc.oneof(utxos, spents),
});

const outpoints = fc.record({ txId: bytes(32), index: fc.nat({ max: 0xffff_ffff }) });
const few = <T>(value: fc.Arbitrary<T>) => fc.array(value, { maxLength: 3 });

const heads = {
  block: number,
  slot: number,
  blockHash: bytes(32),
  invalid: fc.array(fc.record({ txId: bytes(32), hadCollateralReturn: fc.boolean() }), { maxLength: 2 }),
  mmr: maybe(
    fc.record({
      inserts: fc.tuple(number, number),
      deletes: fc.array(number, { maxLength: 4 }),
      peaks: fc.array(bytes(32), { maxLength: 3 }),
      root: bytes(32),
    }),
  ),
};

const compact: fc.Arbitrary<CompactDelta> = fc.record({
  ...heads,
  form: fc.constant('compact'),
  created: few(outpoints),
  spent: few(outpoints),
});

const created: fc.Arbitrary<CreatedOutput> = fc.tuple(outpoints, utxos).map(([outpoint, record]) => ({ ...outpoint, record }));
const spentOutputs: fc.Arbitrary<SpentOutput> = fc
  .tuple(outpoints, utxos, maybe(bytes(32)))
  .map(([outpoint, before, spentBy]) => ({ ...outpoint, before, spentBy }));
/** One without any output is written as a compact one. */
const selfContained: fc.Arbitrary<SelfContainedDelta> = fc
  .record({ ...heads, form: fc.constant('self-contained' as const), created: few(created), spent: few(spentOutputs) })
  .filter((delta) => delta.created.length + delta.spent.length > 0);

const deltas: fc.Arbitrary<BlockDelta> = fc.oneof(compact, selfContained);

/** Views of other bytes and copies of them are the same to a reader. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `h'${toHex(value)}'`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, plain(each)]));
}

const FORMS = [
  ['UtxoRecord', utxos, encodeUtxoRecord, decodeUtxoRecord],
  ['SpentRecord', spents, encodeSpentRecord, decodeSpentRecord],
  ['OutputEntry', entries, encodeOutputEntry, decodeOutputEntry],
  ['BlockDelta', deltas, encodeBlockDelta, decodeBlockDelta],
] as const;

describe('records', () => {
  for (const [name, values, encode, decode] of FORMS as readonly (readonly [
    string,
    fc.Arbitrary<unknown>,
    (value: never) => Uint8Array,
    (bytes: Uint8Array) => unknown,
  ])[]) {
    it(`${name}: is read back as it was written, in the canonical form`, () => {
      const property = fc.property(values, (value) => {
        const written = encode(value as never);
        assert.deepEqual(plain(decode(written)), plain(value));
        // Another library writes what it reads of it in the same bytes: heads are shortest and keys in order.
        const read: unknown = cborgDecode(written, { useMaps: true, strict: true });
        assert.equal(toHex(cborgEncode(read)), toHex(written));
      });
      fc.assert(property, { seed: TEST_SEED, numRuns: 300 });
    });

    it(`${name}: nothing else is taken for one`, () => {
      const refused = (given: Uint8Array) => {
        try {
          assert.equal(toHex(encode(decode(given) as never)), toHex(given), 'what is taken has the one form');
        } catch (error) {
          assert.ok(isUnspentError(error, 'USAGE'), String(error));
        }
      };
      fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), refused), { seed: TEST_SEED, numRuns: 300 });
      const damage = fc.property(values, fc.nat(), fc.integer({ min: 1, max: 255 }), fc.boolean(), (value, at, flip, cut) => {
        const written = encode(value as never).slice();
        if (cut) return assertCode(() => decode(written.slice(0, at % written.length)), 'USAGE');
        written[at % written.length] ^= flip;
        refused(written);
      });
      fc.assert(damage, { seed: TEST_SEED, numRuns: 500 });
      const [value] = fc.sample(values, { seed: 3, numRuns: 1 });
      assertCode(() => decode(Uint8Array.of(...encode(value as never), 0)), 'USAGE');
    });
  }

  it('have the documented keys', () => {
    const [record] = fc.sample(
      utxos.filter((each) => Object.values(each).every((field) => field !== null && field !== false) && each.assets.length > 0),
      { seed: 5, numRuns: 1 },
    );
    const map = cborgDecode(encodeUtxoRecord(record), { useMaps: true }) as Map<number, unknown>;
    assert.deepEqual([...map.keys()], [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]);
    const [{ policy, name, quantity }] = record.assets;
    assert.deepEqual(
      plain((map.get(2) as unknown[])[0]),
      plain([policy, name, quantity <= Number.MAX_SAFE_INTEGER ? Number(quantity) : quantity]),
    );
    assert.deepEqual([plain(map.get(0)), map.get(7), map.get(8)], [plain(record.address), true, record.slot]);
    const bare = { ...record, assets: [], datumHash: null, inlineDatum: null, scriptRef: null, scriptHash: null, blockHash: null };
    const few = encodeUtxoRecord({
      ...bare,
      isCollateralReturn: false,
      isCoinbase: false,
      paymentCredential: null,
      stakeCredential: null,
      stakeAddress: null,
    });
    assert.deepEqual([...(cborgDecode(few, { useMaps: true }) as Map<number, unknown>).keys()], [0, 1, 8, 9, 11, 12]);
    const spent = { spentBy: new Uint8Array(32), slot: 1, block: 2, blockHash: new Uint8Array(32), time: 3, epoch: 4, before: record };
    const spentMap = cborgDecode(encodeSpentRecord(spent), { useMaps: true }) as Map<number, unknown>;
    assert.deepEqual([...spentMap.keys()], [0, 1, 2, 3, 4, 5, 6]);
    assert.deepEqual(plain(spentMap.get(6)), plain(map));
  });
});

describe('the record of a block', () => {
  const head = { block: 7, slot: 9, blockHash: new Uint8Array(32).fill(1), invalid: [], mmr: null };
  const outpoint = { txId: new Uint8Array(32).fill(2), index: 70_000 };
  const [record] = fc.sample(utxos, { seed: 8, numRuns: 1 });
  const read = (delta: BlockDelta) => cborgDecode(encodeBlockDelta(delta), { useMaps: true, strict: true }) as Map<number, unknown>;

  it('compact has lists of outpoints', () => {
    const map = read({ ...head, form: 'compact', created: [outpoint], spent: [outpoint] });
    assert.deepEqual([...map.keys()], [0, 1, 2, 3, 4]);
    for (const key of [3, 4]) assert.deepEqual(plain(map.get(key)), plain([[outpoint.txId, 70_000]]));
  });

  it('self-contained has maps: the outpoint, the record, and who spent it', () => {
    const spentBy = new Uint8Array(32).fill(3);
    const map = read({
      ...head,
      form: 'self-contained',
      created: [{ ...outpoint, record }],
      spent: [
        { ...outpoint, before: record, spentBy },
        { ...outpoint, before: record, spentBy: null },
      ],
    });
    const [made] = map.get(3) as Map<number, unknown>[];
    const [spent, dropped] = map.get(4) as Map<number, unknown>[];
    const wanted = plain(cborgDecode(encodeUtxoRecord(record), { useMaps: true }));
    assert.deepEqual([...made.keys()], [0, 1]);
    assert.deepEqual([...spent.keys()], [0, 1, 2]);
    assert.deepEqual([...dropped.keys()], [0, 1]);
    for (const entry of [made, spent, dropped]) {
      assert.deepEqual(plain(entry.get(0)), plain([outpoint.txId, 70_000]));
      assert.deepEqual(plain(entry.get(1)), wanted);
    }
    assert.deepEqual(plain(spent.get(2)), plain(spentBy));
  });

  it('is of one form, not of both', () => {
    const created = [[outpoint.txId, outpoint.index]];
    const spent = [
      new Map<number, unknown>([
        [0, [outpoint.txId, 0]],
        [1, cborgDecode(encodeUtxoRecord(record), { useMaps: true })],
      ]),
    ];
    const whole = new Map<number, unknown>([
      [0, 7],
      [1, 9],
      [2, head.blockHash],
      [3, created],
      [4, spent],
    ]);
    assertCode(() => decodeBlockDelta(cborgEncode(whole)), 'USAGE');
    whole.set(3, [...created, ...spent]).set(4, []);
    assertCode(() => decodeBlockDelta(cborgEncode(whole)), 'USAGE');
    assertCode(() => decodeBlockDelta(cborgEncode(whole.set(3, [...spent, ...created]))), 'USAGE');
  });
});

describe('records of a chain', () => {
  const network = cardanoNetwork('devnet');
  const rig = memoryRig(new Devnet(devnetOptions(6, 'conway')));
  rig.forward(80, [9]);
  const { chain } = rig.devnet;

  it('say of every output what the model says', () => {
    rig.read((query) => {
      const recorder = new Recorder(query, cardanoDialect(network));
      for (const block of chain.blocks) {
        for (const tx of block.txs) {
          for (const utxo of tx.creates) {
            const entry = decodeOutputEntry(encodeOutputEntry(recorder.entry(query.outpoint(utxo.txId, utxo.index)!)));
            assert.deepEqual([toHex(entry.txId), entry.index], [tx.id, utxo.index]);
            const by = chain.spentBy(utxo.key);
            const record = entry.record as UtxoRecord | SpentRecord;
            const before = 'before' in record ? record.before : record;
            assert.equal(toHex(before.address), utxo.addressHex);
            assert.equal(before.value, utxo.lovelace);
            assert.deepEqual(
              new Map(before.assets.map((asset) => [`${toHex(asset.policy)}.${toHex(asset.name)}`, asset.quantity])),
              new Map(utxo.assets),
            );
            const { payment, stake } = keysOf(utxo);
            assert.deepEqual(plain([before.paymentCredential, before.stakeCredential]), plain([payment ?? null, stake ?? null]));
            assert.equal(before.stakeAddress === null, stake === undefined);
            assert.equal(before.isCollateralReturn, !tx.valid);
            const { slot, height, hash } = block;
            const [epoch, time] = [slotToEpoch(network, slot), Math.floor(slotToTime(network, slot))];
            assert.deepEqual(
              plain([before.slot, before.block, before.blockHash, before.epoch, before.blockTime]),
              plain([slot, height, hash, epoch, time]),
            );
            assert.equal('before' in record, by !== undefined);
            if (!('before' in record) || by === undefined) continue;
            assert.deepEqual([toHex(record.spentBy!), record.slot, record.block], [by.txId, by.slot, by.height]);
            assert.equal(toHex(record.blockHash!), toHex(chain.blocks[by.height].hash));
          }
        }
      }
    });
  });

  it('say of every block what it did, with the outputs or without', () => {
    let invalid = 0;
    rig.read((query) => {
      const recorder = new Recorder(query, cardanoDialect(network));
      for (const block of chain.blocks) {
        const row = query.blockByHash(block.hash)!;
        const changes = query.changes(row);
        const whole = decodeBlockDelta(encodeBlockDelta(recorder.delta(row, changes)));
        const names = decodeBlockDelta(encodeBlockDelta(compactDelta(row, query.names(row))));
        const name = ({ txId, index }: RecordedOutpoint) => `${toHex(txId)}#${index}`;
        const granted = block.height === 0 ? rig.devnet.genesis.map(({ key }) => key) : [];
        const created = [...granted.sort(), ...block.txs.flatMap((tx) => tx.creates.map(({ key }) => key))];
        const spent = block.txs.flatMap((tx) => tx.spends.map(({ key }) => key));
        const made = whole.created.length;
        for (const delta of [whole, names]) {
          assert.deepEqual([delta.block, delta.slot, toHex(delta.blockHash)], [block.height, block.slot, toHex(block.hash)]);
          const named = delta.created.map(name);
          assert.deepEqual([...named.slice(0, granted.length).sort(), ...named.slice(granted.length)], created);
          assert.deepEqual(delta.spent.map(name), spent);
          assert.deepEqual(
            delta.invalid.map(({ txId, hadCollateralReturn }) => [toHex(txId), hadCollateralReturn]),
            block.txs.filter((tx) => !tx.valid).map((tx) => [tx.id, tx.creates.length > 0]),
          );
        }
        invalid += whole.invalid.length;
        assert.equal(names.form, 'compact');
        if (made + whole.spent.length === 0) continue;
        assert.ok(whole.form === 'self-contained');
        whole.created.forEach(({ record }, i) => {
          assert.deepEqual(plain(record), plain(recorder.utxo(changes.created[i])));
        });
        const spenders = block.txs.flatMap((tx) => tx.spends.map(() => tx.id));
        assert.deepEqual(
          whole.spent.map(({ spentBy }) => toHex(spentBy!)),
          spenders,
        );
        whole.spent.forEach(({ before }, i) => {
          assert.deepEqual(plain(before), plain(recorder.utxo(changes.spent[i])));
        });
      }
    });
    assert.ok(invalid > 0);
  });
});

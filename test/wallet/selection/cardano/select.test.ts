/**
 * Selections of lovelace and assets. An independent library
 * (cardano-serialization-lib) reads the transaction that each would become, and
 * says what its outputs must hold and what fee it must pay.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import CSL from '@emurgo/cardano-serialization-lib-nodejs';
import fc from 'fast-check';
import { encodeConwayParameters } from '../../../../src/chains/cardano/devnet/parameters.ts';
import { Random } from '../../../../src/chains/random.ts';
import type { Asset } from '../../../../src/ledgers/asset.ts';
import { lovelaceMin } from '../../../../src/ledgers/cardano/fee.ts';
import { decodeProtocolParameters } from '../../../../src/ledgers/cardano/protocol-parameters.ts';
import { type OutputToWrite, writeTransaction } from '../../../../src/ledgers/cardano/transaction-write.ts';
import { isUnspentError, type UnspentError } from '../../../../src/util/errors.ts';
import { Bundle, LOVELACE, unitOf } from '../../../../src/wallet/selection/cardano/bundle.ts';
import type { Coin, Selection, SelectionRequest } from '../../../../src/wallet/selection/cardano/coin.ts';
import { selectCoins } from '../../../../src/wallet/selection/cardano/select.ts';

const ADA = 1_000_000n;
const PARAMETERS = decodeProtocolParameters(encodeConwayParameters());
/** An enterprise address of a key on mainnet. */
const address = (byte: number): Uint8Array => Uint8Array.from([0x61, ...new Uint8Array(28).fill(byte)]);
const asset = (policy: number, name: string, quantity: bigint): Asset => ({
  policy: new Uint8Array(28).fill(policy),
  name: new TextEncoder().encode(name),
  quantity,
});
const gold = (quantity: bigint): Asset => asset(1, 'gold', quantity);
const GOLD = unitOf(gold(1n));

let made = 0;
function coinOf(lovelace: bigint, assets: readonly Asset[] = [], signer = 'key'): Coin {
  made++;
  const txId = new Uint8Array(32);
  new DataView(txId.buffer).setUint32(0, made);
  return { txId, index: made % 7, lovelace, assets, signer };
}

const payment = (lovelace: bigint, assets: readonly Asset[] = []): OutputToWrite => ({ address: address(5), lovelace, assets });
const requestOf = (outputs: readonly OutputToWrite[], other: Partial<SelectionRequest> = {}): SelectionRequest => ({
  outputs,
  changeAddress: address(9),
  parameters: PARAMETERS,
  ...other,
});

/** Selects, and checks what holds for every selection. */
function select(coins: readonly Coin[], request: SelectionRequest, seed = 1): Selection {
  const selection = selectCoins(coins, request, new Random(seed));
  const { inputs, change, fee } = selection;
  assert.equal(new Set(inputs).size, inputs.length, 'no coin twice');
  assert.deepEqual(selection.outputs, request.outputs);
  const left = Bundle.sumOf(inputs);
  for (const output of [...selection.outputs, ...change]) left.subtract(output);
  assert.equal(left.quantity(LOVELACE), fee, 'lovelace is kept');
  assert.deepEqual(left.assets(), [], 'assets are kept');
  for (const { assets = [] } of change) assert.ok(assets.every(({ quantity }) => quantity > 0n));
  witness(selection, request);
  return selection;
}

/** As the other library sees the transaction, with signatures of all keys. */
function witness({ inputs, outputs, change, fee, bytes }: Selection, { parameters, validity = {} }: SelectionRequest): void {
  const empty = { signers: [], references: [], scripts: [], units: { memory: 0n, steps: 0n }, costModel: [] };
  const { tx } = writeTransaction({ inputs, outputs: [...outputs, ...change], fee, validity, ...empty });
  const theirs = CSL.Transaction.from_bytes(tx);
  const cost = CSL.DataCost.new_coins_per_byte(CSL.BigNum.from_str(`${parameters.lovelacePerUtxoByte}`));
  for (let i = 0; i < theirs.body().outputs().len(); i++) {
    const output = theirs.body().outputs().get(i);
    assert.ok(
      BigInt(output.amount().coin().to_str()) >= BigInt(CSL.min_ada_for_output(output, cost).to_str()),
      'each output holds its least',
    );
    assert.ok(output.amount().to_bytes().length <= parameters.valueBytesMax);
  }
  const witnesses = CSL.TransactionWitnessSet.new();
  const keys = CSL.Vkeywitnesses.new();
  for (let i = new Set(inputs.map(({ signer }) => signer)).size; i > 0; i--) {
    const key = CSL.PrivateKey.from_normal_bytes(new Uint8Array(32).fill(i));
    keys.add(CSL.Vkeywitness.new(CSL.Vkey.new(key.to_public()), key.sign(new Uint8Array(32))));
  }
  witnesses.set_vkeys(keys);
  const signed = CSL.Transaction.new(theirs.body(), witnesses);
  const linear = CSL.LinearFee.new(CSL.BigNum.from_str(`${parameters.feePerByte}`), CSL.BigNum.from_str(`${parameters.feeFixed}`));
  assert.ok(fee >= BigInt(CSL.min_fee(signed, linear).to_str()), 'the fee is paid');
  assert.ok(signed.to_bytes().length <= bytes && bytes <= parameters.txBytesMax);
}

function failure(coins: readonly Coin[], request: SelectionRequest): UnspentError {
  try {
    selectCoins(coins, request, new Random(1));
  } catch (error) {
    assert.ok(isUnspentError(error), `${error}`);
    return error;
  }
  throw new Error('it selected something');
}

const repeat = <T>(count: number, of: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => of(i));

describe('lovelace', () => {
  test('change of about the payment, by random-improve', () => {
    const coins = repeat(200, () => coinOf(5n * ADA));
    const { change, inputs, algorithm } = select(coins, requestOf([payment(50n * ADA)]));
    assert.deepEqual([algorithm, inputs.length, change.length], ['random-improve', 20, 1]);
    assert.ok(change[0].lovelace > 49n * ADA && change[0].lovelace < 50n * ADA);
  });

  test('it is drawn at random, and never above three times the payment', () => {
    const coins = [...repeat(30, () => coinOf(10n * ADA)), coinOf(1000n * ADA)];
    const chosen = new Set<string>();
    for (let seed = 0; seed < 40; seed++) {
      const { inputs } = select(coins, requestOf([payment(25n * ADA)]), seed);
      chosen.add(inputs.map(({ index, txId }) => `${txId[3]}#${index}`).join());
      const held = inputs.reduce((sum, { lovelace }) => sum + lovelace, 0n);
      assert.ok(held <= 75n * ADA || inputs.some(({ lovelace }) => lovelace === 1000n * ADA));
    }
    assert.ok(chosen.size > 30);
  });

  test('change that would hold too little takes another coin; without one it says what is missing', () => {
    const [five, two] = [coinOf(5n * ADA), coinOf(2n * ADA)];
    const request = requestOf([payment(45n * (ADA / 10n))], { order: 'largest-first' });
    assert.equal(select([five, two], request).inputs.length, 2);
    const error = failure([five], request);
    assert.deepEqual([error.code, error.meta['unit']], ['FUNDS_INSUFFICIENT', LOVELACE]);
    const lacking = error.meta['missing'] as bigint;
    assert.ok(lacking > 0n && lacking < ADA);
    assert.equal(select([coinOf(5n * ADA + lacking)], request).change.length, 1, 'with that it works');
    assert.equal(failure([coinOf(5n * ADA + lacking - 1n)], request).meta['missing'], 1n);
  });

  test('what is left is a fee only if it is no more than change would cost', () => {
    const exact = select([coinOf(10n * ADA)], requestOf([], { preset: [coinOf(3n * ADA)] }));
    assert.equal(exact.change.length, 1, 'without outputs there is change');
    // What the transaction costs without change, found by what is missing.
    const bare = (lovelace: bigint): Selection | null => {
      try {
        return select([coinOf(lovelace)], requestOf([payment(4n * ADA)]));
      } catch {
        return null;
      }
    };
    const fee = 155_381n + 44n * 150n;
    const paying = repeat(400, (i) => bare(4n * ADA + fee + BigInt(i * 44))).filter((selection) => selection !== null);
    assert.ok(paying.length > 20);
    for (const { change, fee } of paying) assert.ok(change.length === 0 && fee < 180_000n);
    assert.equal(bare(4n * ADA + fee + 500_000n), null, 'half an ada is not given away');
  });

  test('preset coins, several keys, an interval', () => {
    const preset = [coinOf(ADA, [], 'one'), coinOf(ADA, [], 'two')];
    const coins = [coinOf(50n * ADA, [], 'three'), ...preset];
    const { inputs, bytes } = select(coins, requestOf([payment(5n * ADA)], { preset, validity: { from: 1_000_000, until: 9_000_000 } }));
    assert.equal(inputs.length, 3);
    assert.ok(preset.every((coin) => inputs.includes(coin)));
    const alone = select(coins, requestOf([payment(5n * ADA)], { preset: preset.map((coin) => ({ ...coin, signer: 'three' })) }));
    assert.equal(bytes - alone.bytes, 2 * 102 + 2 * (1 + 5), 'two keys, and two slots');
    assert.equal(failure(coins, requestOf([payment(5n * ADA)], { preset: [preset[0], preset[0]] })).code, 'USAGE');
    assert.equal(failure(coins, requestOf([])).code, 'USAGE');
  });
});

describe('assets', () => {
  test('the asset that is paid, all other assets back as change with the lovelace they need', () => {
    const rich = coinOf(2n * ADA, [gold(100n), asset(2, 'silver', 7n), asset(3, '', 1n)]);
    const { inputs, change } = select([rich, coinOf(50n * ADA)], requestOf([payment(2n * ADA, [gold(30n)])]));
    assert.ok(inputs.includes(rich));
    const back = Bundle.sumOf(change);
    assert.deepEqual([back.quantity(GOLD), back.assets().length], [70n, 3]);
    assert.ok(change[0].lovelace >= lovelaceMin(change[0], PARAMETERS));
  });

  test('coins that hold nothing else are drawn first', () => {
    const plain = [coinOf(2n * ADA, [gold(10n)]), ...repeat(5, () => coinOf(20n * ADA))];
    const others = repeat(20, (i) => coinOf(20n * ADA, [gold(10n), asset(2, `other ${i}`, 1n)]));
    for (let seed = 0; seed < 20; seed++) {
      const { inputs } = select([...others, ...plain], requestOf([payment(2n * ADA, [gold(10n)])], { order: 'random-improve' }), seed);
      assert.ok(inputs.includes(plain[0]));
    }
  });

  test('what is missing of an asset is said, and what an output holds too little', () => {
    const error = failure([coinOf(9n * ADA, [gold(5n)])], requestOf([payment(2n * ADA, [gold(8n)])]));
    assert.deepEqual(error.meta, { unit: GOLD, needed: 8n, available: 5n, missing: 3n });
    const poor = failure([coinOf(9n * ADA, [gold(5n)])], requestOf([payment(ADA, [gold(5n)])]));
    assert.equal(poor.code, 'OUTPUT_DUST');
    assert.equal(select([coinOf(9n * ADA, [gold(5n)])], requestOf([payment(poor.meta['least'] as bigint, [gold(5n)])])).change.length, 1);
    assert.equal(failure([coinOf(9n * ADA)], requestOf([payment(2n * ADA, [gold(0n)])])).code, 'USAGE');
  });

  test('more assets than one value may hold come back in several outputs', () => {
    const tokens = (from: number): readonly Asset[] =>
      repeat(60, (i) => asset(from + (i % 3), `a name of up to 32 bytes: ${from * 100 + i}`, 10n ** 15n));
    const coins = [1, 11, 21].map((from) => coinOf(60n * ADA, tokens(from)));
    const { change } = select(coins, requestOf([payment(130n * ADA)]));
    assert.ok(change.length >= 2, `${change.length} outputs`);
    assert.equal(Bundle.sumOf(change).assets().length, 180);
  });
});

describe('limits', () => {
  test('too many small coins at random: the largest ones instead', () => {
    const coins = [...repeat(2000, () => coinOf(ADA)), ...repeat(10, () => coinOf(100n * ADA))];
    const { algorithm, inputs } = select(coins, requestOf([payment(900n * ADA)]), 3);
    assert.deepEqual([algorithm, inputs.length], ['largest-first', 10]);
    const error = failure(
      repeat(2000, () => coinOf(ADA)),
      requestOf([payment(900n * ADA)]),
    );
    assert.deepEqual([error.code, error.meta['bytesMax']], ['TX_TOO_LARGE', 16_384]);
  });
});

describe('whatever is asked for', () => {
  const quantity = fc.bigInt({ min: 1n, max: 1000n });
  const held = fc.array(fc.tuple(fc.nat(2), fc.constantFrom('', 'x', 'y'), quantity), { maxLength: 4 });
  const distinct = (list: readonly (readonly [number, string, bigint])[]): readonly Asset[] => [
    ...new Map(list.map(([policy, name, amount]) => [`${policy}${name}`, asset(policy, name, amount)])).values(),
  ];

  test('nothing is lost, outputs hold their least and the fee is paid; or what is missing is right', () => {
    const wallet = fc.array(
      fc.record({ lovelace: fc.bigInt({ min: ADA, max: 60n * ADA }), assets: held, signer: fc.constantFrom('a', 'b', 'c') }),
      { minLength: 1, maxLength: 12 },
    );
    const outputs = fc.array(fc.record({ lovelace: fc.bigInt({ min: 0n, max: 40n * ADA }), assets: held }), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(wallet, outputs, fc.constantFrom('random-improve', 'largest-first'), fc.nat(1 << 20), (list, wanted, order, seed) => {
        const coins = list.map(({ lovelace, assets, signer }) => coinOf(lovelace, distinct(assets), signer));
        const paid = wanted.map(({ lovelace, assets }) => {
          const output = payment(lovelace, distinct(assets));
          return { ...output, lovelace: lovelace + lovelaceMin(output, PARAMETERS) };
        });
        try {
          select(coins, requestOf(paid, { order }), seed);
        } catch (error) {
          if (!isUnspentError(error, 'FUNDS_INSUFFICIENT')) throw error;
          const [all, needed] = [Bundle.sumOf(coins), Bundle.sumOf(paid)];
          const unit = error.meta['unit'] as string;
          assert.equal(error.meta['available'], all.quantity(unit), 'all of it was looked at');
          // Lovelace may be missing for fee and change alone.
          assert.ok(unit === LOVELACE ? needed.quantity(unit) + 9n * ADA > all.quantity(unit) : needed.quantity(unit) > all.quantity(unit));
        }
      }),
      { numRuns: 250 },
    );
  });
});

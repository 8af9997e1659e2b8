/** Partially signed transactions: the vectors of BIP174, BIP370 and BIP371, bitcoinjs-lib as a second opinion, and what is refused. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Psbt, Transaction } from 'bitcoinjs-lib';
import { bitcoinNetwork, parseId } from '../../../../src/ledgers/bitcoin/index.ts';
import { concatBytes, fromHex, toHex, utf8 } from '../../../../src/util/bytes.ts';
import { isUnspentError } from '../../../../src/util/errors.ts';
import {
  combinePsbts,
  createPsbt,
  extractTx,
  finalisePsbt,
  formatPsbt,
  inspectPsbt,
  openKeyRing,
  type PsbtInput,
  parseDescriptor,
  parsePsbt,
  signPsbt,
  updatePsbt,
} from '../../../../src/wallet/bitcoin/keys/index.ts';
import * as vectors from './psbt-vectors.ts';

const network = bitcoinNetwork('bitcoin-regtest');
const { KEYS, PRIVATE_KEYS, signedBy } = vectors;
const hex = (bytes: Uint8Array): string => toHex(bytes);
const named = (key: number): string => `[d90c6a4f/0h/0h/${key}h]${KEYS[key]}`;
const ringOf = (...keys: readonly number[]): ReturnType<typeof openKeyRing> =>
  openKeyRing(network, { kind: 'descriptors', texts: keys.map((key) => `pk([d90c6a4f/0h/0h/${key}h]${PRIVATE_KEYS[key]})`) });

describe('the walk of BIP174', () => {
  const owners = [
    `sh(multi(2,${named(0)},${named(1)}))`,
    `sh(wsh(multi(2,${named(2)},${named(3)})))`,
    `wpkh(${named(4)})`,
    `wpkh(${named(5)})`,
  ].map((text) => parseDescriptor(network, text).derive(0, 0)[0]);

  test('update', () => {
    const updated = updatePsbt(network, vectors.CREATED, {
      ownerOf: (script) => owners.find((owner) => hex(owner.script) === hex(script)),
      previousTx: (txid) => {
        const found = ['75ddabb27b8845f5247975c8a5ba7c6f336c4570708ebe230caf6db5217ae858'].indexOf(hex(txid.toReversed()));
        return fromHex(vectors.PREVIOUS[found === 0 ? 0 : 1]);
      },
    });
    const [ours, theirs] = [inspectPsbt(updated), inspectPsbt(signedBy())];
    // We add the previous transaction to the segwit input too, as nodes do.
    assert.deepEqual(
      ours.inputs.map(({ hasPreviousTx }) => hasPreviousTx),
      [true, true],
    );
    assert.deepEqual(
      ours.inputs.map(({ paths, spent }) => ({ paths, spent })),
      theirs.inputs.map(({ paths, spent }) => ({ paths, spent })),
    );
    assert.deepEqual([ours.outputs, ours.fee], [theirs.outputs, 10_000n]);
    assert.equal(hex(signPsbt(updated, ringOf(0)).psbt).includes(vectors.SIGNATURES[0]), true);
  });

  test('sign', () => {
    const { psbt, signatures } = signPsbt(signedBy(), ringOf(0, 2));
    assert.equal(hex(psbt), hex(signedBy(0, 2)));
    assert.equal(signatures, 2);
    // The second key's signature in the vector is one byte longer than ours, which are made to be short.
    const other = hex(signPsbt(signedBy(), ringOf(1, 3)).psbt);
    assert.deepEqual([other.includes(vectors.SIGNATURES[3]), other.includes(vectors.SIGNATURES[1])], [true, false]);
    const all = openKeyRing(network, { kind: 'extended', key: vectors.MASTER });
    assert.equal(signPsbt(signedBy(), all).signatures, 4);
    assert.deepEqual(signPsbt(signedBy(0, 2), ringOf(0, 2)), { psbt: signedBy(0, 2), signatures: 0 }, 'nothing is signed twice');
  });

  test('combine, finalise, extract', () => {
    const combined = combinePsbts([signedBy(0, 2), signedBy(1, 3)]);
    assert.equal(hex(combined), hex(signedBy(0, 1, 2, 3)));
    const final = finalisePsbt(combined);
    assert.equal(hex(final.psbt), hex(vectors.FINALISED));
    assert.deepEqual(final.incomplete, []);
    assert.equal(hex(extractTx(vectors.FINALISED).raw), hex(vectors.EXTRACTED));
    assert.deepEqual(finalisePsbt(signedBy(0, 1, 2)).incomplete, [1]);
    assert.deepEqual(
      inspectPsbt(signedBy(0, 1, 2)).inputs.map(({ state }) => state),
      ['ready', 'partial'],
    );
  });

  test('records of unknown types are kept and combined', () => {
    const [first, second, both] = vectors.UNKNOWN;
    assert.equal(hex(combinePsbts([first, second])), hex(both));
  });

  test('others of another transaction are not combined', () => {
    assert.throws(() => combinePsbts([signedBy(0), vectors.UNKNOWN[0]]), { code: 'PSBT_INVALID' });
    assert.throws(() => combinePsbts([]), { code: 'PSBT_INVALID' });
  });
});

describe('what is refused', () => {
  for (const [why, bytes] of vectors.REFUSED) {
    test(why, () => assert.throws(() => inspectPsbt(bytes), { code: 'PSBT_INVALID' }));
  }

  test('a sighash that leaves a part of the transaction open', () => {
    const text = hex(signedBy()).replaceAll('01030401000000', '01030402000000');
    assert.throws(() => signPsbt(fromHex(text), ringOf(0)), { code: 'PSBT_INVALID' });
  });
});

describe('forms', () => {
  test('bytes, base64 and hex are read, base64 is written', () => {
    const text = formatPsbt(vectors.CREATED);
    assert.equal(text, Buffer.from(vectors.CREATED).toString('base64'));
    for (const form of [vectors.CREATED, text, ` ${text}\n`, hex(vectors.CREATED), utf8(text)])
      assert.deepEqual(parsePsbt(form), vectors.CREATED);
    for (const form of ['', 'psbt', 'cHNidP8', utf8('{}'), new Uint8Array(5)])
      assert.throws(() => parsePsbt(form), { code: 'PSBT_INVALID' });
  });

  test('version 2', () => {
    const { psbtVersion, inputs, outputs } = inspectPsbt(vectors.version2());
    assert.deepEqual([psbtVersion, inputs.length, outputs.map(({ amount }) => amount)], [2, 1, [800_000_000n, 199_998_859n]]);
    assert.equal(inspectPsbt(vectors.version2({ input: '01120410270000' })).lockTime, 10_000, 'BIP370: an input may ask for a height');
  });

  test('taproot', () => {
    const [{ paths }] = inspectPsbt(vectors.TAPROOT).inputs;
    assert.deepEqual(
      paths.map(({ required, signers }) => [required, signers.map(({ origin }) => origin)]),
      [[1, [{ fingerprint: 0x772b2da7, path: [0x80000056, 0x80000001, 0x80000000, 1, 0] }]]],
    );
  });
});

describe('created', () => {
  const secret = { kind: 'seed', seed: new Uint8Array(32).fill(7) } as const;
  const ring = openKeyRing(network, secret);
  const tprv = 'tprv8ZgxMBicQKsPd9TeAdPADNnSyH9SSUUbTVeFszDE23Ki6TBB5nCefAdHkK8Fm3qMQR6sHwA56zqRmKmxnHk37JkiFzvncDqoKmPWubu7hDF';
  const own = openKeyRing(network, { kind: 'extended', key: tprv });
  const key = parseDescriptor(network, `pk(${tprv})`).toString().slice(3, -10);

  /** A transaction with one output, as one that is spent from. */
  function coin(text: string, amount = 100_000n): PsbtInput {
    const [owner] = parseDescriptor(network, text).derive(0, 0);
    const tx = new Transaction();
    tx.addInput(new Uint8Array(32).fill(1), 0);
    tx.addOutput(owner.script, amount);
    return { txid: parseId(tx.getId()), index: 0, amount, owner, previousTx: tx.toBuffer() };
  }

  const output = { script: fromHex('0014c430f64c4756da310dbd1a085572ef299926272c'), amount: 90_000n };

  for (const text of [
    `wpkh(${key}/0/*)`,
    `sh(wpkh(${key}/1/*))`,
    `pkh(${key}/2/*)`,
    `wsh(multi(1,${key}/3/*,${key}/4/*))`,
    `sh(wsh(multi(2,${key}/5/*,${key}/6/*)))`,
    `wsh(pkh(${key}/7/*))`,
  ]) {
    test(`bitcoinjs-lib finalises what we signed: ${text.replaceAll(key, 'KEY')}`, () => {
      const { psbt } = signPsbt(createPsbt({ network, inputs: [coin(text)], outputs: [output], lockTime: 500 }), own);
      const theirs = Psbt.fromBuffer(Buffer.from(psbt));
      assert.equal(theirs.locktime, 500);
      theirs.finalizeAllInputs();
      const tx = theirs.extractTransaction(true);
      assert.equal(tx.toHex(), hex(extractTx(psbt).raw));
      assert.equal(tx.getId(), hex(extractTx(psbt).txid.toReversed()));
    });
  }

  test('version 2 leads to the same transaction', () => {
    const draft = { network, inputs: [coin(`wpkh(${key}/0/*)`)], outputs: [output] };
    const [zero, two] = [createPsbt(draft), createPsbt({ ...draft, psbtVersion: 2 })].map((psbt) => signPsbt(psbt, own).psbt);
    assert.deepEqual([inspectPsbt(zero).psbtVersion, inspectPsbt(two).psbtVersion], [0, 2]);
    assert.deepEqual(extractTx(two), extractTx(zero));
  });

  test('sequence and lock time', () => {
    const sequenceOf = (options: object): number =>
      inspectPsbt(createPsbt({ network, inputs: [coin(`wpkh(${key}/0/*)`)], outputs: [output], ...options })).inputs[0].sequence;
    assert.deepEqual([sequenceOf({}), sequenceOf({ replaceable: false })], [0xfffffffd, 0xfffffffe]);
    const input = { ...coin(`wpkh(${key}/0/*)`), sequence: 5 };
    assert.equal(inspectPsbt(createPsbt({ network, inputs: [input], outputs: [output] })).inputs[0].sequence, 5);
  });

  test('a multisig of more than sixteen keys is carried, not signed', () => {
    const keys = Array.from({ length: 17 }, (_, i) => `${key}/${i}/*`).join(',');
    const psbt = createPsbt({ network, inputs: [coin(`wsh(multi(1,${keys}))`)], outputs: [output] });
    assert.deepEqual([inspectPsbt(psbt).inputs[0].paths, inspectPsbt(psbt).fee], [[], 10_000n]);
    assert.equal(signPsbt(psbt, own).signatures, 0);
  });

  test('keys of others sign nothing', () => {
    const psbt = createPsbt({ network, inputs: [coin(`wpkh(${key}/0/*)`)], outputs: [output] });
    assert.deepEqual(signPsbt(psbt, ring), { psbt, signatures: 0 });
  });

  test('the lie about the place of a key signs nothing', () => {
    const input = coin(`wpkh(${key}/0/*)`);
    const [signer] = input.owner.keys;
    const keys = [{ ...signer, origin: { ...signer.origin, path: [0, 1] } }];
    const psbt = createPsbt({ network, inputs: [{ ...input, owner: { ...input.owner, keys } }], outputs: [output] });
    assert.equal(signPsbt(psbt, own).signatures, 0);
  });

  test('what does not fit is refused', () => {
    const input = coin(`wpkh(${key}/0/*)`);
    const refused = (draft: Partial<Parameters<typeof createPsbt>[0]>, pattern: RegExp): void =>
      assert.throws(
        () => createPsbt({ network, inputs: [input], outputs: [output], ...draft }),
        (error) => isUnspentError(error, 'PSBT_INVALID') && pattern.test(error.message),
      );
    refused({ inputs: [] }, /inputs and outputs/);
    refused({ outputs: [] }, /inputs and outputs/);
    refused({ inputs: [input, input] }, /spent twice/);
    refused({ outputs: [{ ...output, amount: 100_001n }] }, /1 more than the inputs/);
    refused({ outputs: [{ ...output, amount: -1n }] }, /negative/);
    refused({ inputs: [{ ...input, amount: 99_999n }] }, /another amount/);
    refused({ inputs: [{ ...input, txid: new Uint8Array(32) }] }, /does not spend from/);
    refused({ inputs: [{ ...coin(`pkh(${key}/0/*)`), previousTx: undefined }] }, /is not segwit/);
    refused({ outputs: [{ ...output, owner: input.owner }] }, /not of the script/);
    refused({ lockTime: -1 }, /not sound/);
  });

  test('an update needs no transaction that is there already', () => {
    const input = coin(`pkh(${key}/0/*)`);
    const bare = createPsbt({ network, inputs: [{ ...input, owner: { ...input.owner, keys: [] } }], outputs: [output] });
    assert.equal(signPsbt(bare, own).signatures, 0);
    const updated = updatePsbt(network, bare, {
      ownerOf: (script) => (hex(script) === hex(input.owner.script) ? input.owner : undefined),
      previousTx: () => undefined,
    });
    assert.equal(signPsbt(updated, own).signatures, 1);
  });

  test('a signer may ask for the transactions that are spent from', () => {
    const psbt = createPsbt({ network, inputs: [{ ...coin(`wpkh(${key}/0/*)`), previousTx: undefined }], outputs: [output] });
    assert.throws(() => signPsbt(psbt, own, { needsPreviousTxs: true }), { code: 'PSBT_INVALID' });
    assert.equal(signPsbt(psbt, own).signatures, 1);
    const taproot = createPsbt({ network, inputs: [{ ...coin(`tr(${key}/0/*)`), previousTx: undefined }], outputs: [output] });
    assert.equal(signPsbt(taproot, own, { needsPreviousTxs: true }).signatures, 1);
  });

  test('Litecoin: an output of a transaction with a part in the extension block', () => {
    const litecoin = bitcoinNetwork('litecoin-regtest');
    const input = coin(`pkh(${key}/0/*)`);
    const plain = input.previousTx ?? assert.fail();
    // Marker 0, flags 8 (extension only), and one byte "none" before the lock time.
    const raw = concatBytes(plain.subarray(0, 4), Uint8Array.of(0, 8), plain.subarray(4, -4), Uint8Array.of(0), plain.subarray(-4));
    const draft = { inputs: [{ ...input, previousTx: raw }], outputs: [output] };
    const { psbt } = signPsbt(createPsbt({ network: litecoin, ...draft }), own);
    assert.equal(
      hex(extractTx(psbt).raw),
      hex(extractTx(signPsbt(createPsbt({ network, inputs: [input], outputs: [output] }), own).psbt).raw),
    );
  });
});

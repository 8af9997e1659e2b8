/** Descriptors and partially signed transactions with slips in them: an answer or a typed error, never a crash. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bitcoinNetwork } from '../../src/ledgers/bitcoin/index.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import {
  combinePsbts,
  extractTx,
  finalisePsbt,
  inspectPsbt,
  openKeyRing,
  parseDescriptor,
  parsePsbt,
  signPsbt,
} from '../../src/wallet/bitcoin/keys/index.ts';
import { MULTIPATH, SCRIPTS } from '../wallet/bitcoin/keys/descriptor-vectors.ts';
import { CREATED, FINALISED, MASTER, signedBy, TAPROOT, version2 } from '../wallet/bitcoin/keys/psbt-vectors.ts';

const bitcoin = bitcoinNetwork('bitcoin');
const DESCRIPTOR_RUNS = 1500;
const PSBT_RUNS = 250;

/** Runs it; whether it gave an answer. Anything but an error of ours fails the test. */
function answers(action: () => unknown): boolean {
  try {
    action();
    return true;
  } catch (error) {
    assert.ok(isUnspentError(error), `not a typed error: ${error instanceof Error ? error.stack : error}`);
    return false;
  }
}

const slip = fc.record({
  at: fc.nat(4000),
  remove: fc.nat(3),
  insert: fc.oneof(
    fc.constantFrom('', ')', '(', ',', '/*', '<0;1>', "'", '{', '}', '[', ']', '#', 'sh(', 'tr(', '0'),
    fc.string({ maxLength: 3 }),
  ),
});

test('descriptors', () => {
  const texts = [...SCRIPTS, ...MULTIPATH].map(([text]) => text);
  const found = { answered: 0, refused: 0 };
  fc.assert(
    fc.property(fc.constantFrom(...texts), fc.array(slip, { minLength: 1, maxLength: 2 }), (text, slips) => {
      const changed = slips.reduce((old, { at, remove, insert }) => {
        const place = at % (old.length + 1);
        return old.slice(0, place) + insert + old.slice(place + remove);
      }, text);
      const isAnswered = answers(() => {
        const descriptor = parseDescriptor(bitcoin, changed);
        answers(() => assert.equal(parseDescriptor(bitcoin, descriptor.toString()).toString(), descriptor.toString()));
        for (const index of [0, 7]) answers(() => descriptor.derive(descriptor.branchCount - 1, index));
      });
      found[isAnswered ? 'answered' : 'refused']++;
    }),
    { numRuns: DESCRIPTOR_RUNS },
  );
  assert.ok(found.answered > 20 && found.refused > 500, `the slips reach both: ${JSON.stringify(found)}`);
});

test('partially signed transactions', () => {
  const network = bitcoinNetwork('bitcoin-regtest');
  const ring = openKeyRing(network, { kind: 'extended', key: MASTER });
  const psbts = [CREATED, signedBy(), signedBy(0, 2), signedBy(0, 1, 2, 3), FINALISED, TAPROOT, version2()];
  const found = { answered: 0, refused: 0 };
  const change = fc.record({
    at: fc.nat(4000),
    byte: fc.nat(255),
    cut: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(50) }),
  });
  fc.assert(
    fc.property(fc.constantFrom(...psbts), fc.array(change, { minLength: 1, maxLength: 3 }), (psbt, changes) => {
      let bytes = psbt.slice();
      for (const { at, byte, cut } of changes) {
        bytes[at % bytes.length] = byte;
        if (cut > 0) bytes = bytes.slice(0, -cut);
      }
      const isAnswered = answers(() => inspectPsbt(parsePsbt(bytes)));
      found[isAnswered ? 'answered' : 'refused']++;
      for (const use of [() => signPsbt(bytes, ring), () => finalisePsbt(bytes), () => extractTx(bytes), () => combinePsbts([psbt, bytes])])
        answers(use);
    }),
    { numRuns: PSBT_RUNS },
  );
  assert.ok(found.answered > 10 && found.refused > 50, `the changes reach both: ${JSON.stringify(found)}`);
});

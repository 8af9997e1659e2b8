/**
 * What `verify-proof` shows of a claim is made from bytes that anybody may have
 * chosen: whatever they are, there is something to show.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimRows } from '../../src/cli/claim-rows.ts';
import type { FamilyName, ProofDocument } from '../../src/proofs/index.ts';
import { toHex } from '../../src/util/bytes.ts';
import { CborWriter } from '../../src/util/cbor-write.ts';
import { Dice } from '../proofs/support.ts';

const FAMILIES: readonly FamilyName[] = ['cardano', 'bitcoin'];

function documents(family: FamilyName, network: string, bytes: Uint8Array): ProofDocument[] {
  const head = { network, family, point: null, root: new Uint8Array(32) };
  const owner = new Uint8Array(32);
  const outpoint = { txId: new Uint8Array(32), index: 0 };
  const leaf = { mmrSize: 1, leafIndex: 0, path: [] };
  const none = { type: 'empty' } as const;
  return [
    { ...head, kind: 'csmt-absent', claim: { owner, address: bytes, ...outpoint }, proof: none },
    { ...head, kind: 'mmr-spent', claim: { ...outpoint, txOut: bytes }, proof: { leaf, bits: null } },
    {
      ...head,
      kind: 'csmt-complete',
      claim: { owner, address: null, outputs: Array.from({ length: 25 }, () => ({ ...outpoint, txOut: bytes })) },
      proof: { type: 'empty', exclusion: none },
    },
  ];
}

test('any bytes at all can be shown', () => {
  const dice = new Dice();
  for (let i = 0; i < 3000; i++) {
    const bytes = dice.bytes(1 + dice.below(80));
    // Half of them begin like an output of some era, or an address of some kind.
    if (dice.chance(2)) bytes[0] = dice.pick([0x82, 0x83, 0xa2, 0xa3, 0x00, 0x41, 0x51, 0x61, 0x71, 0xe1]);
    for (const document of documents(dice.pick(FAMILIES), dice.pick(['preview', 'litecoin', 'bitcoin', 'nowhere']), bytes)) {
      for (const [, text] of claimRows(document)) assert.ok(text.length > 0);
    }
  }
});

test('an output is shown by its owner and amount, of both families', () => {
  const script = Uint8Array.of(0x00, 0x14, ...new Uint8Array(20).fill(7));
  const coin = new CborWriter()
    .array(2)
    .bigUint(2n ** 60n)
    .bytes(script)
    .take();
  const rows = Object.fromEntries(claimRows(documents('bitcoin', 'bitcoin', coin)[1]));
  assert.match(rows['owner'], new RegExp(`^bc1\\S+ \\(script ${toHex(script)}\\)$`));
  assert.equal(rows['amount'], `${2n ** 60n} satoshi`);
  const unknown = Object.fromEntries(claimRows(documents('bitcoin', 'nowhere', coin)[1]));
  assert.equal(unknown['owner'], `script ${toHex(script)}`, 'of a network that is not known, without an address');
  const all = claimRows(documents('bitcoin', 'bitcoin', coin)[2]);
  assert.equal(all.filter(([name]) => name === 'output').length, 20);
  assert.deepEqual(all.at(-1), ['', 'and 5 more, in the document']);
});

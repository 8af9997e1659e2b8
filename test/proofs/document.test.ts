/**
 * Proof documents of both families: right ones hold for the root and say the
 * same after a round through JSON; of thousands of changed ones none makes
 * anybody believe another claim.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { documentFromJson, documentFromText, documentToJson, type ProofDocument, verifyDocument } from '../../src/proofs/index.ts';
import { toHex } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { ROUNDS } from '../support/rounds.ts';
import { DocumentWorld, FAMILIES, meaningOf } from './document-world.ts';
import { spoil } from './spoil.ts';
import { Dice } from './support.ts';

const MUTANTS = 2000 * ROUNDS;

describe('proof documents', () => {
  const dice = new Dice();
  const all = FAMILIES.map((family) => new DocumentWorld(dice, family)).flatMap(({ cases }) => cases);

  test('hold for their root, and only for that', () => {
    const kinds = new Set(all.map(({ document }) => document.kind));
    assert.equal(kinds.size, 5);
    for (const { document, trusted } of all) {
      assert.ok(verifyDocument(document, trusted).ok);
      const others = [null, new Uint8Array(32), ...all.map((each) => each.trusted.root)];
      for (const root of others) {
        if (root !== null && trusted.root !== null && toHex(root) === toHex(trusted.root)) continue;
        const verdict = verifyDocument(document, { ...trusted, root });
        assert.ok(!verdict.ok);
        const forged = verifyDocument({ ...document, root } as ProofDocument, { ...trusted, root });
        assert.ok(!forged.ok, 'a document that names the root it is checked against is checked all the same');
      }
    }
  });

  test('say the same after a round through JSON', () => {
    for (const { document, trusted } of all) {
      const json = JSON.parse(JSON.stringify(documentToJson(document)));
      assert.deepEqual(documentToJson(documentFromJson(json)), json);
      assert.ok(verifyDocument(documentFromText(JSON.stringify(json)), trusted).ok);
      assert.equal('cbor' in json, document.kind.startsWith('csmt'));
    }
  });

  test('write ids as the chain does', () => {
    for (const { document } of all) {
      if (document.kind === 'csmt-complete') continue;
      const { tx_hash } = documentToJson(document).claim as { tx_hash: string };
      const { txId } = document.claim;
      assert.equal(tx_hash, toHex(document.family === 'bitcoin' ? txId.toReversed() : txId));
    }
  });

  test('of the empty tree hold for no root at all', () => {
    const trusted = { network: 'bitcoin', family: 'bitcoin', root: null } as const;
    const head = { ...trusted, point: null };
    const claim = { owner: dice.bytes(32), address: null };
    const absent: ProofDocument = {
      ...head,
      kind: 'csmt-absent',
      claim: { ...claim, txId: dice.bytes(32), index: 0 },
      proof: { type: 'empty' },
    };
    const none = { type: 'empty', exclusion: { type: 'empty' } } as const;
    const complete: ProofDocument = { ...head, kind: 'csmt-complete', claim: { ...claim, outputs: [] }, proof: none };
    for (const document of [absent, complete]) {
      assert.ok(verifyDocument(documentFromJson(documentToJson(document)), trusted).ok);
      const root = new Uint8Array(32);
      assert.ok(!verifyDocument({ ...document, root }, { ...trusted, root }).ok);
    }
  });

  test(`${MUTANTS} changed ones make nobody believe another claim`, (t) => {
    const counts = { notOne: 0, refused: 0, same: 0 };
    for (let i = 0; i < MUTANTS; i++) {
      const { document, trusted } = dice.pick(all);
      const json = documentToJson(document);
      // Without the second form of the proof beside it a change of the first one has to be found by what it shows.
      const { cbor: _, ...bare } = json;
      let changed: unknown = dice.chance(4) ? json : bare;
      for (let times = 1 + (dice.chance(8) ? dice.below(3) : 0); times > 0; times--) changed = spoil(changed, dice);
      let parsed: ProofDocument;
      try {
        parsed = documentFromText(JSON.stringify(changed));
      } catch (error) {
        assert.ok(isUnspentError(error, 'USAGE'), `${error} of ${JSON.stringify(changed).slice(0, 300)}`);
        counts.notOne++;
        continue;
      }
      if (!verifyDocument(parsed, trusted).ok) counts.refused++;
      else {
        counts.same++;
        assert.equal(meaningOf(documentToJson(parsed)), meaningOf(json), `seed ${dice.seed}, mutant ${i}`);
      }
    }
    t.diagnostic(`${counts.notOne} are no documents, ${counts.refused} do not hold, ${counts.same} claim the same`);
    assert.ok(counts.refused > MUTANTS / 10 && counts.notOne > MUTANTS / 10 && counts.same < MUTANTS / 10);
  });

  test('what is no document is told with its place', () => {
    const json = documentToJson(all[0].document);
    const wrong: readonly [unknown, RegExp][] = [
      [null, /the document is not an object/],
      [[], /the document is not an object/],
      [{ error: { code: 'NOT_FOUND' } }, /the document has no kind/],
      [{ ...json, kind: 'csmt' }, /kind is none of/],
      [{ ...json, family: 'doge' }, /family is none of/],
      [{ ...json, root: 'ab' }, /root is not 32 bytes/],
      [{ ...json, network: '<b>' }, /network is not a name/],
      [{ ...json, point: { height: 1 } }, /point has no slot/],
      [{ ...json, cbor: `${json.cbor}00` }, /cbor is another proof/],
      [{ ...json, note: '' }, /unknown field note/],
      [{ ...json, claim: { ...json.claim, note: '' } }, /claim has an unknown field note/],
    ];
    for (const [document, message] of wrong) {
      assert.throws(
        () => documentFromJson(document),
        (error) => isUnspentError(error, 'USAGE') && message.test(error.message),
      );
    }
  });

  test('text that two readers could take for two documents is none', () => {
    const text = JSON.stringify(documentToJson(all[0].document));
    const wrong: readonly [string, RegExp][] = [
      ['', /not JSON/],
      [text.slice(1), /not JSON/],
      [text.replace('"kind":', '"kind":"mmr-spent","kind":'), /field kind stands twice/],
      [text.replace('"kind":', '"k\\u0069nd":"mmr-spent","kind":'), /field kind stands twice/],
      [text.replace('"owner":', '"owner":"","owner":'), /field owner stands twice/],
      [text.replace('"height":7', '"height":7.0'), /number 7\.0 is not written/],
      [text.replace('"height":7', '"height":7e0'), /number 7e0 is not written/],
      [text.replace('"height":7', '"height":-0'), /number -0 is not written/],
      [text.replace('"height":7', '"height":7.00000000000000000001'), /is not written as a plain whole one/],
    ];
    for (const [document, message] of wrong) {
      assert.throws(
        () => documentFromText(document),
        (error) => isUnspentError(error, 'USAGE') && message.test(error.message),
        document.slice(0, 80),
      );
    }
    const long = JSON.stringify({ a: 'ab'.repeat(5_000_000), b: '\\'.repeat(100_000) });
    assert.throws(() => documentFromText(long), /the document has no kind/, 'however long its strings are');
    assert.equal(documentFromText(` ${text.replaceAll(',', ' ,\n')}\n`).kind, all[0].document.kind, 'blanks say nothing');
  });
});

/**
 * The verifier that was written from docs/proofs.md alone (stranger.ts) says of
 * every document what ours says: of true ones, of those of the page, and of
 * thousands of changed ones. Where they differ, the page has drifted.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { documentFromText, documentToJson, MemoryNodes, mpf, type Trusted, verifyDocument } from '../../src/proofs/index.ts';
import { utf8 } from '../../src/util/bytes.ts';
import { isUnspentError } from '../../src/util/errors.ts';
import { ROUNDS } from '../support/rounds.ts';
import { DocumentWorld, FAMILIES } from './document-world.ts';
import { spoil } from './spoil.ts';
import { strangerHolds } from './stranger.ts';
import { forestryHolds } from './stranger-forestry.ts';
import { NoDocument } from './stranger-json.ts';
import { Dice } from './support.ts';

type Verdict = 'holds' | 'does not hold' | 'is none';

function ours(text: string, trusted: Trusted): Verdict {
  try {
    return verifyDocument(documentFromText(text), trusted).ok ? 'holds' : 'does not hold';
  } catch (error) {
    assert.ok(isUnspentError(error, 'USAGE'), String(error));
    return 'is none';
  }
}

function theirs(text: string, trusted: Trusted): Verdict {
  try {
    return strangerHolds(text, trusted) ? 'holds' : 'does not hold';
  } catch (error) {
    assert.ok(error instanceof NoDocument, String((error as Error).stack));
    return 'is none';
  }
}

describe('a verifier of forestries written from the page', () => {
  test('says of true proofs, of values and absences, and of changed ones what ours says', (t) => {
    const dice = new Dice();
    const counts = { holds: 0, not: 0 };
    for (const size of [0, 1, 2, 3, 17, 400]) {
      const nodes = new MemoryNodes();
      const keys = Array.from({ length: size }, (_, i) => utf8(`key ${size} ${i}`));
      mpf.update(
        nodes,
        nodes,
        keys.map((key, i) => ({ key, value: utf8(`${i}`) })),
      );
      const root = mpf.root(nodes);
      for (let i = 0; i < Math.min(size, 60) + 20; i++) {
        const key = keys[i % (size + 20)] ?? utf8(`no key ${i}`);
        const { present, proof } = mpf.prove(nodes, key);
        const value = present ? utf8(`${keys.indexOf(key)}`) : null;
        const json = mpf.toJson(proof);
        assert.ok(forestryHolds(root, key, value, json), `${size}: ${JSON.stringify(json)}`);
        for (let times = 0; times < 8; times++) {
          const changed = (spoil({ proof: json }, dice) as { proof: unknown }).proof;
          let read: mpf.Proof;
          try {
            read = mpf.fromJson(changed);
          } catch {
            continue;
          }
          for (const claimed of [value, null, utf8('other')]) {
            const ours = claimed === null ? mpf.verifyAbsence(root, key, read) : mpf.verifyPresence(root, key, claimed, read);
            assert.equal(forestryHolds(root, key, claimed, mpf.toJson(read)), ours.ok, JSON.stringify(changed));
            counts[ours.ok ? 'holds' : 'not']++;
          }
        }
      }
    }
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.not > 500);
  });
});

describe('a verifier written from the page', () => {
  const dice = new Dice();
  const all = FAMILIES.map((family) => new DocumentWorld(dice, family)).flatMap(({ cases }) => cases);

  test('takes every true document, for its root alone', () => {
    for (const { document, trusted } of all) {
      const text = JSON.stringify(documentToJson(document));
      assert.equal(theirs(text, trusted), 'holds', text);
      for (const root of [null, new Uint8Array(32)]) {
        if (root === null && trusted.root === null) continue;
        assert.equal(theirs(text, { ...trusted, root }), 'does not hold', text);
      }
      for (const other of [{ network: 'other' }, { family: trusted.family === 'bitcoin' ? 'cardano' : 'bitcoin' }] as const)
        assert.equal(theirs(text, { ...trusted, ...other }), 'does not hold', text);
    }
  });

  test('takes those that stand on the page', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/proofs.md'), 'utf8');
    const blocks = [...page.matchAll(/```json[^\n]*\n(\{[^`]*"kind"[^`]*)```/g)].map(([, text]) => text);
    assert.equal(blocks.length, 2);
    for (const text of blocks) {
      const { root } = JSON.parse(text) as { root: string };
      assert.equal(theirs(text, { root: Buffer.from(root, 'hex'), network: 'preview', family: 'cardano' }), 'holds');
    }
  });

  const MUTANTS = 4000 * ROUNDS;
  test(`says of ${MUTANTS} changed ones what ours says`, (t) => {
    const counts: Record<Verdict, number> = { holds: 0, 'does not hold': 0, 'is none': 0 };
    for (let i = 0; i < MUTANTS; i++) {
      const { document, trusted } = dice.pick(all);
      // The second form of the proof is not read here.
      const { cbor: _, ...bare } = documentToJson(document);
      const text = JSON.stringify(spoil(bare, dice));
      if ('cbor' in (JSON.parse(text) as object)) continue;
      const verdict = ours(text, trusted);
      const other = theirs(text, trusted);
      // Whether what is wrong is seen before or behind the parsing is a matter of taste.
      assert.equal(other === 'holds', verdict === 'holds', `seed ${dice.seed}, mutant ${i}, ${verdict}: ${text}`);
      counts[verdict]++;
    }
    t.diagnostic(JSON.stringify(counts));
    assert.ok(counts.holds > 0 && counts['does not hold'] > MUTANTS / 10 && counts['is none'] > MUTANTS / 10);
  });

  test('takes no text for a document that ours does not', () => {
    const { document, trusted } = all[0];
    const text = JSON.stringify(documentToJson(document));
    const wrong = [
      text.replace('"kind":', '"kind":"mmr-spent","kind":'),
      text.replace('"owner":', '"owner":"","owner":'),
      text.replace('"height":7', '"height":7.0'),
      text.replace('"height":7', '"height":-0'),
      text.replace('"kind":', '"note":"","kind":'),
    ];
    for (const each of wrong) assert.deepEqual([theirs(each, trusted), ours(each, trusted)], ['is none', 'is none'], each.slice(0, 80));
  });
});

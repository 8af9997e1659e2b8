/**
 * The forestry against a second implementation (`mpf-witness.ts`) over 10,000
 * operations, deletes included: the same root after each, proofs that the other
 * accepts, and the other's verdict of what a proof shows.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryNodes, mpf } from '../../src/proofs/index.ts';
import { toHex, utf8 } from '../../src/util/bytes.ts';
import { PlainForestry, plainFold } from './mpf-witness.ts';
import { Dice } from './support.ts';

const OPERATIONS = 10_000;
/** Tries grow to some hundred entries and shrink again, so that small shapes come up as often as large ones. */
const KEYS = 400;

test(`a second implementation has the same roots and accepts our proofs over ${OPERATIONS} operations`, (t) => {
  const dice = new Dice();
  t.diagnostic(`seed ${dice.seed}`);
  const [nodes, plain] = [new MemoryNodes(), new PlainForestry()];
  const model = new Map<number, Uint8Array>();
  const counts = { inserts: 0, updates: 0, deletes: 0 };
  for (let i = 0; i < OPERATIONS; ) {
    const number = dice.below(KEYS);
    const key = utf8(`key ${number}`);
    const before = model.get(number) ?? null;
    const grows = Math.floor(i / 2000) % 2 === 0;
    const isDelete = before !== null && dice.below(10) < (grows ? 2 : 8);
    if (before === null && !grows && dice.below(4) > 0) continue;
    i++;
    const after = isDelete ? null : dice.bytes(dice.below(20));
    const { present, proof } = mpf.prove(nodes, key);
    assert.equal(present, before !== null);
    assert.equal(plainFold(key, before, proof), plain.root(), `operation ${i}: the proof`);
    const root = toHex(mpf.update(nodes, nodes, [{ key, value: after }]));
    if (after === null) plain.delete(key);
    else plain.put(key, after);
    assert.equal(root, plain.root(), `operation ${i}: the root`);
    assert.equal(plainFold(key, after, proof), root, `operation ${i}: the proof after it`);
    if (after === null) model.delete(number);
    else model.set(number, after);
    counts[after === null ? 'deletes' : before === null ? 'inserts' : 'updates']++;
  }
  t.diagnostic(JSON.stringify(counts));
  assert.ok(counts.deletes > 500 && counts.inserts > 500 && counts.updates > 500, JSON.stringify(counts));
});

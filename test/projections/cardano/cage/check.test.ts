/**
 * `verify` on a store with cages: it finds nothing in a sound one, on every kind
 * of chain, and something in each kind of damage.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { cageEntry } from '../../../../src/projections/cardano/cage/entry.ts';
import {
  CAGE,
  CAGE_NODES,
  CAGE_ROW,
  CAGE_VALUES,
  COUNTERS_KEY,
  DEPLOYMENTS_KEY,
  deadKey,
  decodeCounters,
  decodeToken,
  decodeTrie,
  encodeCounters,
  encodeToken,
  encodeTrie,
  trieKey,
  trieOfKey,
  triePrefix,
} from '../../../../src/projections/cardano/cage/rows.ts';
import { PROJECTIONS } from '../../../../src/projections/registry.ts';
import { verifyStore } from '../../../../src/store/verify/verify.ts';
import { concatBytes, fromHex } from '../../../../src/util/bytes.ts';
import { cageLedger } from '../../../support/cage-blocks.ts';
import { CageRig } from '../../../support/cage-rig.ts';
import { CageTale } from '../../../support/cage-story.ts';
import { WORLD_CAGES } from '../../../support/cage-world.ts';
import { TEST_SEED } from '../../../support/harness.ts';

function faultsOf(rig: CageRig): string[] {
  const projections = ['chain', 'transactions', 'utxo', cageEntry.name];
  const { faults } = verifyStore(rig.engine, cageLedger, { projections, table: PROJECTIONS });
  return faults.map(({ column, what }) => `${column}: ${what}`);
}

/** After so many blocks, and as many more as it takes until it will do. */
function rigAfter(seed: number, blocks: number, willDo: (rig: CageRig) => boolean = () => true): CageRig {
  const tale = new CageTale(seed);
  const rig = new CageRig(WORLD_CAGES);
  rig.fold.apply([tale.blocks[0].block]);
  for (let i = 0; i < blocks || !willDo(rig); i++) rig.fold.apply([tale.next().block]);
  return rig;
}

/** There is a row of each kind that lasts, two tokens with tries, and something in a trie. */
function hasEverything(rig: CageRig): boolean {
  const { counters, token, request, trie, requestScript, deployments } = CAGE_ROW;
  const isThere = [counters, token, request, trie, requestScript, deployments].every((kind) => rowsOf(rig, kind).length > 0);
  const tries = rowsOf(rig, CAGE_ROW.token).filter(([, row]) => decodeToken(row).trie !== null);
  const states = [...rig.query().tokens()];
  return isThere && tries.length > 1 && states.some(({ status, facts }) => status === 'consistent' && (facts ?? 0) > 1);
}

/** The rows of a kind. */
const rowsOf = (rig: CageRig, kind: number): (readonly [Uint8Array, Uint8Array])[] =>
  [...rig.engine.scan(CAGE)].filter(([key]) => key[0] === kind);

const flipped = (bytes: Uint8Array, at = bytes.length - 1): Uint8Array => bytes.with(at, bytes[at] ^ 1);

/** Each changes one row: the column, its key, what it becomes (undefined: nothing). */
type Damage = (rig: CageRig) => readonly [string, Uint8Array, Uint8Array | undefined];

const first = <T>(rows: Iterable<T>): T => [...rows][0];
const DAMAGES: Readonly<Record<string, Damage>> = {
  'a value that is another': (rig) => {
    const [key, value] = first(rig.engine.scan(CAGE_VALUES));
    return [CAGE_VALUES, key, concatBytes(value, Uint8Array.of(1))];
  },
  'a value that is missing': (rig) => [CAGE_VALUES, first(rig.engine.scan(CAGE_VALUES))[0], undefined],
  'a value too many': (rig) => [CAGE_VALUES, concatBytes(first(rig.engine.scan(CAGE_VALUES))[0], fromHex('0102')), new Uint8Array(9)],
  'a value of no trie': () => [CAGE_VALUES, concatBytes(triePrefix(0xff00), fromHex('01')), new Uint8Array(9)],
  'a node that is another': (rig) => {
    const [key, value] = first(rig.engine.scan(CAGE_NODES));
    return [CAGE_NODES, key, flipped(value)];
  },
  'a node that is missing': (rig) => [CAGE_NODES, first(rig.engine.scan(CAGE_NODES))[0], undefined],
  'a node that does not decode': (rig) => [CAGE_NODES, first(rig.engine.scan(CAGE_NODES))[0], fromHex('0101')],
  'a node of no trie': () => [CAGE_NODES, concatBytes(triePrefix(0xff00), fromHex('ff')), new Uint8Array(40)],
  'a token that is missing': (rig) => [CAGE, rowsOf(rig, CAGE_ROW.token)[0][0], undefined],
  'a token too many': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.token)[0];
    return [CAGE, flipped(key), value];
  },
  'a token with another output': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.token)[0];
    return [CAGE, key, flipped(value, 8)];
  },
  'a token that does not decode': (rig) => [CAGE, rowsOf(rig, CAGE_ROW.token)[0][0], fromHex('80')],
  'a token that is said to diverge': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.token).find(([, row]) => row[2] === 0)!;
    return [CAGE, key, value.with(2, 2)];
  },
  'a request that is missing': (rig) => [CAGE, rowsOf(rig, CAGE_ROW.request)[0][0], undefined],
  'a request too many': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.request)[0];
    return [CAGE, flipped(key), value];
  },
  'a request that names another output': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.request)[0];
    return [CAGE, key, flipped(value)];
  },
  'a trie with another number of facts': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.trie)[0];
    return [CAGE, key, encodeTrie({ ...decodeTrie(value), facts: decodeTrie(value).facts + 1 })];
  },
  'a trie that is hidden and has a token': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.trie).find(([, row]) => decodeTrie(row).hiddenAt === null)!;
    return [CAGE, key, encodeTrie({ ...decodeTrie(value), hiddenAt: 5 })];
  },
  'a trie without a token': () => [CAGE, trieKey(0xff00), encodeTrie({ facts: 0, hiddenAt: null })],
  'a trie without its row': (rig) => [CAGE, rowsOf(rig, CAGE_ROW.trie).find(([, row]) => decodeTrie(row).hiddenAt === null)![0], undefined],
  'a token of another version': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.token)[0];
    const row = decodeToken(value);
    return [CAGE, key, encodeToken({ ...row, version: row.version === 'v1' ? 'v2' : 'v1' })];
  },
  'a token with another request script': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.token).find(([, row]) => decodeToken(row).requestScript !== null)!;
    const row = decodeToken(value);
    return [CAGE, key, encodeToken({ ...row, requestScript: flipped(row.requestScript!) })];
  },
  'a token with the trie of another': (rig) => {
    const [[key, value], [, other]] = rowsOf(rig, CAGE_ROW.token).filter(([, row]) => decodeToken(row).trie !== null);
    return [CAGE, key, encodeToken({ ...decodeToken(value), trie: decodeToken(other).trie })];
  },
  'a request script that is missing': (rig) => [CAGE, rowsOf(rig, CAGE_ROW.requestScript)[0][0], undefined],
  'a request script too many': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.requestScript)[0];
    return [CAGE, flipped(key), value];
  },
  'a request script of another token': (rig) => {
    const [key, value] = rowsOf(rig, CAGE_ROW.requestScript)[0];
    return [CAGE, key, flipped(value)];
  },
  'a trie that is being deleted and has a token': (rig) => [CAGE, deadKey(trieOfKey(rowsOf(rig, CAGE_ROW.trie)[0][0])), new Uint8Array(0)],
  'a next trie that there is already': (rig) => {
    const counters = decodeCounters(rig.engine.get(CAGE, COUNTERS_KEY));
    return [CAGE, COUNTERS_KEY, encodeCounters({ ...counters, nextTrie: trieOfKey(rowsOf(rig, CAGE_ROW.trie).at(-1)![0]) })];
  },
  'deployments that are missing': () => [CAGE, DEPLOYMENTS_KEY, undefined],
  'deployments that mean nothing': () => [CAGE, DEPLOYMENTS_KEY, fromHex('ff')],
  'a row of no kind': () => [CAGE, fromHex('0900'), fromHex('00')],
  'counters that are wrong': (rig) => {
    const counters = decodeCounters(rig.engine.get(CAGE, COUNTERS_KEY));
    return [CAGE, COUNTERS_KEY, encodeCounters({ ...counters, requests: counters.requests + 1 })];
  },
};

describe('verify with cages', () => {
  test('finds nothing in a sound store, however its chain went', () => {
    for (let run = 0; run < 6; run++) {
      const rig = rigAfter(TEST_SEED + 500 + run, 40);
      assert.deepEqual(faultsOf(rig), []);
    }
  });

  test('finds every kind of damage', () => {
    const rig = rigAfter(TEST_SEED + 510, 60, hasEverything);
    assert.deepEqual(faultsOf(rig), []);
    for (const [name, damage] of Object.entries(DAMAGES)) {
      const [column, key, value] = damage(rig);
      const before = rig.engine.get(column, key);
      const write = (row: Uint8Array | undefined): void => {
        const batch = rig.engine.batch();
        if (row === undefined) batch.del(column, key);
        else batch.put(column, key, row);
        batch.commit();
      };
      write(value);
      const faults = faultsOf(rig);
      assert.ok(
        faults.some((fault) => fault.startsWith('cage')),
        `${name}: ${faults.join('; ')}`,
      );
      write(before);
    }
    assert.deepEqual(faultsOf(rig), []);
  });
});

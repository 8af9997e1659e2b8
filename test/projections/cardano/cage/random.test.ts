/**
 * Cages on chains made by chance, with forks: after every block and every
 * rollback the store says of tokens, requests and facts what the maker of the
 * chain says (INV-3, INV-4), the events are those it meant, and rows are byte for
 * byte those of a store that never went astray (INV-2, INV-5), however blocks
 * were grouped. A commit that fails changes nothing (INV-1).
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Random } from '../../../../src/chains/random.ts';
import { readCounters } from '../../../../src/projections/cardano/cage/rows.ts';
import { mpf } from '../../../../src/proofs/index.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import { mpfRoot } from '../../../proofs/reference.ts';
import { CageRig, tokenText } from '../../../support/cage-rig.ts';
import { CAGE_CASES, CageTale, type StoryBlock } from '../../../support/cage-story.ts';
import { bytesOf, policyOf, WORLD_CAGES, type WorldState, type WorldToken } from '../../../support/cage-world.ts';
import { assertSameDump, type Dump, TEST_SEED } from '../../../support/harness.ts';
import { WatchedEngine } from '../../../support/watched-engine.ts';

function expectedToken(token: WorldToken): string {
  const terms = token.deployment.version === 'v0' ? '' : ' 1000000 60000 60000';
  return `${policyOf(token).slice(0, 4)} ${token.name} ${token.stateRef} ${token.owner} ${token.root}${terms} ${token.status}`;
}

/** The store against the world. */
function assertWorld(rig: CageRig, { tokens, requests }: WorldState, malformed: number, when: string): void {
  const query = rig.query();
  const found = [...query.tokens()];
  assert.deepEqual(found.map(tokenText).sort(), [...tokens.values()].map(expectedToken).sort(), `${when}: tokens`);
  const listed = [...requests].filter(([, { script }]) => script !== null).map(([ref]) => ref);
  assert.deepEqual([...query.allRequests()].map(({ txId, index }) => `${toHex(txId)}#${index}`).sort(), listed.sort(), `${when}: requests`);
  for (const token of found) {
    const { facts } = tokens.get(`${toHex(token.id.policy)}.${toHex(token.id.name)}`)!;
    if (token.trie === null) continue;
    const values = [...query.facts(token)].map(({ key, value }) => `${toHex(key)}=${toHex(value)}`);
    assert.deepEqual(values, [...facts].map(([key, value]) => `${key}=${value}`).sort(byKey), `${when}: facts`);
    assert.equal(token.facts, facts.size);
    if (token.status === 'consistent') assert.equal(toHex(token.state.root), mpfRoot(bytesOf(facts)), `${when}: root`);
  }
  const counters = readCounters(rig.engine);
  const diverged = [...tokens.values()].filter(({ status }) => status !== 'consistent').length;
  assert.deepEqual(
    [counters.tokens, counters.requests, counters.diverged, counters.malformed],
    [tokens.size, listed.length, diverged, malformed],
    when,
  );
}

const byKey = (a: string, b: string): number => (a.split('=')[0] < b.split('=')[0] ? -1 : 1);

/** Outputs with bad datums up to a block. */
const malformedUpTo = (blocks: readonly StoryBlock[]): number => blocks.reduce((sum, { malformed }) => sum + malformed, 0);

/** Rows of cages, and undo records. The outputs that pay for everything would be most of a whole dump. */
function rowsOf({ engine }: CageRig): Dump {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const names = ['cage', 'cage_nodes', 'cage_values', 'delta'];
  return new Map(names.map((name) => [name, Array.from(engine.scan(name), ([key, value]) => `${hex(key)} ${hex(value)}`)]));
}

/** `seen`: counts of events and cases. */
function walk(seed: number, turns: number, seen: Map<string, number>): void {
  const tale = new CageTale(seed);
  const random = new Random(seed, 3);
  const rig = new CageRig(WORLD_CAGES);
  const straight = new CageRig(WORLD_CAGES);
  straight.fold.apply([tale.blocks[0].block]);
  rig.fold.apply([tale.blocks[0].block]);
  let dumps: Dump[] = [rowsOf(straight)];
  for (let turn = 0; turn < turns; turn++) {
    if (random.chance(0.2) && tale.blocks.length > 3) {
      const count = 1 + random.int(Math.min(tale.blocks.length - 1, random.chance(0.2) ? 1000 : 6));
      tale.back(count);
      dumps = dumps.slice(0, tale.blocks.length);
      for (const each of [rig, straight]) each.fold.rollback(tale.tip);
      if (random.chance(0.3)) rig.newFold();
      assertSameDump(rowsOf(rig), dumps.at(-1)!, `seed ${seed}, turn ${turn}: ${count} blocks back`);
    } else {
      const fresh = Array.from({ length: 1 + random.int(4) }, () => tale.next());
      straight.heard.length = 0;
      for (const each of fresh) {
        straight.fold.apply([each.block]);
        dumps.push(rowsOf(straight));
      }
      assert.deepEqual(
        straight.heard.map(({ type }) => type),
        fresh.flatMap(({ events }) => events),
        `seed ${seed}, turn ${turn}: events`,
      );
      rig.fold.apply(fresh.map(({ block }) => block));
      assertSameDump(rowsOf(rig), dumps.at(-1)!, `seed ${seed}, turn ${turn}: grouped`);
    }
    assertWorld(rig, tale.world.state, malformedUpTo(tale.blocks), `seed ${seed}, turn ${turn}`);
  }
  for (const [event, count] of [...tale.counts, ...tale.cases]) seen.set(event, (seen.get(event) ?? 0) + count);
}

describe('cages on random chains', () => {
  test('are what their maker says, after every step and every rollback', (t) => {
    const seen = new Map<string, number>();
    for (let run = 0; run < 12; run++) walk(TEST_SEED + run, 40, seen);
    t.diagnostic(JSON.stringify(Object.fromEntries(seen)));
    for (const event of ['boot', 'migrate', 'update', 'burn', 'reject', 'request', 'retract', 'sweep', 'gone', ...CAGE_CASES])
      assert.ok((seen.get(event) ?? 0) > 10, `${event}: ${seen.get(event)}`);
  });

  test('go back to each block of a chain, newest first, byte for byte', () => {
    const tale = new CageTale(TEST_SEED + 100);
    const rig = new CageRig(WORLD_CAGES);
    rig.fold.apply([tale.blocks[0].block]);
    const dumps = [rowsOf(rig)];
    for (let i = 0; i < 60; i++) {
      rig.fold.apply([tale.next().block]);
      dumps.push(rowsOf(rig));
    }
    for (let i = 59; i >= 0; i--) {
      rig.fold.rollback(tale.blocks[i].block);
      assertSameDump(rowsOf(rig), dumps[i], `back at ${i}`);
    }
  });

  test('go back from the tip to any depth of the window, and forward again, byte for byte', () => {
    const window = 30;
    const tale = new CageTale(TEST_SEED + 150);
    const rig = new CageRig(WORLD_CAGES, { pruneDepth: window, rollbackWindow: window });
    rig.fold.apply([tale.blocks[0].block]);
    const dumps = [rowsOf(rig)];
    for (let i = 0; i < window + 10; i++) {
      rig.fold.apply([tale.next().block]);
      dumps.push(rowsOf(rig));
    }
    const blocks = tale.blocks.map(({ block }) => block);
    for (let depth = 1; depth <= window; depth++) {
      rig.fold.rollback(blocks[blocks.length - 1 - depth]);
      assertSameDump(rowsOf(rig), dumps[blocks.length - 1 - depth], `${depth} back`);
      rig.fold.apply(blocks.slice(-depth));
      assertSameDump(rowsOf(rig), dumps.at(-1)!, `${depth} forward again`);
    }
    assert.throws(() => rig.fold.rollback(blocks[blocks.length - 2 - window]), { code: 'HORIZON' });
  });

  test('are untouched by a commit that fails, and go on after it', () => {
    const tale = new CageTale(TEST_SEED + 200);
    const rig = new CageRig(WORLD_CAGES, undefined, (engine) => new WatchedEngine(engine));
    const watched = rig.engine as WatchedEngine;
    rig.fold.apply([tale.blocks[0].block]);
    for (let i = 0; i < 40; i++) {
      const before = rowsOf(rig);
      const { block } = tale.next();
      if (i % 3 === 0) {
        watched.failure = new Error('the disk is full');
        assert.throws(() => rig.fold.apply([block]), /the disk is full/);
        assertSameDump(rowsOf(rig), before, 'after a commit that failed');
      }
      rig.fold.apply([block]);
      assertWorld(rig, tale.world.state, malformedUpTo(tale.blocks), `block ${i}`);
    }
  });

  test('prove what is there and what is not', () => {
    const tale = new CageTale(TEST_SEED + 300);
    const rig = new CageRig(WORLD_CAGES);
    rig.fold.apply([tale.blocks[0].block]);
    let [present, absent] = [0, 0];
    for (let i = 0; i < 60; i++) {
      rig.fold.apply([tale.next().block]);
      const query = rig.query();
      for (const token of query.tokens()) {
        if (token.status !== 'consistent') {
          assert.throws(() => query.proof(token, fromHex('00')), { code: 'TRIE_DIVERGED' });
          continue;
        }
        for (let key = 0; key < 12; key++) {
          const { fact, proof, root } = query.proof(token, Uint8Array.of(key));
          const known = tale.world.state.tokens
            .get(`${toHex(token.id.policy)}.${toHex(token.id.name)}`)!
            .facts.get(toHex(Uint8Array.of(key)));
          assert.equal(fact === null ? undefined : toHex(fact.value), known);
          const verdict =
            fact === null
              ? mpf.verifyAbsence(root, Uint8Array.of(key), proof)
              : mpf.verifyPresence(root, Uint8Array.of(key), fact.value, proof);
          assert.ok(verdict.ok);
          if (fact === null) absent++;
          else present++;
        }
      }
    }
    assert.ok(present > 200 && absent > 200, `${present} present, ${absent} absent`);
  });
});

/**
 * What is rare in cages: roots that no trie has, requests in odd places, tokens
 * that move to another policy, burned tries.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CAGE, decodeTrie, readCounters, trieKey } from '../../../../src/projections/cardano/cage/rows.ts';
import { pruneStep } from '../../../../src/state/pruned.ts';
import { fromHex, toHex, utf8 } from '../../../../src/util/bytes.ts';
import { CageBlocks } from '../../../support/cage-blocks.ts';
import { CageRig, cageProjections } from '../../../support/cage-rig.ts';
import { CageStage, faultyDelete, V0, V1, V2, V2_OPEN } from '../../../support/cage-stage.ts';
import { person, STRANGE_SCRIPT, type TxDraft, WORLD_CAGES, type WorldToken } from '../../../support/cage-world.ts';
import { assertCode, assertSameDump, dump } from '../../../support/harness.ts';

describe('cages that go their own way', () => {
  test('a root that only the faulty proof library computes is told from one that nothing explains', () => {
    const stage = new CageStage();
    const found = faultyDelete();
    const name = stage.withFacts(Object.fromEntries(found.facts.map((key) => [key, 'v'])));
    const faulty = (draft: TxDraft): void => stage.world.modify(draft, stage.token(name), stage.all(name), person(1), found.root);
    stage.block((draft) => stage.world.ask(draft, stage.request(name, found.key, { type: 'delete', value: utf8('v') })));
    stage.block(faulty);
    const token = stage.seen(name)!;
    assert.equal(token.status, 'nonCanonical');
    assert.equal(readCounters(stage.rig.engine).diverged, 1);
    assertCode(() => stage.rig.query().proof(token, utf8('x')), 'TRIE_DIVERGED');
    // Followed further: an owner's change leaves it so, another wrong root does not.
    stage.block((draft) => stage.world.modify(draft, stage.token(name), new Map(), person(2), found.root));
    assert.equal(stage.seen(name)!.status, 'nonCanonical');
    stage.block((draft) => stage.world.modify(draft, stage.token(name), new Map(), person(2), 'ee'.repeat(32)));
    assert.equal(stage.seen(name)!.status, 'inconsistent');
    // Equal roots are equal facts: then it is sound again.
    stage.block((draft) => stage.world.modify(draft, stage.token(name), new Map(), person(2)));
    assert.equal(stage.seen(name)!.status, 'consistent');
    assert.equal(readCounters(stage.rig.engine).diverged, 0);
    stage.back(4);
    assert.equal(stage.seen(name)!.status, 'consistent');
    assert.equal(stage.pending().length, 1);
  });

  test('a request at the address of a key is applied, and was never listed', () => {
    const stage = new CageStage();
    const name = stage.boot();
    stage.block((draft) => stage.world.ask(draft, { ...stage.insert(name, 'a', '1'), script: null }));
    assert.deepEqual(stage.pending(), []);
    stage.block((draft) => stage.world.modify(draft, stage.token(name), stage.all(name), person(1)));
    assert.deepEqual(stage.facts(name), { a: '1' });
  });

  test('requests tell where they sit and what may be done with them', () => {
    const stage = new CageStage();
    const name = stage.boot();
    const open = stage.boot(V2_OPEN);
    stage.block((draft) => {
      stage.world.ask(draft, stage.insert(name, 'a', '1'));
      stage.world.ask(draft, { ...stage.insert(name, 'b', '1'), script: STRANGE_SCRIPT });
      stage.world.ask(draft, stage.insert(open, 'c', '1', V2_OPEN));
      stage.world.ask(draft, { ...stage.insert(name, 'd', '1'), token: 'abcd' });
    });
    const query = stage.rig.query();
    const phases = [999n, 1000n, 61_000n, 121_000n].map((now) =>
      [...query.requests(stage.seen(name)!, now)].map(({ canonical, phase }) => `${canonical} ${phase}`),
    );
    const each = ['dishonest', 'process', 'retract', 'reject'].map((phase) => [`true ${phase}`, `false ${phase}`]);
    assert.deepEqual(phases, each);
    assert.deepEqual(
      [...query.requests(stage.seen(open, V2_OPEN)!, 0n)].map(({ canonical }) => canonical),
      [null],
    );
    assert.deepEqual(
      [...query.requestsNamed(fromHex('abcd'))].map(({ canonical, phase }) => [canonical, phase]),
      [[null, null]],
    );
  });

  test('a token moves to another policy with its trie, or without if its root is another', () => {
    const stage = new CageStage();
    const name = stage.withFacts({ a: '1' }, V1);
    const before = dump(stage.rig.engine).get('cage_nodes');
    stage.block((draft) => stage.world.migrate(draft, stage.token(name, V1), V2));
    assert.equal(stage.seen(name, V1), null);
    assert.deepEqual(stage.facts(name), { a: '1' });
    assert.deepEqual(toHex(stage.seen(name)!.migratedFrom!), toHex(V1.stateScriptHash));
    assert.deepEqual(dump(stage.rig.engine).get('cage_nodes'), before, 'no row of it moved');
    stage.back(1);
    assert.deepEqual(stage.facts(name, V1), { a: '1' });
    stage.block((draft) =>
      stage.world.migrate(draft, { ...stage.token(name), deployment: V1, stateRef: stateRefOf(stage, name) }, V2, 'cd'.repeat(32)),
    );
    const token = stage.seen(name)!;
    assert.deepEqual([token.status, token.facts], ['incomplete', null]);
    assertCode(() => [...stage.rig.query().facts(token)], 'TRIE_DIVERGED');
  });

  test("a burned token's trie is hidden, comes back with a rollback, and goes for good when the burn is final", () => {
    const stage = new CageStage();
    const name = stage.withFacts({ a: '1', b: '2' });
    stage.block((draft) => stage.world.burn(draft, stage.token(name)));
    assert.equal(stage.seen(name), null);
    assert.equal(decodeTrie(stage.rig.engine.get(CAGE, trieKey(0))!).hiddenAt, stage.blocks.at(-1)!.height);
    stage.back(1);
    assert.deepEqual(stage.facts(name), { a: '1', b: '2' });
    const { stateRef } = stage.token(name) ?? { stateRef: stateRefOf(stage, name) };
    stage.block((draft) => stage.world.burn(draft, { ...tokenOf(stage, name), stateRef }));
    const prune = () =>
      pruneStep(stage.rig.engine, cageProjections(WORLD_CAGES), stage.rig.fold.head!.height, { pruneDepth: 5, rollbackWindow: 10 }, 1000);
    for (let i = 0; i < 5; i++) {
      prune();
      assert.equal(dump(stage.rig.engine).get('cage_values')!.length, 2, `${i} blocks later`);
      stage.block();
    }
    prune();
    for (const column of ['cage_values', 'cage_nodes']) assert.deepEqual(dump(stage.rig.engine).get(column), []);
    assert.equal(stage.rig.engine.get(CAGE, trieKey(0)), undefined);
  });

  test('the request script of a token comes back with it, also where the store was opened after the burn', () => {
    const stage = new CageStage();
    const name = stage.boot();
    const script = stage.world.requestScriptOf({ deployment: V2, name });
    stage.block((draft) => stage.world.burn(draft, stage.token(name)));
    stage.rig.newFold();
    stage.block();
    stage.back(2);
    stage.block((draft) => draft.outputs.push({ address: `script:${script}`, value: { lovelace: 2_000_000 }, inlineDatum: '182a' }));
    assert.equal(readCounters(stage.rig.engine).malformed, 1);
  });

  test('the deployments belong to the store: others are refused', () => {
    const stage = new CageStage();
    stage.boot();
    const other = new CageRig([V0]);
    Object.assign(other, { engine: stage.rig.engine });
    other.newFold();
    const before = dump(stage.rig.engine);
    const maker = new CageBlocks(3);
    assertCode(() => other.fold.apply([maker.block(stage.blocks.at(-1)!, 1000, [])]), 'STORE_SHAPE');
    assertSameDump(dump(stage.rig.engine), before, 'refused');
  });
});

/** The output that holds a token, as the store knows it: after a rollback the world does not. */
function stateRefOf(stage: CageStage, name: string): string {
  const query = stage.rig.query();
  const token = [...query.tokens()].find(({ id }) => toHex(id.name) === name)!;
  return `${toHex(token.txId)}#${token.index}`;
}

function tokenOf(stage: CageStage, name: string): WorldToken {
  const root = toHex(stage.seen(name)!.state.root);
  return { deployment: V2, name, stateRef: '', owner: person(1), root, facts: new Map(), status: 'consistent' };
}

/**
 * The ten faults of earlier implementations (cage specification, section 8), one
 * test each: every one fails when its fault is put back.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readHead } from '../../../../src/state/head.ts';
import { fromHex, toHex, utf8 } from '../../../../src/util/bytes.ts';
import { mpfRoot } from '../../../proofs/reference.ts';
import { sortedRefs } from '../../../support/cage-blocks.ts';
import { CageStage, faultyDelete, hex, V2 } from '../../../support/cage-stage.ts';
import { person, policyOf, STRANGE_SCRIPT, type TxDraft } from '../../../support/cage-world.ts';
import { assertCode, assertSameDump, dump } from '../../../support/harness.ts';

describe('faults of earlier implementations', () => {
  test('1: a fact is the value itself, and undoing a delete or an update gives back that value', () => {
    const stage = new CageStage();
    const name = stage.withFacts({ foo: 'bar', baz: 'qux' });
    assert.deepEqual(stage.facts(name), { baz: 'qux', foo: 'bar' });
    const before = dump(stage.rig.engine);
    stage.block(
      (draft) => stage.world.ask(draft, stage.request(name, 'foo', { type: 'delete', value: utf8('bar') })),
      (draft) => stage.world.ask(draft, stage.request(name, 'baz', { type: 'update', before: utf8('qux'), after: utf8('QUX') })),
    );
    stage.block((draft) => stage.world.modify(draft, stage.token(name), stage.all(name), person(1)));
    assert.deepEqual(stage.facts(name), { baz: 'QUX' });
    stage.back(2);
    assert.deepEqual(stage.facts(name), { baz: 'qux', foo: 'bar' });
    for (const column of ['cage', 'cage_nodes', 'cage_values']) assert.deepEqual(dump(stage.rig.engine).get(column), before.get(column));
  });

  test('2: an update replaces the whole state: owner and the output that holds the token, too', () => {
    const stage = new CageStage();
    const name = stage.boot();
    stage.block((draft) => stage.world.modify(draft, stage.token(name), new Map(), person(2)));
    const { stateRef } = stage.token(name);
    const seen = stage.seen(name)!;
    assert.equal(toHex(seen.state.owner), person(2));
    assert.equal(`${toHex(seen.txId)}#${seen.index}`, stateRef);
    stage.back(1);
    assert.equal(toHex(stage.seen(name)!.state.owner), person(1));
  });

  test('3: of a mixed update only what is applied changes the trie', () => {
    const stage = new CageStage();
    const name = stage.boot();
    stage.block((draft) => {
      for (const key of ['a', 'b', 'c', 'd']) stage.world.ask(draft, stage.insert(name, key, key));
    });
    const refs = sortedRefs([...stage.all(name).keys()]);
    const taken = new Map(refs.map((ref, i) => [ref, i % 2 === 0 ? ('apply' as const) : ('reject' as const)]));
    stage.block((draft) => stage.world.modify(draft, stage.token(name), taken, person(1)));
    assert.equal(Object.keys(stage.facts(name)).length, 2);
    assert.equal(stage.seen(name)!.status, 'consistent');
    assert.deepEqual(stage.pending(), []);
  });

  test('4: requests made and used in one block are seen, and transactions that failed are not', () => {
    const stage = new CageStage();
    const name = stage.boot();
    stage.block(
      (draft) => stage.world.ask(draft, stage.insert(name, 'a', '1')),
      (draft) => stage.world.modify(draft, stage.token(name), stage.all(name), person(1)),
      (draft) => {
        stage.world.ask(draft, stage.insert(name, 'ghost', '1'));
        return false;
      },
      (draft) => {
        stage.world.burn(draft, stage.token(name));
        return false;
      },
    );
    assert.deepEqual(stage.facts(name), { a: '1' });
    assert.deepEqual(stage.pending(), []);
    assert.equal(stage.seen(name)!.status, 'consistent');
  });

  test('5: the new state is output 0, at the script and with the token; states elsewhere are none', () => {
    const stage = new CageStage();
    const name = stage.boot();
    const decoy = { ...stage.token(name), owner: person(3), root: 'ab'.repeat(32) };
    stage.block((draft) => {
      stage.world.modify(draft, stage.token(name), new Map(), person(2));
      for (const script of [policyOf(decoy), STRANGE_SCRIPT])
        draft.outputs.push({ address: `script:${script}`, value: { lovelace: 2_000_000 }, inlineDatum: stage.world.stateDatum(decoy) });
    });
    assert.equal(toHex(stage.seen(name)!.state.owner), person(2));
    // What no validator lets pass stops the fold, and changes nothing.
    for (const spoil of [
      (draft: TxDraft) => draft.outputs.reverse(),
      (draft: TxDraft) => draft.outputs.splice(0, 1, { ...draft.outputs[0], address: `script:${STRANGE_SCRIPT}` }),
    ]) {
      const before = dump(stage.rig.engine);
      const saved = stage.world.save();
      assertCode(
        () =>
          stage.block((draft) => {
            draft.outputs.push({ address: `key:${person(5)}`, value: { lovelace: 1_000_000 } });
            stage.world.boot(draft, V2, person(1));
            spoil(draft);
          }),
        'BLOCK_INVALID',
      );
      stage.blocks.pop();
      stage.world.restore(saved);
      assertSameDump(dump(stage.rig.engine), before, 'after a block that breaks the rules');
    }
  });

  test('6: swept requests do not wait any longer', () => {
    const stage = new CageStage();
    const name = stage.boot();
    stage.block((draft) => stage.world.ask(draft, stage.insert(name, 'spam', '1')));
    const [ref] = stage.pending();
    stage.block((draft) => stage.world.spendRequest(draft, ref, 'sweep'));
    assert.deepEqual(stage.pending(), []);
    assert.deepEqual(stage.rig.heard.at(-1)?.type, 'sweep');
    stage.back(1);
    assert.deepEqual(stage.pending(), [ref]);
  });

  test('7: a delete that leaves one branch merges it', () => {
    const stage = new CageStage();
    const { facts, key } = faultyDelete();
    const name = stage.withFacts(Object.fromEntries(facts.map((each) => [each, 'v'])));
    // First the leaf beside the branch, then the rest, down to the empty trie.
    for (const each of [key, ...facts.filter((other) => other !== key)]) {
      stage.block(
        (draft) => stage.world.ask(draft, stage.request(name, each, { type: 'delete', value: utf8('v') })),
        (draft) => stage.world.modify(draft, stage.token(name), stage.all(name), person(1)),
      );
      assert.equal(stage.seen(name)!.status, 'consistent', each);
    }
    assert.equal(toHex(stage.seen(name)!.state.root), mpfRoot(new Map()));
    assert.deepEqual(dump(stage.rig.engine).get('cage_nodes'), []);
  });

  test('8: after a rollback the point is whole, slot and hash', () => {
    const stage = new CageStage();
    stage.withFacts({ a: '1' });
    stage.back(2);
    const head = readHead(stage.rig.engine)!;
    const { slot, hash } = stage.blocks.at(-1)!;
    assert.deepEqual([head.slot, toHex(head.hash)], [slot, toHex(hash)]);
  });

  test('9: keys and values are bytes, whatever they are as text', () => {
    const stage = new CageStage();
    const name = stage.boot();
    const [key, value] = ['ff00c3', 'fe80ff'];
    stage.block((draft) =>
      stage.world.ask(draft, { ...stage.insert(name, '', ''), key, operation: { type: 'insert', value: fromHex(value) } }),
    );
    stage.block((draft) => stage.world.modify(draft, stage.token(name), stage.all(name), person(1)));
    const query = stage.rig.query();
    assert.deepEqual(
      [...query.facts(stage.seen(name)!)].map((fact) => [toHex(fact.key), toHex(fact.value)]),
      [[key, value]],
    );
    assert.equal(toHex(query.proof(stage.seen(name)!, fromHex(key)).fact!.value), value);
  });

  test('10: actions pair with inputs in the order of the ledger, not of the transaction', () => {
    const stage = new CageStage();
    const name = stage.boot();
    for (const key of ['a', 'b', 'c', 'd', 'e']) stage.block((draft) => stage.world.ask(draft, stage.insert(name, key, key)));
    const refs = sortedRefs([...stage.all(name).keys()]);
    const taken = new Map(refs.map((ref, i) => [ref, i < 2 ? ('reject' as const) : ('apply' as const)]));
    const kept = refs
      .slice(2)
      .map((ref) => stage.world.state.requests.get(ref)!.key)
      .sort();
    stage.block((draft) => {
      stage.world.modify(draft, stage.token(name), taken, person(1));
      draft.inputs.reverse();
    });
    assert.deepEqual(Object.keys(stage.facts(name)).map(hex), kept);
  });
});

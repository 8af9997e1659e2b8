/**
 * The ten faults of earlier implementations (cage specification, section 8), one
 * test each: every one fails when its fault is put back. And what else is rare:
 * roots that no trie has, tokens from elsewhere, burned tries.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { blake2b256 } from '../../../../src/crypto/hash.ts';
import type { CageOperation } from '../../../../src/ledgers/cardano/cage/index.ts';
import type { Block } from '../../../../src/ledgers/ledger.ts';
import { CAGE, decodeTrie, readCounters, trieKey } from '../../../../src/projections/cardano/cage/rows.ts';
import { MemoryNodes, mpf } from '../../../../src/proofs/index.ts';
import { readHead } from '../../../../src/state/head.ts';
import { pruneStep } from '../../../../src/state/pruned.ts';
import { fromHex, toHex, utf8 } from '../../../../src/util/bytes.ts';
import { mpfRoot } from '../../../proofs/reference.ts';
import { CageBlocks, type DrawnTx, sortedRefs } from '../../../support/cage-blocks.ts';
import { CageRig, cageProjections } from '../../../support/cage-rig.ts';
import {
  CageWorld,
  person,
  policyOf,
  STRANGE_SCRIPT,
  type TxDraft,
  tokenIdText,
  WORLD_CAGES,
  type WorldRequest,
  type WorldToken,
} from '../../../support/cage-world.ts';
import { assertCode, assertSameDump, dump } from '../../../support/harness.ts';

const FUNDS = 300;
const [V0, V1, V2, V2_OPEN] = WORLD_CAGES;
const hex = (text: string): string => toHex(utf8(text));

/** A world, a store, and blocks from one to the other. */
class Stage {
  readonly rig = new CageRig(WORLD_CAGES, { pruneDepth: 5, rollbackWindow: 10 });
  readonly world: CageWorld;
  readonly blocks: Block[] = [];
  private readonly maker = new CageBlocks(11);

  constructor() {
    const funds: DrawnTx = {
      inputs: [],
      outputs: Array.from({ length: FUNDS }, () => ({ address: `key:${person(9)}`, value: { lovelace: 5_000_000 } })),
    };
    const { body, id } = this.maker.encode(funds);
    this.world = new CageWorld(this.maker, id, FUNDS);
    this.apply([{ tx: funds, body }]);
  }

  private apply(txs: readonly { readonly tx: DrawnTx; readonly body: Uint8Array }[]): void {
    const before = this.blocks.at(-1) ?? null;
    const block = this.maker.block(
      before,
      (before?.slot ?? 0) + 10,
      txs.map(({ tx }) => tx),
      txs.map(({ body }) => body),
    );
    this.blocks.push(block);
    this.rig.fold.apply([block]);
  }

  /** One block; each deed is a transaction. */
  block(...deeds: readonly ((draft: TxDraft) => unknown)[]): void {
    this.apply(
      deeds.map((deed) => {
        const draft = this.world.draft();
        return this.world.finish(draft, deed(draft) !== false);
      }),
    );
  }

  /** The last blocks are taken back. */
  back(count: number): void {
    this.blocks.splice(this.blocks.length - count);
    this.rig.fold.rollback(this.blocks.at(-1)!);
  }

  token(name: string, deployment = V2): WorldToken {
    return this.world.state.tokens.get(tokenIdText(deployment, name))!;
  }

  /** A token of its own, in a block of its own. */
  boot(deployment = V2): string {
    let name = '';
    this.block((draft) => {
      name = this.world.boot(draft, deployment, person(1)).name;
    });
    return name;
  }

  request(name: string, key: string, operation: CageOperation, deployment = V2): WorldRequest {
    const script = this.world.requestScriptOf({ deployment, name });
    return { token: name, owner: person(4), key: hex(key), operation, bare: deployment.version === 'v0', script };
  }

  insert(name: string, key: string, value: string, deployment = V2): WorldRequest {
    return this.request(name, key, { type: 'insert', value: utf8(value) }, deployment);
  }

  /** All requests of the token in the same way. */
  all(name: string, how: 'apply' | 'reject' = 'apply'): Map<string, 'apply' | 'reject'> {
    return new Map([...this.world.state.requests].filter(([, { token }]) => token === name).map(([ref]) => [ref, how]));
  }

  /** Token with these facts, applied. */
  withFacts(facts: Readonly<Record<string, string>>, deployment = V2): string {
    const name = this.boot(deployment);
    this.block((draft) => {
      for (const [key, value] of Object.entries(facts)) this.world.ask(draft, this.insert(name, key, value, deployment));
    });
    this.block((draft) => this.world.modify(draft, this.token(name, deployment), this.all(name), person(1)));
    return name;
  }

  seen(name: string, deployment = V2) {
    return this.rig.query().token({ policy: deployment.stateScriptHash, name: fromHex(name) });
  }

  facts(name: string, deployment = V2): Record<string, string> {
    const query = this.rig.query();
    const token = this.seen(name, deployment)!;
    return Object.fromEntries(
      [...query.facts(token)].map(({ key, value }) => [new TextDecoder().decode(key), new TextDecoder().decode(value)]),
    );
  }

  pending(): string[] {
    return [...this.rig.query().allRequests()].map(({ txId, index }) => `${toHex(txId)}#${index}`).sort();
  }
}

describe('faults of earlier implementations', () => {
  test('1: a fact is the value itself, and undoing a delete or an update gives back that value', () => {
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
    stage.withFacts({ a: '1' });
    stage.back(2);
    const head = readHead(stage.rig.engine)!;
    const { slot, hash } = stage.blocks.at(-1)!;
    assert.deepEqual([head.slot, toHex(head.hash)], [slot, toHex(hash)]);
  });

  test('9: keys and values are bytes, whatever they are as text', () => {
    const stage = new Stage();
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
    const stage = new Stage();
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

describe('cages that go their own way', () => {
  test('a root that only the faulty proof library computes is told from one that nothing explains', () => {
    const stage = new Stage();
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
    const stage = new Stage();
    const name = stage.boot();
    stage.block((draft) => stage.world.ask(draft, { ...stage.insert(name, 'a', '1'), script: null }));
    assert.deepEqual(stage.pending(), []);
    stage.block((draft) => stage.world.modify(draft, stage.token(name), stage.all(name), person(1)));
    assert.deepEqual(stage.facts(name), { a: '1' });
  });

  test('requests tell where they sit and what may be done with them', () => {
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
    const stage = new Stage();
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
function stateRefOf(stage: Stage, name: string): string {
  const query = stage.rig.query();
  const token = [...query.tokens()].find(({ id }) => toHex(id.name) === name)!;
  return `${toHex(token.txId)}#${token.index}`;
}

function tokenOf(stage: Stage, name: string): WorldToken {
  const root = toHex(stage.seen(name)!.state.root);
  return { deployment: V2, name, stateRef: '', owner: person(1), root, facts: new Map(), status: 'consistent' };
}

/**
 * Facts and one of them whose deletion the faulty library gets wrong, and the root it then computes: all begin with the
 * same nibble, and two of them with the same two, so that the proof of the third ends with a fork that skips a nibble.
 */
function faultyDelete(): { readonly facts: readonly string[]; readonly key: string; readonly root: string } {
  const keys = Array.from({ length: 200 }, (_, i) => `fact ${i}`);
  const pathOf = (key: string): string => toHex(blake2b256(utf8(key)));
  const [first] = keys;
  const alike = keys.filter((key) => pathOf(key)[0] === pathOf(first)[0] && pathOf(key)[1] !== pathOf(first)[1]);
  const pair = [...Map.groupBy(alike, (key) => pathOf(key)[1]).values()].find((group) => group.length > 1)!.slice(0, 2);
  const facts = [first, ...pair];
  return { facts, key: first, root: faultyRoot(new Map(facts.map((key) => [hex(key), utf8('v')])), first)! };
}

function faultyRoot(stored: ReadonlyMap<string, Uint8Array>, key: string): string | null {
  const nodes = nodesOf(stored);
  const { proof } = mpf.prove(nodes, utf8(key));
  const faulty = mpf.rootUnderV200(utf8(key), null, proof);
  const right = mpf.rootAfterDelete(mpf.root(nodes), utf8(key), utf8('v'), proof);
  if (!faulty.ok || !right.ok || toHex(faulty.root) === toHex(right.root)) return null;
  const before = mpf.rootUnderV200(utf8(key), utf8('v'), proof);
  return before.ok && toHex(before.root) === toHex(mpf.root(nodes)) ? toHex(faulty.root) : null;
}

function nodesOf(stored: ReadonlyMap<string, Uint8Array>): MemoryNodes {
  const nodes = new MemoryNodes();
  mpf.update(
    nodes,
    nodes,
    [...stored].map(([key, value]) => ({ key: fromHex(key), value })),
  );
  return nodes;
}

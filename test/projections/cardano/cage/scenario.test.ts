/**
 * The scenario of the specification: six blocks with the state after each, both
 * rollbacks, and the same blocks again. One block a step, and all in one.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type CageDeployment, parseCageDeployment } from '../../../../src/ledgers/cardano/cage/index.ts';
import type { Block, Point } from '../../../../src/ledgers/ledger.ts';
import { CAGE, decodeTrie, trieKey, trieRange } from '../../../../src/projections/cardano/cage/rows.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import { CageBlocks, type DrawnTx } from '../../../support/cage-blocks.ts';
import { CageRig } from '../../../support/cage-rig.ts';
import { needsFixtures, readFixtureText } from '../../../support/fixtures.ts';
import { assertSameDump, dump } from '../../../support/harness.ts';

interface Expected {
  readonly token: null | {
    readonly id: string;
    readonly stateRef: string;
    readonly owner: string;
    readonly root: string;
    readonly tip: number;
    readonly processTime: number;
    readonly retractTime: number;
  };
  readonly requests: readonly string[];
  readonly facts: readonly { readonly keyHex: string; readonly valueHex: string }[];
  readonly trieVisible: boolean;
}

interface Scenario {
  readonly blocks: readonly { readonly slot: number; readonly txs: readonly DrawnTx[]; readonly after: Expected }[];
  readonly rollbacks: readonly { readonly fromSlot: number; readonly toSlot: number | 'origin'; readonly expect: Expected }[];
}

const POLICY = 'ad0a8eeeec8b0a5ee9930be5d6ea2e80b285fc2f3e9675a13a392dd5';
const DEPLOYMENT: CageDeployment = parseCageDeployment(`v2:${POLICY}`);

/** Every output that the scenario spends and does not make, as a block before it. */
function funding({ blocks }: Scenario): DrawnTx[] {
  const txs = blocks.flatMap((block) => block.txs);
  const made = new Set(txs.map(({ id }) => id));
  const spent = txs.flatMap(({ inputs, collateral = [] }) => [...inputs, ...collateral]);
  const ids = new Set(spent.map((ref) => ref.split('#')[0]).filter((id) => !made.has(id)));
  const output = { address: `key:${'00'.repeat(28)}`, value: { lovelace: 5_000_000 } };
  return [...ids].map((id) => ({ id, inputs: [], outputs: [output, output] }));
}

function seen(rig: CageRig, id: string): Expected {
  const query = rig.query();
  const token = query.token({ policy: fromHex(POLICY), name: fromHex(id) });
  // The one token of the scenario has the first trie, which outlives it.
  const trie = rig.engine.get(CAGE, trieKey(0));
  const facts = [...rig.engine.scan('cage_values', trieRange(0))].map(([key, row]) => ({
    keyHex: toHex(key.subarray(4)),
    valueHex: toHex(row.subarray(8)),
  }));
  const { terms } = token?.state ?? { terms: null };
  return {
    token:
      token === null
        ? null
        : {
            id,
            stateRef: `${toHex(token.txId)}#${token.index}`,
            ...{ owner: toHex(token.state.owner), root: toHex(token.state.root) },
            ...{ tip: Number(terms!.tip), processTime: Number(terms!.processTime), retractTime: Number(terms!.retractTime) },
          },
    requests: [...query.allRequests()].map(({ txId, index }) => `${toHex(txId)}#${index}`).sort(),
    facts,
    trieVisible: trie !== undefined && decodeTrie(trie).hiddenAt === null,
  };
}

const wanted = ({ token, requests, facts, trieVisible }: Expected): Expected => ({
  token,
  requests: [...requests].sort(),
  facts,
  trieVisible,
});

describe('the cage scenario', needsFixtures, () => {
  const scenario = needsFixtures.skip === false ? (JSON.parse(readFixtureText('spec', 'vectors', 'cage-scenario.json')) as Scenario) : null;
  const id = 'c51d1e37d6b4ba298319cc1961241df2c262ea57d5eaaa3e22e77dacc20f3930';

  function blocksOf(): Block[] {
    const maker = new CageBlocks(5);
    const blocks: Block[] = [];
    const add = (slot: number, txs: readonly DrawnTx[]) => blocks.push(maker.block(blocks.at(-1) ?? null, slot, txs));
    add(1, funding(scenario!));
    for (const { slot, txs } of scenario!.blocks) add(slot, txs);
    return blocks;
  }

  test('block by block, back and forth', () => {
    const rig = new CageRig([DEPLOYMENT]);
    const blocks = blocksOf();
    const dumps = blocks.map((block, i) => {
      rig.fold.apply([block]);
      if (i > 0) assert.deepEqual(seen(rig, id), wanted(scenario!.blocks[i - 1].after), `after slot ${block.slot}`);
      return dump(rig.engine);
    });
    const point = (slot: number | 'origin'): Point => blocks.find((block) => block.slot === (slot === 'origin' ? 1 : slot))!;
    for (const { toSlot, expect } of scenario!.rollbacks) {
      rig.fold.rollback(point(toSlot));
      assert.deepEqual(seen(rig, id), wanted(expect), `back at ${toSlot}`);
      assertSameDump(withoutMark(dump(rig.engine)), withoutMark(dumps[blocks.indexOf(point(toSlot) as Block)]), `back at ${toSlot}`);
      rig.fold.apply(blocks.slice(blocks.indexOf(point(toSlot) as Block) + 1));
      assertSameDump(dump(rig.engine), dumps.at(-1)!, 'all of it again, in one step');
    }
  });

  test('in one step it is the same, undo included', () => {
    const [single, grouped] = [new CageRig([DEPLOYMENT]), new CageRig([DEPLOYMENT])];
    const blocks = blocksOf();
    for (const block of blocks) single.fold.apply([block]);
    grouped.fold.apply(blocks);
    assertSameDump(dump(grouped.engine), dump(single.engine), 'in one step');
  });
});

/** The horizon that a rollback leaves behind is no affair of cages. */
function withoutMark(rows: ReturnType<typeof dump>): ReturnType<typeof dump> {
  return new Map([...rows].map(([column, all]) => [column, column === 'chain' ? all.filter((row) => !row.startsWith('ff')) : all]));
}

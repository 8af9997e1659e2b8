/**
 * Blocks full of applied requests, through the whole fold on RocksDB. The chain
 * is made by the world of the tests, so that proofs and roots are right.
 */
import { join } from 'node:path';
import { loadConfig } from '../src/config/load.ts';
import { openEngineIn } from '../src/engine/open.ts';
import type { Block } from '../src/ledgers/ledger.ts';
import { readCounters } from '../src/projections/cardano/cage/rows.ts';
import { deltaColumn } from '../src/state/delta.ts';
import { Fold } from '../src/state/fold.ts';
import { toHex, utf8 } from '../src/util/bytes.ts';
import { CageBlocks, cageLedger, type DrawnTx } from '../test/support/cage-blocks.ts';
import { cageProjections, WINDOW } from '../test/support/cage-rig.ts';
import { CageWorld, person, type TxDraft, tokenIdText, WORLD_CAGES } from '../test/support/cage-world.ts';
import { best, round, temporary } from './support.ts';

export interface BlockFigures {
  readonly requests: number;
  readonly transactions: number;
  readonly bestMs: number;
  readonly medianMs: number;
}

const TRANSACTIONS = 50;
const REQUESTS_PER_TX = 10;
/** Of v2, with a request program. */
const DEPLOYMENT = WORLD_CAGES[2];

export async function measureBlocks(rounds: number): Promise<BlockFigures> {
  const folder = temporary('cage-block');
  const projections = cageProjections(WORLD_CAGES);
  const { engine: settings } = loadConfig({ env: {} }).config;
  const columns = [...projections.flatMap((projection) => projection.columns), deltaColumn];
  const engine = await openEngineIn(join(folder.path, 'db'), columns, { ...settings, createIfMissing: true });
  try {
    const fold = new Fold(engine, cageLedger, projections, { utxo: true, partial: true, selfContained: false, fsync: false, ...WINDOW });
    const times = fullBlocks(rounds).map(({ before, full }) => {
      for (const block of before) fold.apply([block]);
      const started = performance.now();
      fold.apply([full]);
      return performance.now() - started;
    });
    const { tokens, requests, diverged } = readCounters(engine);
    if (tokens !== rounds || requests !== 0 || diverged !== 0) throw new Error('not every request was applied');
    times.sort((a, b) => a - b);
    const figures = { bestMs: round(best(times), 1), medianMs: round(times[times.length >> 1], 1) };
    return { requests: TRANSACTIONS * REQUESTS_PER_TX, transactions: TRANSACTIONS, ...figures };
  } finally {
    await engine.close();
    folder.remove();
  }
}

interface FullBlock {
  /** A token and its requests. */
  readonly before: readonly Block[];
  readonly full: Block;
}

function fullBlocks(rounds: number): FullBlock[] {
  const maker = new CageBlocks(1);
  const funds: DrawnTx = {
    inputs: [],
    outputs: Array.from({ length: rounds * (2 * TRANSACTIONS + 1) }, () => ({
      address: `key:${person(9)}`,
      value: { lovelace: 5_000_000 },
    })),
  };
  const { body, id } = maker.encode(funds);
  const world = new CageWorld(maker, id, funds.outputs.length);
  let tip = maker.block(null, 1, [funds], [body]);
  const begin = tip;
  const mine = (count: number, deed: (draft: TxDraft, i: number) => void): Block => {
    const txs = Array.from({ length: count }, (_, i) => {
      const draft = world.draft();
      deed(draft, i);
      return world.finish(draft);
    });
    tip = maker.block(
      tip,
      tip.slot + 20,
      txs.map(({ tx }) => tx),
      txs.map((tx) => tx.body),
    );
    return tip;
  };
  return Array.from({ length: rounds }, (_, i) => {
    const full = oneRound(world, mine);
    return i === 0 ? { ...full, before: [begin, ...full.before] } : full;
  });
}

function oneRound(world: CageWorld, mine: (count: number, deed: (draft: TxDraft, i: number) => void) => Block): FullBlock {
  let name = '';
  const boot = mine(1, (draft) => {
    name = world.boot(draft, DEPLOYMENT, person(1)).name;
  });
  const script = world.requestScriptOf({ deployment: DEPLOYMENT, name });
  const asked = mine(TRANSACTIONS, (draft, i) => {
    for (let j = 0; j < REQUESTS_PER_TX; j++) {
      const operation = { type: 'insert', value: utf8(`value ${i} ${j}`) } as const;
      world.ask(draft, { token: name, owner: person(4), key: toHex(utf8(`key ${i} ${j}`)), operation, bare: false, script });
    }
  });
  const full = mine(TRANSACTIONS, (draft) => {
    const waiting = [...world.state.requests].filter(([, { token }]) => token === name).slice(0, REQUESTS_PER_TX);
    const token = world.state.tokens.get(tokenIdText(DEPLOYMENT, name))!;
    world.modify(draft, token, new Map(waiting.map(([ref]) => [ref, 'apply'] as const)), person(1));
  });
  return { before: [boot, asked], full };
}

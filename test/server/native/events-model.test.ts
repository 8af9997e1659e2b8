/**
 * Readers of events against the devnet's own model: whatever forks come, however
 * often a reader leaves and comes back, what it adds up from the events is what
 * the chain says. One seed is one story.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelUtxo } from '../../../src/chains/cardano/devnet/model.ts';
import { Random } from '../../../src/chains/random.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import { toHex } from '../../../src/util/bytes.ts';
import { keysOf } from '../../support/expected.ts';
import { Devnet, devnetOptions, memoryRig, rocksRig, TEST_SEED } from '../../support/harness.ts';
import { EventServer, Reader } from './event-reader.ts';

interface Watch {
  readonly reader: Reader;
  /** Which outputs it asked for; null: none. */
  readonly fits: ((utxo: ModelUtxo) => boolean) | null;
  readonly blocks: boolean;
}

function watches(server: EventServer, random: Random): Watch[] {
  const { chain, genesis } = server.rig.devnet;
  const made = [...genesis, ...chain.blocks.flatMap(({ txs }) => txs.flatMap(({ creates }) => creates))];
  const one = random.pick(made);
  const staked = random.pick(made.filter((utxo) => keysOf(utxo).stake !== undefined));
  const rich = random.pick(made.filter(({ assets }) => assets.size > 0));
  const [unit] = rich.assets.keys();
  const [policy] = unit.split('.');
  const stake = toHex(keysOf(staked).stake!);
  const payment = toHex(keysOf(staked).payment!);
  const address = formatAddress(Buffer.from(one.addressHex, 'hex'));
  const watch = (query: string, fits: Watch['fits'], blocks = true): Watch => ({ reader: new Reader(server, query), fits, blocks });
  const hasStake = (utxo: ModelUtxo) => toHex(keysOf(utxo).stake ?? new Uint8Array()) === stake;
  return [
    watch('?types=block,rollback,utxo,tip', () => true),
    watch('?types=utxo&types=tip', () => true, false),
    watch('?types=block,tip', null),
    watch(`?types=utxo,tip&address=${address}`, ({ addressHex }) => addressHex === one.addressHex, false),
    watch(`?types=utxo,tip&stake=${stake}`, hasStake, false),
    watch(`?types=utxo,tip&policy=${policy}`, ({ assets }) => [...assets.keys()].some((held) => held.startsWith(`${policy}.`)), false),
    watch(
      `?types=block,rollback,utxo,tip&asset=${unit.replace('.', '')}&credential=${payment},${stake}`,
      (utxo) => utxo.assets.has(unit) || [payment, stake].includes(toHex(keysOf(utxo).payment ?? new Uint8Array())),
    ),
  ];
}

/** What a reader that began at the origin must have by now. */
function check({ reader, fits, blocks }: Watch, { chain }: Devnet): void {
  if (blocks) assert.equal(reader.chain.at(-1)?.hash, chain.tip === undefined ? undefined : toHex(chain.tip.hash));
  if (fits === null) return;
  const wanted =
    chain.blocks.length === 0 ? [] : [...chain.utxos.values()].filter(fits).map(({ key, lovelace }) => [key, String(lovelace)]);
  assert.deepEqual([...reader.utxos].sort(), wanted.sort());
}

async function story(seed: number, onDisk: boolean): Promise<Record<string, number>> {
  const random = new Random(seed);
  const flavour = random.chance(0.3) ? 'ancient' : 'conway';
  const devnet = new Devnet(devnetOptions(seed, flavour));
  // Something to choose from, made and undone before anybody looks.
  devnet.mine(60);
  const rig = onDisk ? await rocksRig(devnet) : memoryRig(devnet);
  const server = await new EventServer(rig, { sliceMs: random.pick([0, 0.2, 3]) }).start();
  try {
    return await walk(server, random);
  } finally {
    await server.close();
  }
}

async function walk(server: EventServer, random: Random): Promise<Record<string, number>> {
  const { rig } = server;
  const { devnet } = rig;
  const all = watches(server, random);
  devnet.chain.rollback(devnet.chain.blocks.length);
  for (const { reader } of all) await reader.connect();

  for (let step = 0; step < 150; step++) {
    const { reader } = random.pick(all);
    const kind = random.weighted([
      ['forward', 5],
      ['fork', 3],
      ['leave', 3],
      ['return', 3],
      ['settle', 1],
      ['pause', 3],
    ] as const);
    if (kind === 'forward') rig.forward(1 + random.int(6), [1 + random.int(4)]);
    else if (kind === 'fork') server.fork(random.int(random.chance(0.2) ? 60 : 6), random.int(6));
    else if (kind === 'leave') reader.hangUp();
    else if (kind === 'return' && !reader.isConnected) await reader.connect();
    else if (kind === 'settle')
      for (const { reader: each } of all)
        if (each.isConnected) await each.reach(devnet.chain.tip?.hash ?? null);
        else await new Promise((resolve) => setTimeout(resolve, random.int(6)));
  }
  const counts: Record<string, number> = {};
  for (const watch of all) {
    if (!watch.reader.isConnected) await watch.reader.connect();
    await watch.reader.reach(devnet.chain.tip?.hash ?? null);
    check(watch, devnet);
    for (const [name, count] of Object.entries(watch.reader.counts)) counts[name] = (counts[name] ?? 0) + count;
    watch.reader.hangUp();
  }
  return counts;
}

describe('events against the model', () => {
  const total: Record<string, number> = {};
  for (let i = 0; i < 6; i++) {
    const seed = TEST_SEED + i;
    it(`forks, and readers that leave and come back: seed ${seed}`, async () => {
      for (const [name, count] of Object.entries(await story(seed, i === 0))) total[name] = (total[name] ?? 0) + count;
    });
  }

  it('and every kind of event was met many times', () => {
    for (const name of ['block', 'undo', 'created', 'spent', 'unspent', 'uncreated', 'rollback', 'tip'])
      assert.ok(total[name] > 20, `${name}: ${JSON.stringify(total)}`);
  });
});

/**
 * Runs one test with one rule of the source switched off, in a thread of its own:
 * the text of one file is changed while it is loaded. The answer is how the test
 * failed; null: it did not.
 */
import assert from 'node:assert/strict';
import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import type { DatabaseKind } from '../../../src/engine/directory.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { MutationWork } from './mutations.ts';

const { file, from, to, shownBy, url } = workerData as MutationWork & { readonly url: string };

let isChanged = false;
registerHooks({
  load(address, context, nextLoad) {
    const loaded = nextLoad(address, context);
    if (!address.endsWith(`/src/txstore/${file}`)) return loaded;
    const text = Buffer.from(loaded.source as Uint8Array).toString();
    assert.equal(text.split(from).length, 2, `${file} has this once: ${from}`);
    isChanged = true;
    return { ...loaded, source: text.replace(from, to) };
  },
});

async function failure(): Promise<string | null> {
  try {
    await test();
    return null;
  } catch (error) {
    return String(error);
  }
}

async function test(): Promise<void> {
  if (url.startsWith('engine:')) return embeddedTest(url.slice('engine:'.length) as 'memory' | DatabaseKind);
  if (shownBy === 'crashes') {
    const { everyLostConnection, everyStatementOfPass } = await import('./crashes.ts');
    return url.startsWith('sqlite:') ? everyStatementOfPass(url) : everyLostConnection(url);
  }
  if (shownBy === 'chain') {
    const { missingInDatabase } = await import('../support/chain-missing.ts');
    return missingInDatabase(url);
  }
  const { scenarioTitled } = await import('../scenarios.ts');
  const { openerOf } = await import('./databases.ts');
  return scenarioTitled(shownBy)(openerOf(url));
}

async function embeddedTest(kind: 'memory' | DatabaseKind): Promise<void> {
  const { withEngine } = await import('../support/embedded.ts');
  await withEngine(kind, embeddedTestOn);
}

async function embeddedTestOn(engine: Engine): Promise<void> {
  const { everyChangeIsOneBatch } = await import('../support/breaking-engine.ts');
  const { openEmbedded } = await import('../support/embedded.ts');
  if (shownBy === 'batches') return everyChangeIsOneBatch(engine);
  if (shownBy === 'chain') {
    const { missingOnEngine } = await import('../support/chain-missing.ts');
    return missingOnEngine(engine);
  }
  const { removalThatFails, removedInPlace } = await import('../support/removed-in-place.ts');
  if (shownBy === 'in place') return removedInPlace();
  if (shownBy === 'fails') return removalThatFails();
  if (shownBy === 'refused') {
    const { refusedHalfWay } = await import('../support/refused.ts');
    const { TxWorld } = await import('../support/world.ts');
    await using world = await TxWorld.open((settings, limit) => openEmbedded(engine, settings, limit));
    return refusedHalfWay(world);
  }
  if (shownBy === 'index') {
    const { changedSinceRead } = await import('../support/changed-since-read.ts');
    return changedSinceRead((settings, limit) => openEmbedded(engine, settings, limit));
  }
  const { scenarioTitled } = await import('../scenarios.ts');
  return scenarioTitled(shownBy)((settings, limit) => openEmbedded(engine, settings, limit));
}

const answer = await failure();
assert.ok(isChanged, `${file} is loaded`);
parentPort?.postMessage(answer);

/**
 * The stories that every transaction store must tell the same way, each with the
 * number it has in the specification of safe deletion. A store of another kind
 * runs them by `runTxScenarios` with a function that opens it, empty.
 *
 * Not here: SD50's latency and SD68 at length are measured in benchmarks and
 * campaigns; SD69 and SD70 need the chain behind the store.
 */
import { describe, it } from 'node:test';
import { conflictScenarios } from './scenarios/conflicts.ts';
import { markScenarios } from './scenarios/marks.ts';
import { passScenarios } from './scenarios/pass.ts';
import { queueScenarios } from './scenarios/queue.ts';
import { timelineScenarios } from './scenarios/timeline.ts';
import type { OpenTxStore } from './support/world.ts';

export type TxScenario = readonly [title: string, run: (open: OpenTxStore) => Promise<void>];

const SCENARIOS: readonly (readonly TxScenario[])[] = [timelineScenarios, markScenarios, passScenarios, queueScenarios, conflictScenarios];

/** The first story whose title begins so. */
export function scenarioTitled(beginning: string): TxScenario[1] {
  const found = SCENARIOS.flat().find(([title]) => title.startsWith(beginning));
  if (found === undefined) throw new Error(`no story begins with ${beginning}`);
  return found[1];
}

export function runTxScenarios(name: string, open: OpenTxStore): void {
  describe(`transaction store: ${name}`, () => {
    for (const [title, run] of SCENARIOS.flat()) it(title, () => run(open));
  });
}

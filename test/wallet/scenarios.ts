/**
 * The stories that every wallet store must tell the same way, each with the
 * number it has in the specification of wallets. A store of another kind runs
 * them by `runWalletScenarios` with a function that opens it, empty.
 */
import { describe, it } from 'node:test';
import { batchScenarios } from './scenarios/batches.ts';
import { cardanoScenarios } from './scenarios/cardano.ts';
import { creationScenarios } from './scenarios/creation.ts';
import { eventScenarios } from './scenarios/events.ts';
import { failureScenarios } from './scenarios/failure.ts';
import { keyScenarios } from './scenarios/keys.ts';
import { labelScenarios } from './scenarios/labels.ts';
import { leaseScenarios } from './scenarios/leases.ts';
import { readScenarios } from './scenarios/reads.ts';
import { reorganisationScenarios } from './scenarios/reorganisation.ts';
import { replacementScenarios } from './scenarios/replacement.ts';
import { watchScenarios } from './scenarios/watch.ts';
import { type OpenWalletStore, World } from './support/world.ts';

export type Scenario = readonly [title: string, run: (world: World) => Promise<void>];

const SCENARIOS: readonly (readonly Scenario[])[] = [
  creationScenarios,
  replacementScenarios,
  failureScenarios,
  reorganisationScenarios,
  batchScenarios,
  leaseScenarios,
  readScenarios,
  eventScenarios,
  keyScenarios,
  watchScenarios,
  cardanoScenarios,
  labelScenarios,
];

export function runWalletScenarios(name: string, open: OpenWalletStore): void {
  describe(`wallets: ${name}`, () => {
    for (const [title, run] of SCENARIOS.flat()) {
      it(title, async () => {
        await using world = await World.open(open);
        await run(world);
      });
    }
  });
}

/**
 * The stories that every wallet store must tell the same way, each with the
 * number it has in the specification of wallets. A store of another kind runs
 * them by `runWalletScenarios` with a function that opens it, empty.
 */
import { describe, it } from 'node:test';
import { creationScenarios } from './scenarios/creation.ts';
import { replacementScenarios } from './scenarios/replacement.ts';
import { type OpenWalletStore, World } from './support/world.ts';

export type Scenario = readonly [title: string, run: (world: World) => Promise<void>];

const SCENARIOS: readonly (readonly Scenario[])[] = [creationScenarios, replacementScenarios];

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

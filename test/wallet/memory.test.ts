/** The wallet store in memory tells the stories of wallets, and keeps their invariants. */
import { runRandomWallets } from './random.ts';
import { runWalletScenarios } from './scenarios.ts';
import { openMemoryWallets } from './support/open-memory.ts';
import { runRandomLives } from './support/random-run.ts';

runWalletScenarios('in memory', openMemoryWallets);

/** The two databases live many more of these lives beside it. */
runRandomWallets('in memory', (lives) => runRandomLives({ ...lives, open: null }), { events: 10_000, compareEvery: 1 });

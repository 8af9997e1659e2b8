/**
 * W84 at length: 1,000 blocks of a real node's life beside its wallet
 * (`UNSPENT_CAMPAIGN_BLOCKS`, `UNSPENT_CAMPAIGN_SEED`), compared after every
 * step, on SQLite, or on PostgreSQL (`UNSPENT_CAMPAIGN_DATABASE=postgres`).
 * `test/wallet/node.test.ts` is its short form.
 */
import { test } from 'node:test';
import { openWalletStore } from '../../src/wallet/open.ts';
import { nodeMissing } from '../support/node-kinds.ts';
import { PostgresServer } from '../support/sql/postgres-server.ts';
import { makeWalletSchema, WalletFiles } from '../wallet/sql/wallet-files.ts';
import { NodeRig } from '../wallet/support/node-rig.ts';
import { FIRST_BLOCKS, NodeWalk } from '../wallet/support/node-walk.ts';

const BLOCKS = Number(process.env['UNSPENT_CAMPAIGN_BLOCKS'] ?? 1000);
const SEED = Number(process.env['UNSPENT_CAMPAIGN_SEED'] ?? 1);
const INDEXES = 300;

test(`a wallet beside that of a node for ${BLOCKS} blocks`, { skip: nodeMissing() }, async (t) => {
  using files = new WalletFiles();
  const server = process.env['UNSPENT_CAMPAIGN_DATABASE'] === 'postgres' ? await PostgresServer.start(makeWalletSchema) : null;
  const wallets = server === null ? await files.openFresh() : await openWalletStore(await server.freshUrl());
  const rig = await NodeRig.open(wallets, INDEXES);
  try {
    const walk = new NodeWalk(rig, SEED);
    await walk.begin();
    for (let told = 0; walk.blocks < FIRST_BLOCKS + BLOCKS; await walk.step()) {
      if (walk.blocks - told < 100) continue;
      told = walk.blocks;
      t.diagnostic(walk.summary());
    }
    await walk.end();
    t.diagnostic(walk.summary());
  } finally {
    await rig.stop();
    await server?.stop();
  }
});

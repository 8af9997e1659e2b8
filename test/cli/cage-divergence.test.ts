/**
 * A token whose root on chain is not that of its trie, seen by a follower: a
 * devnet, which runs no scripts, takes an update with another root. `start` says
 * so once when it happens, once when a rollback takes it back, and goes on.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { encodeConwayParameters } from '../../src/chains/cardano/devnet/parameters.ts';
import { makeWallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { serveChain } from '../../src/chains/cardano/responder/index.ts';
import {
  type CageState,
  cageTokenName,
  DEVNET_CAGE,
  DEVNET_STATE_CODE,
  encodeCageDatum,
  encodeMintRedeemer,
  encodeSpendRedeemer,
} from '../../src/ledgers/cardano/cage/index.ts';
import { decodeProtocolParameters } from '../../src/ledgers/cardano/protocol-parameters.ts';
import { balance, type Coin, type TransactionPlan } from '../../src/query/cardano/cage-tx/balance.ts';
import { concatBytes, fromHex, toHex } from '../../src/util/bytes.ts';
import { signTx } from '../support/sign.ts';
import { temporary } from './run.ts';
import { Running } from './running.ts';

const ADA = 1_000_000n;
const WRONG_ROOT = new Uint8Array(32).fill(9);

test('start tells when a token diverges, and when a rollback heals it', async (t) => {
  const folder = temporary();
  const chain = new LiveDevnet({ seed: 5, txPerBlock: 1 });
  const wallet = makeWallet(5);
  for (let i = 0; i < 4; i++) chain.fund(wallet.address, 50n * ADA);
  chain.mine(2);
  const responder = await serveChain(chain, { port: 0 });
  t.after(async () => {
    await responder.close();
    await chain.close();
  });
  for (const [era, text] of Object.entries(chain.genesis)) writeFileSync(join(folder, `${era}-genesis.json`), text);
  const source = ['--source', `n2n://127.0.0.1:${responder.port}`, '--network', 'devnet', '--genesis', folder];
  const cages = ['--cage-enabled', 'true', '--cage-deployments', 'devnet'];
  const running = new Running(t, ['start', ...source, ...cages, '--no-server', '--data', join(folder, 'store')], folder);
  const keyHash = wallet.address.subarray(1);
  const policy = DEVNET_CAGE.stateScriptHash;
  const address = concatBytes(Uint8Array.of(0x70), policy);
  const coins = (): Coin[] =>
    [...chain.utxos.values()]
      .filter(({ addressHex, assets }) => addressHex === toHex(wallet.address) && assets.size === 0)
      .map(({ key, index, lovelace }) => ({ txId: fromHex(key.slice(0, 64)), index, lovelace }));
  const send = (plan: TransactionPlan): void => {
    const made = balance(
      { ...plan, scripts: [DEVNET_STATE_CODE] },
      { address: wallet.address, keyHash, coins: coins() },
      decodeProtocolParameters(encodeConwayParameters()),
    );
    const verdict = chain.submit(signTx(made.tx, wallet));
    assert.ok(verdict.accepted, verdict.accepted ? '' : verdict.reason);
  };
  const [seed] = coins();
  const asset = { policy, name: cageTokenName(seed), quantity: 1n };
  const terms = { tip: ADA, processTime: 60_000n, retractTime: 60_000n };
  const datum = (root: Uint8Array): Uint8Array => {
    const state: CageState = { owner: keyHash, root, terms };
    return encodeCageDatum({ type: 'state', state });
  };
  send({
    inputs: [],
    seed,
    outputs: [{ address, lovelace: 5n * ADA, assets: [asset], datum: datum(new Uint8Array(32)) }],
    mint: { asset, redeemer: encodeMintRedeemer({ type: 'minting', seed }, 'v2') },
  });
  chain.mine();
  const state = [...chain.utxos.values()].find(({ assets }) => assets.size > 0 && assets.has(`${toHex(policy)}.${toHex(asset.name)}`))!;
  await running.remarks(new RegExp(`(block|up to) ${chain.tip.height}\\b`));
  assert.doesNotMatch(running.err, /cage (diverged|healed)/);

  send({
    inputs: [
      {
        txId: fromHex(state.key.slice(0, 64)),
        index: state.index,
        lovelace: state.lovelace,
        assets: [asset],
        redeemer: encodeSpendRedeemer({ type: 'modify', actions: [], bare: false }),
      },
    ],
    outputs: [{ address, lovelace: state.lovelace, assets: [asset], datum: datum(WRONG_ROOT) }],
  });
  chain.mine();
  const token = `token=${toHex(policy)}.${toHex(asset.name)}`;
  const diverged = new RegExp(
    `cage diverged: ${token} status=inconsistent root=${toHex(WRONG_ROOT)} output=[0-9a-f]{64}#0 by=block height=\\d+ slot=\\d+`,
  );
  const healed = new RegExp(
    `cage healed: ${token} status=consistent root=${'00'.repeat(32)} output=${state.key} by=rollback height=\\d+ slot=\\d+`,
  );
  await running.remarks(diverged);
  // Said once, however many blocks come.
  chain.mine(2);
  await running.remarks(new RegExp(`(block|up to) ${chain.tip.height}\\b`));
  chain.rollback(3);
  await running.remarks(healed);
  // The update waits in the node again, and comes back with the next block.
  const before = running.err.length;
  chain.mine();
  await running.remarks(diverged, before);
  const told = running.err.match(/cage (diverged|healed)/g);
  assert.deepEqual(told, ['cage diverged', 'cage healed', 'cage diverged']);
});

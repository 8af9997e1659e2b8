/** Coins are reserved and set free, and transactions that wait are given up. */
import { randomBytes } from 'node:crypto';
import Type from 'typebox';
import { parseOutpoint } from '../../ledgers/outpoint.ts';
import { fromHex } from '../../util/bytes.ts';
import { coinName, leaseJson, txJson } from '../../wallet/documents.ts';
import { leaseMs } from '../../wallet/lease-time.ts';
import type { App } from '../http/typed.ts';
import { describedWallet, fields, LeaseBody, LeaseHex, OutpointText, WalletName, WalletTxPath } from './schemas.ts';
import type { WalletAccess } from './wallet-access.ts';

const TX = fields('txid', 'status', 'change', 'fee', 'block', 'label');

export function registerLeases(app: App, access: WalletAccess): void {
  const schema = {
    ...describedWallet('Reserve a coin, or renew a lease', fields('outpoint', 'lease')),
    params: WalletName,
    body: LeaseBody,
  };
  app.post('/:name/leases', { schema }, ({ params, body }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const wallet = await store.getWallet(params.name);
      const outpoint = parseOutpoint(body.outpoint, notation.parseId);
      const [lease] = await store.leaseCoins(wallet.id, [outpoint], {
        id: body.id === undefined ? randomBytes(32) : fromHex(body.id),
        now: now(),
        durationMs: body.forever === true ? null : leaseMs(body.minutes),
        releaseAfterSpendConfs: body.until_confs,
      });
      return { outpoint: coinName(notation, outpoint), lease: leaseJson(lease) };
    }),
  );
  const releaseSchema = {
    ...describedWallet('End a lease', fields('outpoint', 'lease')),
    params: WalletName,
    body: Type.Object({ outpoint: OutpointText, id: LeaseHex }, { additionalProperties: false }),
  };
  app.delete('/:name/leases', { schema: releaseSchema }, ({ params, body }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const wallet = await store.getWallet(params.name);
      const outpoint = parseOutpoint(body.outpoint, notation.parseId);
      await store.releaseCoin(wallet.id, outpoint, fromHex(body.id), now());
      return { outpoint: coinName(notation, outpoint), lease: null };
    }),
  );
  const cancelSchema = { ...describedWallet('Give up one that waits; the network may confirm it after all', TX), params: WalletTxPath };
  app.delete('/:name/transactions/:txid', { schema: cancelSchema }, ({ params }, reply) =>
    access.answer(reply, async ({ store, notation }) => {
      const wallet = await store.getWallet(params.name);
      const txId = notation.parseId(params.txid);
      await store.invalidateTx(wallet.id, txId);
      return txJson(notation, wallet, await store.getTxDetail(wallet.id, txId), []);
    }),
  );
}

/** Coins are chosen, leased, spent and given up. What is to be signed goes out as a PSBT and comes back as one. */
import { randomBytes } from 'node:crypto';
import Type, { type Static } from 'typebox';
import { type BitcoinNetwork, parseId } from '../../../ledgers/bitcoin/index.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { fromHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { PSBT_BYTES_MAX } from '../../../util/limits.ts';
import { broadcastTx } from '../../../wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../../wallet/bitcoin/operations/bump.ts';
import { type PaymentRequest, preparePayment, selectPayment } from '../../../wallet/bitcoin/operations/payment.ts';
import { type FeeText, leaseMs, readFee, readPayment } from '../../../wallet/bitcoin/operations/payment-text.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { paymentJson, selectionJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { coinName, leaseJson, txJson } from '../../../wallet/documents.ts';
import type { App } from '../../http/typed.ts';
import {
  BroadcastBody,
  BumpBody,
  describedWallet,
  fields,
  LeaseBody,
  LeaseHex,
  OutpointText,
  PaymentBody,
  WalletName,
  WalletTxPath,
} from './schemas.ts';
import type { WalletAccess } from './wallet-access.ts';

const SELECTION = fields('lease', 'lease_expires_at', 'algorithm', 'inputs', 'fee', 'vsize', 'change', 'waste');
const PAYMENT = fields('psbt', 'change_address', 'lease', 'lease_expires_at', 'inputs', 'fee', 'vsize', 'change');
const TX = fields('txid', 'status', 'change', 'fee', 'block', 'label');

export function registerWalletPayments(app: App, access: WalletAccess): void {
  const request = { params: WalletName, body: PaymentBody };
  app.post(
    '/:name/payments',
    { schema: { ...describedWallet('A payment, as a PSBT to be signed', PAYMENT, 201), ...request } },
    ({ params, body }, reply) =>
      access.answer(
        reply,
        async (wallets) => {
          const wallet = await wallets.store.getWallet(params.name);
          return paymentJson(wallets, await preparePayment(wallets, wallet, paymentOf(wallets.network, body)));
        },
        201,
      ),
  );
  app.post(
    '/:name/selections',
    { schema: { ...describedWallet('Coins for a payment, leased', SELECTION, 201), ...request } },
    ({ params, body }, reply) =>
      access.answer(
        reply,
        async (wallets) => {
          const wallet = await wallets.store.getWallet(params.name);
          return selectionJson(wallets, await selectPayment(wallets, wallet, paymentOf(wallets.network, body)));
        },
        201,
      ),
  );
  const bumpSchema = {
    ...describedWallet('A higher fee for one that waits, as a PSBT', PAYMENT, 201),
    params: WalletTxPath,
    body: BumpBody,
  };
  app.post('/:name/transactions/:txid/bump', { schema: bumpSchema }, ({ params, body }, reply) =>
    access.answer(
      reply,
      async (wallets) => {
        const wallet = await wallets.store.getWallet(params.name);
        const bump = { txId: parseId(params.txid), ...readFee(feeText(body)) };
        const parentFee = body.parent_fee === undefined ? undefined : BigInt(body.parent_fee);
        const made = body.cpfp === true ? prepareChild(wallets, wallet, { ...bump, parentFee }) : prepareReplacement(wallets, wallet, bump);
        return paymentJson(wallets, await made);
      },
      201,
    ),
  );
  registerBroadcasts(app, access);
  registerLeases(app, access);
}

function registerBroadcasts(app: App, access: WalletAccess): void {
  const schema = {
    ...describedWallet('A signed transaction: recorded, and handed to the node', TX, 201),
    params: WalletName,
    body: BroadcastBody,
  };
  app.post('/:name/transactions', { schema, bodyLimit: 2 * PSBT_BYTES_MAX }, ({ params, body }, reply) =>
    access.answer(
      reply,
      async (wallets) => {
        const wallet = await wallets.store.getWallet(params.name);
        const { label, replace } = body;
        const detail = await broadcastTx(wallets, wallet, { raw: signedTx(wallets, body), label, replace, submit: access.submit });
        return txJson(wallets.notation, wallet, detail, []);
      },
      201,
    ),
  );
  const cancelSchema = { ...describedWallet('Give up one that waits; the network may confirm it after all', TX), params: WalletTxPath };
  app.delete('/:name/transactions/:txid', { schema: cancelSchema }, ({ params }, reply) =>
    access.answer(reply, async ({ store, notation }) => {
      const wallet = await store.getWallet(params.name);
      await store.invalidateTx(wallet.id, parseId(params.txid));
      return txJson(notation, wallet, await store.getTxDetail(wallet.id, parseId(params.txid)), []);
    }),
  );
}

function registerLeases(app: App, access: WalletAccess): void {
  const schema = {
    ...describedWallet('Reserve a coin, or renew a lease', fields('outpoint', 'lease')),
    params: WalletName,
    body: LeaseBody,
  };
  app.post('/:name/leases', { schema }, ({ params, body }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const wallet = await store.getWallet(params.name);
      const outpoint = parseOutpoint(body.outpoint, parseId);
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
      const outpoint = parseOutpoint(body.outpoint, parseId);
      await store.releaseCoin(wallet.id, outpoint, fromHex(body.id), now());
      return { outpoint: coinName(notation, outpoint), lease: null };
    }),
  );
}

function paymentOf(network: BitcoinNetwork, body: Static<typeof PaymentBody>): PaymentRequest {
  const { outputs, subtract_fee, account, coins, order, unsafe } = body;
  const to = outputs.map(({ address, amount }) => ({ address, amount: BigInt(amount) }));
  return readPayment(network, { to, subtractFee: subtract_fee, account, coins, order, unsafe, ...feeText(body) });
}

function feeText({ fee_rate, minutes, fee_max, fee_rate_max }: Static<typeof BumpBody>): FeeText {
  return { feeRate: fee_rate, minutes, feeMax: fee_max === undefined ? undefined : BigInt(fee_max), feeRateMax: fee_rate_max };
}

/** Throws USAGE unless it is given in one form, PSBT_INCOMPLETE, PSBT_INVALID. */
function signedTx({ keys }: WalletContext, { psbt, hex }: Static<typeof BroadcastBody>): Uint8Array {
  if ((psbt === undefined) === (hex === undefined)) throw new UnspentError('USAGE', 'give psbt or hex, and not both', { field: 'psbt' });
  return hex === undefined ? keys.extractTx(keys.parsePsbt(psbt ?? '')).raw : fromHex(hex);
}

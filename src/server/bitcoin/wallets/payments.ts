/** Payments of the Bitcoin family: coins are chosen and leased, and what is to be signed goes out as a PSBT and comes back as one. */
import type { FastifyReply } from 'fastify';
import type { Static } from 'typebox';
import { type BitcoinNetwork, parseId } from '../../../ledgers/bitcoin/index.ts';
import { fromHex } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { PSBT_BYTES_MAX } from '../../../util/limits.ts';
import { BitcoinWallets } from '../../../wallet/bitcoin/bitcoin-wallets.ts';
import { broadcastTx } from '../../../wallet/bitcoin/operations/broadcast.ts';
import { prepareChild, prepareReplacement } from '../../../wallet/bitcoin/operations/bump.ts';
import { type PaymentRequest, preparePayment, selectPayment } from '../../../wallet/bitcoin/operations/payment.ts';
import { type CoinChoiceText, type FeeText, readChoice, readFee, readPayment } from '../../../wallet/bitcoin/operations/payment-text.ts';
import { paymentJson, selectionJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { txJson } from '../../../wallet/documents.ts';
import type { WalletInfo } from '../../../wallet/records.ts';
import type { App } from '../../http/typed.ts';
import { describedWallet, fields, WalletName, WalletTxPath } from '../../wallets/schemas.ts';
import type { WalletAccess } from '../../wallets/wallet-access.ts';
import { BroadcastBody, BumpBody, PaymentBody } from './schemas.ts';

const SELECTION = fields('lease', 'lease_expires_at', 'algorithm', 'inputs', 'fee', 'vsize', 'change', 'waste');
const PAYMENT = fields('psbt', 'change_address', 'lease', 'lease_expires_at', 'inputs', 'fee', 'vsize', 'change');
const TX = fields('txid', 'status', 'change', 'fee', 'block', 'label');

/** For servers whose wallets are of the Bitcoin family. */
export function registerWalletPayments(app: App, access: WalletAccess): void {
  const request = { params: WalletName, body: PaymentBody };
  app.post(
    '/:name/payments',
    { schema: { ...describedWallet('A payment, as a PSBT to be signed', PAYMENT, 201), ...request } },
    ({ params, body }, reply) =>
      answerMade(access, reply, params.name, async (wallets, wallet) =>
        paymentJson(wallets, await preparePayment(wallets, wallet, paymentOf(wallets.network, body))),
      ),
  );
  app.post(
    '/:name/selections',
    { schema: { ...describedWallet('Coins for a payment, leased', SELECTION, 201), ...request } },
    ({ params, body }, reply) =>
      answerMade(access, reply, params.name, async (wallets, wallet) =>
        selectionJson(wallets, await selectPayment(wallets, wallet, paymentOf(wallets.network, body))),
      ),
  );
  const bumpSchema = {
    ...describedWallet('A higher fee for one that waits, as a PSBT', PAYMENT, 201),
    params: WalletTxPath,
    body: BumpBody,
  };
  app.post('/:name/transactions/:txid/bump', { schema: bumpSchema }, ({ params, body }, reply) =>
    answerMade(access, reply, params.name, async (wallets, wallet) => {
      const bump = {
        txId: parseId(params.txid),
        needsSignal: body.needs_signal,
        ...readFee(feeText(body)),
        ...readChoice(choiceText(body)),
      };
      const parentFee = body.parent_fee === undefined ? undefined : BigInt(body.parent_fee);
      const made = body.cpfp === true ? prepareChild(wallets, wallet, { ...bump, parentFee }) : prepareReplacement(wallets, wallet, bump);
      return paymentJson(wallets, await made);
    }),
  );
  const broadcastSchema = {
    ...describedWallet('A signed transaction: recorded, and handed to the node', TX, 201),
    params: WalletName,
    body: BroadcastBody,
  };
  app.post('/:name/transactions', { schema: broadcastSchema, bodyLimit: 2 * PSBT_BYTES_MAX }, ({ params, body }, reply) =>
    answerMade(access, reply, params.name, async (wallets, wallet) => {
      const { label, replace } = body;
      const detail = await broadcastTx(wallets, wallet, { raw: signedTx(wallets, body), label, replace, submit: access.submit });
      return txJson(wallets.notation, wallet, detail, []);
    }),
  );
}

function answerMade(
  access: WalletAccess,
  reply: FastifyReply,
  name: string,
  body: (wallets: BitcoinWallets, wallet: WalletInfo) => Promise<unknown>,
): Promise<FastifyReply> {
  return access.answer(
    reply,
    async (wallets) => {
      assert(wallets instanceof BitcoinWallets, 'servers with these routes have wallets of the Bitcoin family');
      return body(wallets, await wallets.store.getWallet(name));
    },
    201,
  );
}

function paymentOf(network: BitcoinNetwork, body: Static<typeof PaymentBody>): PaymentRequest {
  const { outputs, account, coins, include, unsafe } = body;
  return readPayment(network, {
    to: outputs.map(({ address, amount, subtract_fee }) => ({ address, amount: BigInt(amount), subtractFee: subtract_fee })),
    subtractFee: body.subtract_fee,
    account,
    coins,
    include,
    unsafe,
    unconfirmedChange: body.unconfirmed_change,
    longChains: body.long_chains,
    changeAccount: body.change_account,
    changeAddress: body.change_address,
    ...choiceText(body),
    ...feeText(body),
  });
}

function choiceText(body: Static<typeof PaymentBody> | Static<typeof BumpBody>): CoinChoiceText {
  return {
    order: body.order,
    exclude: body.exclude,
    minConfs: body.min_confs,
    maxConfs: body.max_confs,
    avoidPartialSpends: body.avoid_partial_spends,
    weightMax: body.max_weight,
    changePosition: body.change_position,
    longTermFeeRate: body.long_term_fee_rate,
    discardFeeRate: body.discard_fee_rate,
  };
}

function feeText({ fee_rate, minutes, fee_max, fee_rate_max }: Static<typeof BumpBody>): FeeText {
  return { feeRate: fee_rate, minutes, feeMax: fee_max === undefined ? undefined : BigInt(fee_max), feeRateMax: fee_rate_max };
}

/** Throws USAGE unless it is given in one form, PSBT_INCOMPLETE, PSBT_INVALID. */
function signedTx({ keys }: BitcoinWallets, { psbt, hex }: Static<typeof BroadcastBody>): Uint8Array {
  if ((psbt === undefined) === (hex === undefined)) throw new UnspentError('USAGE', 'give psbt or hex, and not both', { field: 'psbt' });
  return hex === undefined ? keys.extractTx(keys.parsePsbt(psbt ?? '')).raw : fromHex(hex);
}

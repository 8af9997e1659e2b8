/** Wallets are made and looked at: their accounts, addresses, coins and transactions. */
import Type from 'typebox';
import { parseId } from '../../../ledgers/bitcoin/index.ts';
import { WALLET_LABELS_BYTES_MAX } from '../../../util/limits.ts';
import { newAddressOf } from '../../../wallet/bitcoin/operations/addresses.ts';
import { createWatchOnlyWallet, importDescriptor } from '../../../wallet/bitcoin/operations/create-wallet.ts';
import { exportLabels, importLabels } from '../../../wallet/bitcoin/operations/labels.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { accountJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { addressJson, balanceJson, coinJson, txJson, walletJson } from '../../../wallet/documents.ts';
import type { TxDetail, WalletInfo } from '../../../wallet/records.ts';
import type { App } from '../../http/typed.ts';
import { DescriptorBody, describedWallet, fields, Label, NewWalletBody, TxidHex, WalletName, WalletTxPath } from './schemas.ts';
import type { WalletAccess } from './wallet-access.ts';

const PAGE_ROWS = 100;
const Limit = Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: `Rows at most; default ${PAGE_ROWS}.` }));
const WALLET = fields('name', 'watch_only', 'synced_to', 'accounts', 'balance');
const TX = fields('txid', 'status', 'change', 'fee', 'block', 'confirmations', 'received', 'label', 'replaced_by', 'inputs', 'outputs');

export function registerWalletReads(app: App, access: WalletAccess): void {
  registerWalletList(app, access);
  registerWalletLabels(app, access);

  const addressBody = Type.Object(
    { account: Type.Optional(Type.String({ maxLength: 200 })), change: Type.Optional(Type.Boolean()) },
    { additionalProperties: false },
  );
  const addressSchema = {
    ...describedWallet('A new address', fields('address', 'script', 'kind', 'branch', 'index'), 201),
    params: WalletName,
    body: addressBody,
  };
  app.post('/:name/addresses', { schema: addressSchema }, ({ params, body }, reply) =>
    access.answer(
      reply,
      async (wallets) => {
        const wallet = await wallets.store.getWallet(params.name);
        const address = await newAddressOf(wallets, wallet, { account: body.account, branch: body.change === true ? 1 : 0 });
        return addressJson(wallets.notation, address);
      },
      201,
    ),
  );

  const coinQuery = Type.Object({ limit: Limit, min_confs: Type.Optional(Type.Integer({ minimum: 0 })) }, { additionalProperties: false });
  const coinSchema = { ...describedWallet('Its coins, with their leases', fields('coins')), params: WalletName, querystring: coinQuery };
  app.get('/:name/coins', { schema: coinSchema }, ({ params, query }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const wallet = await store.getWallet(params.name);
      const filter = { now: now(), minConfs: query.min_confs };
      const coins = await store.listCoins(wallet.id, filter, { limit: query.limit ?? PAGE_ROWS });
      return { coins: coins.map((coin) => coinJson(notation, wallet, coin)) };
    }),
  );

  const historyQuery = Type.Object({ limit: Limit, after: Type.Optional(TxidHex) }, { additionalProperties: false });
  const historySchema = {
    ...describedWallet('Its transactions, newest first', fields('transactions')),
    params: WalletName,
    querystring: historyQuery,
  };
  app.get('/:name/transactions', { schema: historySchema }, ({ params, query }, reply) =>
    access.answer(reply, async (wallets) => {
      const wallet = await wallets.store.getWallet(params.name);
      const after = query.after === undefined ? undefined : parseId(query.after);
      const details = await wallets.store.history(wallet.id, { limit: query.limit ?? PAGE_ROWS, after });
      return { transactions: await Promise.all(details.map((detail) => withReplacements(wallets, wallet, detail))) };
    }),
  );
  app.get(
    '/:name/transactions/:txid',
    { schema: { ...describedWallet('One of its transactions', TX), params: WalletTxPath } },
    ({ params }, reply) =>
      access.answer(reply, async (wallets) => {
        const wallet = await wallets.store.getWallet(params.name);
        return withReplacements(wallets, wallet, await wallets.store.getTxDetail(wallet.id, parseId(params.txid)));
      }),
  );
}

function registerWalletList(app: App, access: WalletAccess): void {
  app.get('/', { schema: describedWallet('All wallets', fields('wallets')) }, (_request, reply) =>
    access.answer(reply, async ({ store, notation }) => ({
      wallets: (await store.listWallets()).map((each) => walletJson(notation, each)),
    })),
  );
  app.post('/', { schema: { ...describedWallet('A new wallet that watches', WALLET, 201), body: NewWalletBody } }, ({ body }, reply) =>
    access.answer(reply, async (wallets) => wholeWallet(wallets, await createWatchOnlyWallet(wallets, body)), 201),
  );
  app.get(
    '/:name',
    { schema: { ...describedWallet('A wallet, its accounts and its balance', WALLET), params: WalletName } },
    ({ params }, reply) => access.answer(reply, async (wallets) => wholeWallet(wallets, await wallets.store.getWallet(params.name))),
  );
  const accountSchema = {
    ...describedWallet('One more account', fields('name', 'descriptor', 'change'), 201),
    params: WalletName,
    body: DescriptorBody,
  };
  app.post('/:name/accounts', { schema: accountSchema }, ({ params, body }, reply) =>
    access.answer(reply, async (wallets) => accountJson(wallets, await importDescriptor(wallets, params.name, body)), 201),
  );
}

function registerWalletLabels(app: App, access: WalletAccess): void {
  const labelSchema = {
    ...describedWallet('Say what a transaction was for', TX),
    params: WalletTxPath,
    body: Type.Object({ label: Label }, { additionalProperties: false }),
  };
  app.patch('/:name/transactions/:txid', { schema: labelSchema }, ({ params, body }, reply) =>
    access.answer(reply, async (wallets) => {
      const wallet = await wallets.store.getWallet(params.name);
      await wallets.store.updateTx(wallet.id, parseId(params.txid), { label: body.label });
      return withReplacements(wallets, wallet, await wallets.store.getTxDetail(wallet.id, parseId(params.txid)));
    }),
  );
  app.get(
    '/:name/labels',
    { schema: { ...describedWallet('Its labels (BIP329)', fields('labels')), params: WalletName } },
    ({ params }, reply) =>
      access.answer(reply, async ({ store }) => ({ labels: await exportLabels(store, await store.getWallet(params.name)) })),
  );
  const importSchema = {
    ...describedWallet('Take labels in (BIP329)', fields('applied', 'unknown', 'passed_over')),
    params: WalletName,
    body: Type.Object({ labels: Type.String({ description: 'One JSON document a line.' }) }, { additionalProperties: false }),
  };
  app.post('/:name/labels', { schema: importSchema, bodyLimit: WALLET_LABELS_BYTES_MAX }, ({ params, body }, reply) =>
    access.answer(reply, async ({ store }) => {
      const { applied, unknown, passedOver } = await importLabels(store, await store.getWallet(params.name), body.labels);
      return { applied, unknown, passed_over: passedOver };
    }),
  );
}

async function wholeWallet(wallets: WalletContext, wallet: WalletInfo): Promise<object> {
  const { store, now } = wallets;
  const accounts = await store.listAccounts(wallet.id);
  const balance = balanceJson(await store.balance(wallet.id, { now: now() }));
  return { ...walletJson(wallets.notation, wallet), accounts: accounts.map((account) => accountJson(wallets, account)), balance };
}

async function withReplacements({ store, notation }: WalletContext, wallet: WalletInfo, detail: TxDetail): Promise<object> {
  return txJson(notation, wallet, detail, await store.replacementChain(wallet.id, detail.tx.id));
}

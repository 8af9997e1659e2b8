/** Wallets are made and looked at: their accounts, addresses and labels. Their lists are in `lists.ts`. */
import Type from 'typebox';
import { parseId } from '../../../ledgers/bitcoin/index.ts';
import { WALLET_LABELS_BYTES_MAX } from '../../../util/limits.ts';
import { newAddressOf } from '../../../wallet/bitcoin/operations/addresses.ts';
import { createWatchOnlyWallet, importDescriptor } from '../../../wallet/bitcoin/operations/create-wallet.ts';
import { exportLabels, importLabels } from '../../../wallet/bitcoin/operations/labels.ts';
import type { WalletContext } from '../../../wallet/bitcoin/operations/wallet-context.ts';
import { accountJson } from '../../../wallet/bitcoin/operations/wallet-json.ts';
import { addressJson, balanceJson, txJson, walletJson } from '../../../wallet/documents.ts';
import type { TxDetail, WalletInfo } from '../../../wallet/records.ts';
import type { App } from '../../http/typed.ts';
import { Limit, pageOf } from './lists.ts';
import { DescriptorBody, describedWallet, fields, Label, NewWalletBody, WalletName, WalletTxPath } from './schemas.ts';
import type { WalletAccess } from './wallet-access.ts';

const WALLET = fields('name', 'watch_only', 'synced_to', 'accounts', 'balance', 'newest_event');
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
  const querystring = Type.Object(
    { limit: Limit, after: Type.Optional(Type.String({ minLength: 1, maxLength: 2000, description: 'x-next-after of the page before.' })) },
    { additionalProperties: false },
  );
  const listSchema = { ...describedWallet('Wallets by name, with their balances', fields('wallets')), querystring };
  app.get('/', { schema: listSchema }, ({ query }, reply) =>
    access.answer(reply, async ({ store, notation, now }) => {
      const after = query.after === undefined ? undefined : Buffer.from(query.after, 'base64url').toString();
      const read = (limit: number) => store.listWallets({ limit, after });
      const list: object[] = [];
      for (const wallet of await pageOf(reply, query.limit, read, ({ name }) => Buffer.from(name).toString('base64url'))) {
        list.push({ ...walletJson(notation, wallet), balance: balanceJson(await store.balance(wallet.id, { now: now() })) });
      }
      return { wallets: list };
    }),
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
  // First: whoever goes on behind it may hear of something that the rest tells already, but misses nothing.
  const { newest } = await store.eventRange();
  const accounts = (await store.listAccounts(wallet.id)).map((account) => accountJson(wallets, account));
  const balance = balanceJson(await store.balance(wallet.id, { now: now() }));
  return { ...walletJson(wallets.notation, wallet), accounts, balance, newest_event: newest };
}

async function withReplacements({ store, notation }: WalletContext, wallet: WalletInfo, detail: TxDetail): Promise<object> {
  return txJson(notation, wallet, detail, await store.replacementChain(wallet.id, detail.tx.id));
}

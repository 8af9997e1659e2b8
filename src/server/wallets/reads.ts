/** Wallets are made and looked at: their accounts, addresses and labels. Their lists are in `lists.ts`. */
import Type from 'typebox';
import { WALLET_LABELS_BYTES_MAX } from '../../util/limits.ts';
import { addressJson, txJson, walletJson } from '../../wallet/documents.ts';
import type { FamilyWallets } from '../../wallet/family-wallets.ts';
import { holdingsJson } from '../../wallet/holdings.ts';
import { exportLabels, importLabels } from '../../wallet/labels.ts';
import type { TxDetail, WalletInfo } from '../../wallet/records.ts';
import type { App } from '../http/typed.ts';
import { Limit, walletPage } from './lists.ts';
import { describedWallet, fields, Label, NewWalletBody, WalletName, WalletTxPath, WatchedBody } from './schemas.ts';
import type { WalletAccess } from './wallet-access.ts';

const WALLET = fields('name', 'watch_only', 'synced_to', 'accounts', 'addresses', 'balance', 'newest_event');
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
        return addressJson(wallets.notation, await wallets.addressOf(wallet, body));
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
        return withReplacements(wallets, wallet, await wallets.store.getTxDetail(wallet.id, wallets.notation.parseId(params.txid)));
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
    access.answer(reply, async (wallets) => {
      const { store, notation } = wallets;
      const after = query.after === undefined ? undefined : Buffer.from(query.after, 'base64url').toString();
      const read = (limit: number) => store.listWallets({ limit, after });
      const list: object[] = [];
      for (const wallet of await walletPage(reply, query.limit, read, ({ name }) => Buffer.from(name).toString('base64url'))) {
        list.push({ ...walletJson(notation, wallet), balance: await holdingsJson(wallets, wallet) });
      }
      return { wallets: list };
    }),
  );
  app.post('/', { schema: { ...describedWallet('A new wallet that watches', WALLET, 201), body: NewWalletBody } }, ({ body }, reply) =>
    access.answer(reply, async (wallets) => wholeWallet(wallets, await wallets.createWatching(body.name, body)), 201),
  );
  app.get(
    '/:name',
    { schema: { ...describedWallet('A wallet, what it watches and its balance', WALLET), params: WalletName } },
    ({ params }, reply) => access.answer(reply, async (wallets) => wholeWallet(wallets, await wallets.store.getWallet(params.name))),
  );
  const accountSchema = {
    ...describedWallet('One more account, or more addresses', fields('name', 'descriptor', 'change', 'addresses'), 201),
    params: WalletName,
    body: WatchedBody,
  };
  app.post('/:name/accounts', { schema: accountSchema }, ({ params, body }, reply) =>
    access.answer(reply, (wallets) => wallets.watchMore(params.name, body), 201),
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
      await wallets.store.updateTx(wallet.id, wallets.notation.parseId(params.txid), { label: body.label });
      return withReplacements(wallets, wallet, await wallets.store.getTxDetail(wallet.id, wallets.notation.parseId(params.txid)));
    }),
  );
  app.get(
    '/:name/labels',
    { schema: { ...describedWallet('Its labels (BIP329)', fields('labels')), params: WalletName } },
    ({ params }, reply) =>
      access.answer(reply, async (wallets) => ({ labels: await exportLabels(wallets, await wallets.store.getWallet(params.name)) })),
  );
  const importSchema = {
    ...describedWallet('Take labels in (BIP329)', fields('labels', 'applied', 'waiting', 'foreign', 'frozen', 'thawed', 'held')),
    params: WalletName,
    body: Type.Object({ labels: Type.String({ description: 'One JSON document a line.' }) }, { additionalProperties: false }),
  };
  app.post('/:name/labels', { schema: importSchema, bodyLimit: WALLET_LABELS_BYTES_MAX }, ({ params, body }, reply) =>
    access.answer(reply, async (wallets) => {
      return importLabels(wallets, await wallets.store.getWallet(params.name), body.labels);
    }),
  );
}

async function wholeWallet(wallets: FamilyWallets, wallet: WalletInfo): Promise<object> {
  // First: whoever goes on behind it may hear of something that the rest tells already, but misses nothing.
  const { newest } = await wallets.store.eventRange();
  const watched = await wallets.watchedJson(wallet);
  return { ...walletJson(wallets.notation, wallet), ...watched, balance: await holdingsJson(wallets, wallet), newest_event: newest };
}

async function withReplacements({ store, notation }: FamilyWallets, wallet: WalletInfo, detail: TxDetail): Promise<object> {
  return txJson(notation, wallet, detail, await store.replacementChain(wallet.id, detail.tx.id));
}

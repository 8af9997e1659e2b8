/** Coins of Cardano are chosen for a payment and leased, by the protocol parameters of the node that is followed. */
import Type from 'typebox';
import { decodeProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { assert } from '../../../util/errors.ts';
import { CardanoWallets } from '../../../wallet/cardano/cardano-wallets.ts';
import { selectionJson, selectPayment } from '../../../wallet/cardano/payment.ts';
import type { App } from '../../http/typed.ts';
import { describedWallet, fields, Minutes, OutpointText, WalletName } from '../../wallets/schemas.ts';
import type { WalletAccess } from '../../wallets/wallet-access.ts';

const SELECTION = fields('lease', 'lease_expires_at', 'algorithm', 'inputs', 'outputs', 'change', 'fee', 'bytes');
const Quantity = Type.String({ pattern: '^\\d{1,20}$', description: 'A decimal number.' });
const closed = { additionalProperties: false } as const;
const AddressText = Type.String({ minLength: 1, maxLength: 2000 });
const Held = Type.Object({ unit: Type.String({ maxLength: 200, description: 'Policy and name, in hex.' }), quantity: Quantity }, closed);
const Paid = Type.Object({ address: AddressText, amount: Quantity, assets: Type.Optional(Type.Array(Held, { maxItems: 1000 })) }, closed);
const SelectionBody = Type.Object(
  {
    outputs: Type.Array(Paid, { minItems: 1, maxItems: 1000 }),
    change_address: Type.Optional(AddressText),
    coins: Type.Optional(Type.Array(OutpointText, { minItems: 1, maxItems: 1000, description: 'Only these are spent.' })),
    order: Type.Optional(Type.Union([Type.Literal('random-improve'), Type.Literal('largest-first')])),
    minutes: Minutes,
  },
  closed,
);

/** For servers whose wallets are of Cardano. */
export function registerWalletSelections(app: App, access: WalletAccess): void {
  const schema = { ...describedWallet('Coins for a payment, leased', SELECTION, 201), params: WalletName, body: SelectionBody };
  app.post('/:name/selections', { schema }, ({ params, body }, reply) =>
    access.answer(
      reply,
      async (wallets) => {
        assert(wallets instanceof CardanoWallets, 'servers with this route have wallets of Cardano');
        const wallet = await wallets.store.getWallet(params.name);
        const parameters = decodeProtocolParameters((await access.ledger()).parameters);
        const { outputs, change_address: changeAddress, coins, order, minutes } = body;
        const to = outputs.map(({ address, amount, assets = [] }) => {
          const held = assets.map(({ unit, quantity }) => ({ unit, quantity: BigInt(quantity) }));
          return { address, amount: BigInt(amount), assets: held };
        });
        return selectionJson(wallets, await selectPayment(wallets, wallet, { to, changeAddress, coins, order, minutes }, parameters));
      },
      201,
    ),
  );
}

/** What requests about wallets look like, and what the OpenAPI document says of them. */
import Type, { type TSchema } from 'typebox';
import { DESCRIPTOR_CHARS_MAX } from '../../util/limits.ts';

export const NAME_CHARS_MAX = 200;

export const WalletName = Type.Object({ name: Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX, description: 'Of the wallet.' }) });
export const TxidHex = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Id of a transaction.' });
export const WalletTxPath = Type.Object({ ...WalletName.properties, txid: TxidHex });
export const OutpointText = Type.String({ pattern: '^[0-9a-f]{64}#\\d{1,10}$', description: '`txid#index`.' });
export const LeaseHex = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Whose lease it is.' });
export const Label = Type.String({ maxLength: 500 });
export const Minutes = Type.Optional(Type.Integer({ minimum: 1, maximum: 525_600, description: 'How long coins are leased; default 60.' }));

export const WatchedBody = Type.Object(
  {
    descriptor: Type.Optional(
      Type.String({ maxLength: DESCRIPTOR_CHARS_MAX, description: 'Of the Bitcoin family: what is watched. With `<0;1>` also of change.' }),
    ),
    change: Type.Optional(Type.String({ maxLength: DESCRIPTOR_CHARS_MAX, description: 'Of change, where the first has one branch.' })),
    account: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX })),
    addresses: Type.Optional(
      Type.Array(Type.String({ maxLength: 2000 }), {
        minItems: 1,
        maxItems: 1000,
        description: 'Of Cardano: what is watched. A stake address stands for every address with its stake credential.',
      }),
    ),
  },
  { additionalProperties: false },
);
export const NewWalletBody = Type.Object({ ...WalletName.properties, ...WatchedBody.properties }, { additionalProperties: false });
export const LeaseBody = Type.Object(
  {
    outpoint: OutpointText,
    id: Type.Optional(LeaseHex),
    minutes: Minutes,
    forever: Type.Optional(Type.Boolean({ description: 'Until it is released.' })),
    until_confs: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100_000, description: 'Outlives a spend up to so many confirmations.' }),
    ),
  },
  { additionalProperties: false },
);

/** An object, of which the document says the names. */
export function fields(...names: readonly string[]): TSchema {
  return Type.Object(Object.fromEntries(names.map((name) => [name, Type.Any()])));
}

export function describedWallet(summary: string, answer: TSchema, status = 200): object {
  return {
    tags: ['Wallets'],
    summary,
    security: [{ walletToken: [] }],
    response: { [status]: { description: summary, content: { 'application/json': { schema: answer } } } },
  };
}

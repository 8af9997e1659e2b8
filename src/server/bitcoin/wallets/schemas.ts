/** What requests about wallets look like, and what the OpenAPI document says of them. */
import Type, { type TSchema } from 'typebox';
import { DESCRIPTOR_CHARS_MAX } from '../../../util/limits.ts';

const NAME_CHARS_MAX = 200;

export const WalletName = Type.Object({ name: Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX, description: 'Of the wallet.' }) });
export const TxidHex = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Id of a transaction.' });
export const WalletTxPath = Type.Object({ ...WalletName.properties, txid: TxidHex });
export const OutpointText = Type.String({ pattern: '^[0-9a-f]{64}#\\d{1,10}$', description: '`txid#index`.' });
export const LeaseHex = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Whose lease it is.' });
export const Satoshi = Type.String({ pattern: '^\\d{1,16}$', description: 'A decimal number of satoshi.' });
export const Label = Type.String({ maxLength: 500 });
const FeeRate = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'In sat/vB.' });
const Minutes = Type.Optional(Type.Integer({ minimum: 1, maximum: 525_600, description: 'How long coins are leased; default 60.' }));

const FeeFields = {
  fee_rate: FeeRate,
  fee_max: Type.Optional(Satoshi),
  fee_rate_max: Type.Optional(FeeRate),
  minutes: Minutes,
};

export const DescriptorBody = Type.Object(
  {
    descriptor: Type.String({ maxLength: DESCRIPTOR_CHARS_MAX, description: 'With `<0;1>` also of change.' }),
    change: Type.Optional(Type.String({ maxLength: DESCRIPTOR_CHARS_MAX, description: 'Of change, where the first has one branch.' })),
    account: Type.Optional(Type.String({ minLength: 1, maxLength: NAME_CHARS_MAX })),
  },
  { additionalProperties: false },
);
export const NewWalletBody = Type.Object({ ...WalletName.properties, ...DescriptorBody.properties }, { additionalProperties: false });
export const PaymentBody = Type.Object(
  {
    outputs: Type.Array(Type.Object({ address: Type.String({ maxLength: 200 }), amount: Satoshi }, { additionalProperties: false }), {
      minItems: 1,
      maxItems: 1000,
    }),
    ...FeeFields,
    subtract_fee: Type.Optional(Type.Boolean({ description: 'Receivers bear the fee.' })),
    account: Type.Optional(Type.String({ maxLength: NAME_CHARS_MAX })),
    coins: Type.Optional(Type.Array(OutpointText, { minItems: 1, maxItems: 1000, description: 'Only these are spent.' })),
    order: Type.Optional(Type.Union([Type.Literal('waste'), Type.Literal('largest-first'), Type.Literal('oldest-first')])),
    unsafe: Type.Optional(Type.Boolean({ description: 'Unconfirmed coins of others may be spent.' })),
  },
  { additionalProperties: false },
);
export const BumpBody = Type.Object(
  {
    ...FeeFields,
    cpfp: Type.Optional(Type.Boolean({ description: 'A child that pays for both, instead of a replacement.' })),
    parent_fee: Type.Optional(Satoshi),
  },
  { additionalProperties: false },
);
export const BroadcastBody = Type.Object(
  {
    psbt: Type.Optional(Type.String({ description: 'Signed, in base64.' })),
    hex: Type.Optional(Type.String({ pattern: '^([0-9a-f]{2})+$', description: 'The signed transaction.' })),
    label: Type.Optional(Label),
    replace: Type.Optional(Type.Boolean({ description: 'It may take the place of transactions that spend the same.' })),
  },
  { additionalProperties: false },
);
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

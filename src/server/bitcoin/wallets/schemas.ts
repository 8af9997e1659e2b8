/** What requests for payments of the Bitcoin family look like. */
import Type from 'typebox';
import { Label, Minutes, NAME_CHARS_MAX, OutpointText } from '../../wallets/schemas.ts';

const Satoshi = Type.String({ pattern: '^\\d{1,16}$', description: 'A decimal number of satoshi.' });
const FeeRate = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'In sat/vB.' });

const FeeFields = {
  fee_rate: FeeRate,
  fee_max: Type.Optional(Satoshi),
  fee_rate_max: Type.Optional(FeeRate),
  minutes: Minutes,
};

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

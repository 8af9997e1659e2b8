/** What requests for payments of the Bitcoin family look like. */
import Type from 'typebox';
import { SELECTION_ORDERS } from '../../../wallet/selection/bitcoin/coin.ts';
import { Label, Minutes, NAME_CHARS_MAX, OutpointText } from '../../wallets/schemas.ts';

const Satoshi = Type.String({ pattern: '^\\d{1,16}$', description: 'A decimal number of satoshi.' });
const FeeRate = Type.Number({ exclusiveMinimum: 0, maximum: 1_000_000, description: 'In sat/vB.' });

const FeeFields = {
  fee_rate: FeeRate,
  fee_max: Type.Optional(Satoshi),
  fee_rate_max: Type.Optional(FeeRate),
  minutes: Minutes,
};

const Confirmations = Type.Integer({ minimum: 0, maximum: 10_000_000 });
const Outpoints = (description: string) => Type.Optional(Type.Array(OutpointText, { minItems: 1, maxItems: 1000, description }));

/** How coins are chosen. */
const ChoiceFields = {
  order: Type.Optional(
    Type.Union(
      SELECTION_ORDERS.map((order) => Type.Literal(order)),
      { description: '`waste` (default): by all searches, and the one with the least waste; else by one search alone.' },
    ),
  ),
  exclude: Outpoints('None of these is spent.'),
  min_confs: Type.Optional({ ...Confirmations, description: 'Only coins with so many confirmations at least.' }),
  max_confs: Type.Optional({ ...Confirmations, description: 'And at most.' }),
  avoid_partial_spends: Type.Optional(Type.Boolean({ description: 'Coins of one address are spent all or none, up to 100 of them.' })),
  max_weight: Type.Optional(Type.Integer({ minimum: 400, maximum: 400_000, description: 'Weight units that the transaction may have.' })),
  change_position: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 1000, description: 'Where change is put among the outputs; default: at random.' }),
  ),
  long_term_fee_rate: Type.Optional({
    ...FeeRate,
    description: 'In sat/vB: at which coins are expected to be spent some other day; default 10.',
  }),
  discard_fee_rate: Type.Optional({ ...FeeRate, description: 'In sat/vB: change that is not worth spending at this rate is not made.' }),
};

export const PaymentBody = Type.Object(
  {
    outputs: Type.Array(
      Type.Object(
        {
          address: Type.String({ maxLength: 200 }),
          amount: Satoshi,
          subtract_fee: Type.Optional(Type.Boolean({ description: 'This receiver bears the fee, in equal parts with others that do.' })),
        },
        { additionalProperties: false },
      ),
      {
        minItems: 1,
        maxItems: 1000,
      },
    ),
    ...FeeFields,
    ...ChoiceFields,
    subtract_fee: Type.Optional(Type.Boolean({ description: 'All receivers bear the fee.' })),
    account: Type.Optional(Type.String({ maxLength: NAME_CHARS_MAX })),
    coins: Outpoints('Only these are spent.'),
    include: Outpoints('These are spent, and others as needed.'),
    unsafe: Type.Optional(Type.Boolean({ description: 'Unconfirmed coins of others may be spent.' })),
    unconfirmed_change: Type.Optional(Type.Boolean({ description: 'Unconfirmed change of the wallet itself may be spent; default true.' })),
    long_chains: Type.Optional(
      Type.Boolean({ description: 'Coins of chains of unconfirmed transactions as long as nodes relay may be spent.' }),
    ),
    change_account: Type.Optional(Type.String({ maxLength: NAME_CHARS_MAX, description: 'Where change goes; default: `account`.' })),
    change_address: Type.Optional(Type.String({ maxLength: 200, description: 'The same as an address.' })),
  },
  { additionalProperties: false },
);
export const BumpBody = Type.Object(
  {
    ...FeeFields,
    ...ChoiceFields,
    needs_signal: Type.Optional(Type.Boolean({ description: 'Only one that says that it may be replaced (BIP125) is.' })),
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

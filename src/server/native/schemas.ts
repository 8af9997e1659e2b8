/**
 * The shapes of the HTTP API: what requests are checked against, and what the
 * reference says of answers. One truth: the OpenAPI document is made of these.
 * Bytes are hex, amounts are decimal strings, absent fields are left out.
 */
import Type, { type Static, type TSchema } from 'typebox';
import { OUTPUT_INDEX_MAX } from '../../ledgers/outpoint.ts';
import { HTTP_PARAM_CHARS_MAX } from '../../util/limits.ts';
import { CHANGE_COMPONENTS } from './schemas-changes.ts';
import { historyComponents } from './schemas-history.ts';
import { PROOF_COMPONENTS } from './schemas-proofs.ts';

const hex = (bytes: number, description: string) => Type.String({ pattern: `^[0-9a-f]{${2 * bytes}}$`, description });
const hexAny = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})*$', description });
const amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const time = Type.Number({ description: 'Unix seconds.' });
const closed = { additionalProperties: false } as const;

/** Parts of a path: read by the code that knows them, which says what is wrong with one; here only bounded. */
const part = (description: string, example: string) =>
  Type.String({ minLength: 1, maxLength: HTTP_PARAM_CHARS_MAX, description, examples: [example] });
const hash32 = (description: string) => Type.String({ pattern: '^[0-9a-fA-F]{64}$', description });
const hash28 = (description: string) => Type.String({ pattern: '^[0-9a-fA-F]{56}$', description });

const ADDRESS_EXAMPLE = 'addr_test1vz09v9yfxguvlp0zsnrpa3tdtm7el8xufp3m5lsm7qxzclgmzkket';

export const PATH = {
  address: part('An address: bech32, base58 (Byron) or hex.', ADDRESS_EXAMPLE),
  credential: part('A payment credential: 28 bytes of hex, addr_vkh1... or script1...', '00'.repeat(28)),
  stake: part('A stake address, or a stake credential: 28 bytes of hex, stake_vkh1... or script1...', `stake_test1${'u'.repeat(20)}`),
  unit: Type.String({
    pattern: '^[0-9a-fA-F]{56}([0-9a-fA-F]{2}){0,32}$',
    description: 'An asset: policy id and asset name, both hex, joined.',
  }),
  policy: hash28('A policy id.'),
  script: hash28('The hash of a script.'),
  datum: hash32('The hash of a datum.'),
  tx: hash32('The id of a transaction.'),
  index: Type.Integer({ minimum: 0, maximum: OUTPUT_INDEX_MAX, description: 'The number of the output.' }),
  block: part('A block: its hash, its height (`1234` or `height:1234`), or `slot:1234` for the newest up to a slot.', '1234'),
};

/** What every read of the chain takes. */
const READ = {
  at: Type.Optional(
    part('Answer as of an earlier block: `slot:N`, `height:N`, a block hash, or a bare number, which is a slot.', 'height:1234'),
  ),
  min_slot: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      description: 'Wait, within limits, until the store has reached this slot; otherwise NOT_YET.',
    }),
  ),
};
const FORMAT = {
  format: Type.Optional(
    Type.Union([Type.Literal('json'), Type.Literal('cbor')], {
      description: 'Instead of the header `Accept`: rows as JSON, or as records in CBOR.',
    }),
  ),
};

/** Of reads of outputs. */
const MEMPOOL = {
  include_mempool: Type.Optional(
    Type.Boolean({
      description:
        'Count transactions that are in no block yet: what they spend is gone, what they make is there. Of the newest block, in JSON. Cardano.',
    }),
  ),
};
const MempoolParameter = Type.Object(MEMPOOL);
export type MempoolParameter = Static<typeof MempoolParameter>;

/** Where the past is not asked for. */
export const NowQuery = Type.Object({ min_slot: READ.min_slot }, closed);
export const BlockQuery = Type.Object(
  {
    min_slot: READ.min_slot,
    ...FORMAT,
    delta: Type.Optional(
      Type.Union([Type.Literal('compact'), Type.Literal('self-contained')], {
        description: 'Of the CBOR form: only the names of the outputs (unless said), or the outputs themselves and who spent them.',
      }),
    ),
  },
  closed,
);
export type BlockQuery = Static<typeof BlockQuery>;
export const ReadQuery = Type.Object(READ, closed);
export const BalanceQuery = Type.Object({ ...READ, ...MEMPOOL }, closed);
export const RowQuery = Type.Object({ ...READ, ...FORMAT, ...MEMPOOL }, closed);
export type ReadQuery = Static<typeof ReadQuery>;
export type RowQuery = Static<typeof RowQuery>;

export function listQuery(rowsMax: number) {
  const limit = Type.Union([Type.Integer({ minimum: 1, maximum: rowsMax }), Type.Literal('all')], {
    description: `Rows of a page, at most ${rowsMax}, 100 unless said; \`all\` streams every row.`,
  });
  const pages = {
    limit: Type.Optional(limit),
    after: Type.Optional(
      Type.String({ minLength: 1, maxLength: 512, description: 'Go on behind a page: what its header `x-next-after` said.' }),
    ),
    order: Type.Optional(
      Type.Union([Type.Literal('asc'), Type.Literal('desc')], { description: 'Oldest first (`asc`, unless said) or newest first.' }),
    ),
    page: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description:
          'The number of a page, from 1. Its rows shift while blocks arrive, and a late page costs more than an early one; `after` does neither.',
      }),
    ),
    all: Type.Optional(Type.Boolean({ description: 'Stream every row; the same as `limit=all`.' })),
  };
  return Type.Object({ ...READ, ...FORMAT, ...MEMPOOL, ...pages }, closed);
}
export type ListQuery = Static<ReturnType<typeof listQuery>>;

/** Of lists that are not streamed as a whole. */
export function historyQuery(rowsMax: number) {
  const { after, order, page } = listQuery(rowsMax).properties;
  const limit = Type.Integer({ minimum: 1, maximum: rowsMax, description: `Rows of a page, at most ${rowsMax}, 100 unless said.` });
  return Type.Object({ ...READ, limit: Type.Optional(limit), after, order, page }, closed);
}

export function outpointsBody(rowsMax: number) {
  const outpoint = Type.String({ pattern: '^[0-9a-fA-F]{64}#[0-9]{1,10}$', examples: [`${'00'.repeat(32)}#0`] });
  return Type.Array(outpoint, { minItems: 1, maxItems: rowsMax, description: 'Outputs, each as `transaction#number`.' });
}

const Point = Type.Object(
  { height: count('Blocks before it.'), slot: count('Its slot.'), hash: hex(32, 'Its hash.') },
  { ...closed, description: 'A block of the chain.' },
);

const PLACE = {
  slot: count('The slot of the block.'),
  block: count('The height of the block.'),
  block_hash: Type.Optional(hex(32, 'The hash of the block.')),
  epoch: Type.Optional(count('The epoch of the slot. Cardano.')),
  block_time: Type.Optional(time),
};

const Amount = Type.Object(
  {
    unit: Type.String({ description: '`lovelace` or `satoshi`, or policy and name joined.' }),
    policy_id: Type.Optional(hex(28, 'Of an asset.')),
    asset_name: Type.Optional(hexAny('Of an asset.')),
    quantity: amount('How much.'),
  },
  closed,
);

const Utxo = Type.Object(
  {
    tx_hash: hex(32, 'The transaction that made it.'),
    output_index: count('Its number there.'),
    owner_addr: Type.Optional(
      Type.String({ description: 'bech32, base58, or hex for a Cardano address of no known kind; absent where a script has none.' }),
    ),
    owner_stake_addr: Type.Optional(Type.String()),
    owner_payment_credential: Type.Optional(hex(28, 'Key or script hash.')),
    owner_stake_credential: Type.Optional(hex(28, 'Key or script hash.')),
    script: Type.Optional(hexAny('The script that owns it. Bitcoin family.')),
    script_type: Type.Optional(Type.String({ description: 'Its kind, as nodes call it. Bitcoin family.' })),
    lovelace_amount: Type.Optional(amount('Lovelace. Cardano.')),
    satoshi_amount: Type.Optional(amount('Satoshi. Bitcoin family.')),
    amounts: Type.Array(Type.Ref('Amount#'), { description: "The chain's own coin first, then assets as they stand in the output." }),
    data_hash: Type.Optional(hex(32, 'Where the output names its datum by hash.')),
    inline_datum: Type.Optional(hexAny('CBOR of the datum.')),
    script_ref: Type.Optional(hexAny('CBOR of the reference script, `[kind, script]`.')),
    reference_script_hash: Type.Optional(hex(28, 'Its hash.')),
    is_collateral_return: Type.Optional(Type.Boolean({ description: 'Cardano.' })),
    is_coinbase: Type.Optional(Type.Boolean({ description: 'Bitcoin family.' })),
    at_or_before: Type.Optional(
      Type.Literal(true, { description: "The store began with a node's own set: its block was not a later one than this." }),
    ),
    ...PLACE,
    slot: Type.Optional(count('The slot of its block; absent while it is in none.')),
    block: Type.Optional(count('The height of its block; absent while it is in none.')),
    pending: Type.Optional(Type.Literal(true, { description: 'It is in no block yet. Only with `include_mempool`.' })),
    spent_pending: Type.Optional(
      Type.Literal(true, { description: 'The transaction that spends it is in no block yet. Only with `include_mempool`.' }),
    ),
    spent_tx_hash: Type.Optional(hex(32, 'Who spent it; absent while unspent, and where the ledger itself removed it.')),
    spent_at_slot: Type.Optional(count('Slot of the block that spent it.')),
    spent_at_block: Type.Optional(count('Height of that block.')),
    spent_at_block_hash: Type.Optional(hex(32, 'Hash of that block.')),
    spent_block_time: Type.Optional(time),
    spent_epoch: Type.Optional(count('Epoch of that slot.')),
  },
  { ...closed, description: 'An output; unspent where no field begins with `spent_`.' },
);

const Balance = Type.Object(
  {
    utxo_count: count('Unspent outputs.'),
    lovelace_amount: Type.Optional(amount('Lovelace. Cardano.')),
    satoshi_amount: Type.Optional(amount('Satoshi. Bitcoin family.')),
    amounts: Type.Array(Type.Ref('Amount#'), { description: "The chain's own coin first, then assets by policy and name." }),
  },
  closed,
);

const Block = Type.Object(
  {
    hash: hex(32, 'Its hash.'),
    height: count('Blocks before it.'),
    slot: count('Its slot.'),
    epoch: Type.Optional(count('The epoch of the slot. Cardano.')),
    block_time: Type.Optional(time),
    era: Type.Optional(Type.String({ description: 'The era of the ledger. Cardano.' })),
    tx_count: Type.Optional(count('Transactions. Absent, as its size, of the block with which the store began as a snapshot.')),
    size: Type.Optional(count('Bytes.')),
    previous_hash: Type.Optional(hex(32, 'The block before; absent where the chain says there is none.')),
    issuer: Type.Optional(hexAny('Who made it, where the chain says so.')),
    weight: Type.Optional(count('BIP141. Bitcoin family, as all that follow.')),
    version: Type.Optional(Type.Integer()),
    merkle_root: Type.Optional(hex(32, 'Of its transactions.')),
    bits: Type.Optional(count('The target it had to meet, as it is written.')),
    nonce: Type.Optional(count('What made it meet the target.')),
  },
  closed,
);

const SEEN = {
  tx_hash: hex(32, 'The transaction it was first seen in.'),
  output_index: Type.Optional(count('The output that carries it; absent where it came beside the outputs.')),
  ...PLACE,
};

const Datum = Type.Object({ hash: hex(32, 'Its hash.'), cbor: hexAny('The datum.'), ...SEEN }, closed);

const Script = Type.Object(
  {
    hash: hex(28, 'Its hash.'),
    type: Type.String({ pattern: '^(native|plutusV[0-9]+)$' }),
    script: hexAny('Its own bytes.'),
    cbor: hexAny('`[kind, script]`, as a reference script is written.'),
    ...SEEN,
  },
  closed,
);

const Problem = Type.Object(
  {
    type: Type.String({ description: 'Where the code is explained.' }),
    title: Type.String(),
    status: Type.Integer({ minimum: 400, maximum: 599 }),
    detail: Type.String({ description: 'What is wrong with this request.' }),
    code: Type.String({ description: 'For programs; see the list of codes.' }),
    advice: Type.String({ description: 'What to do next.' }),
    field: Type.Optional(Type.String({ description: 'The parameter that is wrong.' })),
  },
  { description: 'RFC 9457, with our code and advice.' },
);

/** By name, as routes refer to them. */
export const COMPONENTS: Readonly<Record<string, TSchema>> = {
  Point,
  Amount,
  Utxo,
  Balance,
  Block,
  Datum,
  Script,
  Problem,
  ...historyComponents(PLACE),
  ...PROOF_COMPONENTS,
  ...CHANGE_COMPONENTS,
};

export const ref = (name: string): TSchema => Type.Ref(`${name}#`);

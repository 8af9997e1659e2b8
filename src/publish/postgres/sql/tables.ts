/**
 * The tables of a copy for people: what stands in them, in words that become the
 * comments of the database, and by which questions they are indexed. Outputs
 * stand in `unspent` until they are spent, and in `spent` from then on, which is
 * cut by the height at which they were spent: what is old can be detached
 * without losing a coin.
 */
export interface SqlColumn {
  readonly name: string;
  /** As PostgreSQL names it; `?` behind it: it may be null. */
  readonly type: string;
  readonly doc: string;
}

export interface SqlTable {
  readonly name: string;
  readonly doc: string;
  readonly columns: readonly SqlColumn[];
  /** The primary key. */
  readonly key: readonly string[];
  /** Others, each the columns as CREATE INDEX has them. */
  readonly indexes: readonly string[];
  /** It is cut into ranges of this height. */
  readonly cutBy?: 'height' | 'spent_height';
  readonly checks?: readonly string[];
  /** Columns and what they point to. Told, not enforced: the publisher sees to it, and enforcing would cost a look per row. */
  readonly points?: readonly (readonly [columns: string, to: string])[];
}

/** The version of all this. Whoever changes a table, a view or what stands in them raises it. */
export const SQL_LAYOUT = 1;

/** Without secrets, and the same for each copy. */
export interface SqlShape {
  /** Outputs carry assets, datums and scripts. */
  readonly hasTraits: boolean;
}

const outpoint: readonly SqlColumn[] = [
  { name: 'tx_id', type: 'bytea', doc: 'the transaction that made it, in the order of bytes in which people write ids' },
  { name: 'output_index', type: 'bigint', doc: 'which of its outputs' },
];

const traits: readonly SqlColumn[] = [
  { name: 'payment_credential', type: 'bytea?', doc: 'hash of the key or script that can spend it' },
  { name: 'stake_address', type: 'text?', doc: 'the stake address that belongs to its address' },
  { name: 'datum_hash', type: 'bytea?', doc: 'hash of its datum, where it names one by hash' },
  { name: 'datum', type: 'bytea?', doc: 'the CBOR of its datum, where it carries one' },
  { name: 'script_hash', type: 'bytea?', doc: 'hash of the script it carries for others to refer to' },
  { name: 'script', type: 'bytea?', doc: 'that script, as CBOR [kind, script]' },
  { name: 'collateral_return', type: 'boolean', doc: 'it is the change of a collateral' },
];

const plain: readonly SqlColumn[] = [
  { name: 'script', type: 'bytea', doc: 'the script that says who can spend it' },
  { name: 'coinbase', type: 'boolean', doc: "it is a block's reward" },
];

const spending: readonly SqlColumn[] = [
  { name: 'spent_by', type: 'bytea?', doc: 'the transaction that spent it; null: the ledger itself removed it' },
  { name: 'spent_input', type: 'bigint?', doc: 'which of its inputs' },
  { name: 'spent_height', type: 'bigint', doc: 'height of the block that spent it' },
];

const asset: readonly SqlColumn[] = [
  { name: 'policy', type: 'bytea', doc: 'hash of the policy' },
  { name: 'asset_name', type: 'bytea', doc: 'name below that policy' },
  { name: 'quantity', type: 'numeric', doc: 'how many' },
];

function outputColumns({ hasTraits }: SqlShape): readonly SqlColumn[] {
  return [
    ...outpoint,
    { name: 'height', type: 'bigint', doc: 'height of the block that made it' },
    {
      name: 'address',
      type: 'text',
      doc: 'whose it is; `hash:` and 28 bytes where no address can be written for it, or none shorter than 1,000 characters',
    },
    { name: 'value', type: 'numeric', doc: "amount in the chain's smallest unit" },
    ...(hasTraits ? traits : plain),
  ];
}

/** All of them, in the order in which they are made. */
export function sqlTables(shape: SqlShape): readonly SqlTable[] {
  const outputs = outputColumns(shape);
  const stake = shape.hasTraits ? ['stake_address'] : [];
  return [
    {
      name: 'blocks',
      doc: 'Blocks of the chain, one row each',
      columns: [
        { name: 'height', type: 'bigint', doc: 'number of the block' },
        { name: 'boundary', type: 'boolean', doc: 'a block between two epochs of Byron, which has the height of the block before it' },
        { name: 'hash', type: 'bytea', doc: 'its hash' },
        { name: 'previous_hash', type: 'bytea?', doc: 'hash of the block before it' },
        { name: 'slot', type: 'bigint', doc: 'slot of the block; its height where the chain has no slots' },
        { name: 'time', type: 'timestamptz?', doc: 'when it was made; null: not known' },
        { name: 'epoch', type: 'bigint?', doc: 'its epoch; null: the chain has none' },
        { name: 'era', type: 'text?', doc: 'its era; null: the chain has none' },
        { name: 'transactions', type: 'bigint', doc: 'how many it has' },
        { name: 'size', type: 'bigint?', doc: 'its bytes; null: not known' },
        {
          name: 'details',
          type: 'jsonb',
          doc: 'what else the chain says of a block: who issued it; its version, merkle root, bits, nonce and weight',
        },
      ],
      key: ['height', 'boundary'],
      indexes: ['hash', 'time'],
    },
    {
      name: 'transactions',
      doc: 'Transactions, by id and by place',
      columns: [
        { name: 'tx_id', type: 'bytea', doc: 'its id' },
        { name: 'height', type: 'bigint', doc: 'height of its block' },
        { name: 'block_index', type: 'bigint', doc: 'its place in the block' },
        { name: 'valid', type: 'boolean', doc: 'false: its scripts failed, and only its collateral was taken' },
        { name: 'fee', type: 'numeric?', doc: 'what it paid; null: a reward, or not known (see coverage)' },
        { name: 'size', type: 'bigint?', doc: 'its bytes; null: not known (see coverage)' },
      ],
      key: ['tx_id', 'height'],
      indexes: ['height, block_index'],
      cutBy: 'height',
      points: [['height', 'blocks']],
    },
    {
      name: 'unspent',
      doc: 'Outputs that nobody has spent: the state of the chain',
      columns: outputs,
      key: ['tx_id', 'output_index'],
      indexes: ['address', 'height', ...stake, 'value DESC'],
    },
    {
      name: 'spent',
      doc: 'Outputs that were spent, with what spent them; as far back as coverage says',
      columns: [...outputs, ...spending],
      key: ['tx_id', 'output_index', 'spent_height'],
      indexes: ['address', 'spent_by', 'height', 'spent_height', ...stake],
      cutBy: 'spent_height',
    },
    {
      name: 'balances',
      doc: 'What each address has',
      columns: [
        { name: 'address', type: 'text', doc: 'as in unspent' },
        { name: 'value', type: 'numeric', doc: "sum of its unspent outputs in the chain's smallest unit" },
        { name: 'outputs', type: 'bigint', doc: 'how many they are' },
      ],
      key: ['address'],
      indexes: ['value DESC'],
      checks: ['value >= 0', 'outputs > 0'],
    },
    ...(shape.hasTraits ? traitTables() : []),
  ];
}

function traitTables(): readonly SqlTable[] {
  const seen = (what: string, id: string): readonly SqlColumn[] => [
    { name: id, type: 'bytea', doc: `hash of the ${what}` },
    { name: what, type: 'bytea', doc: what === 'datum' ? 'its CBOR' : 'CBOR [kind, script]' },
    { name: 'height', type: 'bigint', doc: 'height of the block that showed it first' },
    { name: 'tx_id', type: 'bytea', doc: 'the transaction that did' },
    { name: 'output_index', type: 'bigint?', doc: 'which of its outputs; null: it stood among the witnesses' },
  ];
  return [
    {
      name: 'unspent_assets',
      doc: 'Native assets in unspent outputs',
      columns: [...outpoint, ...asset],
      key: ['tx_id', 'output_index', 'policy', 'asset_name'],
      indexes: ['policy, asset_name'],
      points: [['tx_id, output_index', 'unspent']],
    },
    {
      name: 'spent_assets',
      doc: 'Native assets in spent outputs',
      columns: [...outpoint, ...asset, { name: 'spent_height', type: 'bigint', doc: 'height of the block that spent the output' }],
      key: ['tx_id', 'output_index', 'policy', 'asset_name', 'spent_height'],
      indexes: ['policy, asset_name', 'spent_height'],
      cutBy: 'spent_height',
    },
    {
      name: 'asset_balances',
      doc: 'What each address has of each native asset',
      columns: [{ name: 'address', type: 'text', doc: 'as in unspent' }, ...asset],
      key: ['policy', 'asset_name', 'address'],
      indexes: ['address'],
      checks: ['quantity > 0'],
    },
    {
      name: 'datums',
      doc: 'Datums by hash, where the store keeps them (utxo.datums)',
      columns: seen('datum', 'datum_hash'),
      key: ['datum_hash'],
      indexes: ['height'],
    },
    {
      name: 'scripts',
      doc: 'Scripts by hash, where the store keeps them (utxo.scripts)',
      columns: seen('script', 'script_hash'),
      key: ['script_hash'],
      indexes: ['height'],
    },
  ];
}

/** A type as it stands in CREATE TABLE. */
export function columnType({ type }: SqlColumn): string {
  return type.endsWith('?') ? type.slice(0, -1) : `${type} NOT NULL`;
}

/** A type without what may be missing. */
export function bareType({ type }: SqlColumn): string {
  return type.replace('?', '');
}

/** The shapes of what the API says of transactions and of what happened to owners (`query/json.ts` has the documents). */
import Type, { type TProperties, type TSchema } from 'typebox';

const closed = { additionalProperties: false } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });
const amount = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description });
const hex = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})*$', description });
const txHash = Type.String({ pattern: '^[0-9a-f]{64}$', description: 'Its id.' });

const Redeemer = Type.Object(
  {
    purpose: Type.String({ description: 'spend, mint, certificate, withdrawal, vote or proposal.' }),
    index: count('Which of the inputs, policies, ... it is for, as the ledger sorts them.'),
    data: hex('CBOR of what the script is given.'),
    memory: amount('Memory it may use.'),
    steps: amount('Steps it may take.'),
  },
  closed,
);

const Input = Type.Union([Type.Ref('Utxo#'), Type.Object({ tx_hash: txHash, output_index: count('Its number.') }, closed)], {
  description: 'The output that is named; only its name where it was forgotten.',
});

const Minted = Type.Object(
  {
    unit: hex('Policy and name joined.'),
    policy_id: hex('Its policy.'),
    asset_name: hex('Its name.'),
    quantity: Type.String({ pattern: '^(0|-?[1-9][0-9]*)$', description: 'How much.' }),
  },
  closed,
);

const AssetSummary = Type.Object(
  {
    unit: hex('Policy and name joined.'),
    policy_id: hex('Its policy.'),
    asset_name: hex('Its name.'),
    quantity: amount('How much there is in all unspent outputs together.'),
    utxo_count: count('Unspent outputs that hold it.'),
    holder_count: count('Addresses that hold it.'),
    holders: Type.Array(Type.Object({ owner_addr: Type.String(), quantity: amount('How much it holds.') }, closed), {
      description: 'Those that hold most, most first.',
    }),
  },
  { ...closed, description: 'An asset as a whole.' },
);

function rollbackReport(coin: TProperties, valid: TSchema): TSchema {
  const block = { block: count('The height of the block it was in.'), block_hash: hex('The hash of that block.') };
  const after = Type.Object(
    {
      state: Type.String({
        description: '`in_block`: in a block of the new chain; `waiting`: in none, and may come back; `lost`: it cannot.',
      }),
      block: Type.Optional(count('The height of its block now.')),
      block_hash: Type.Optional(hex('The hash of that block.')),
      because: Type.Optional(Type.String({ description: 'Why it is lost.' })),
      instead: Type.Optional(Type.String({ pattern: '^[0-9a-f]{64}$', description: 'The transaction that took its place.' })),
    },
    closed,
  );
  const transaction = Type.Object(
    {
      tx_hash: txHash,
      valid,
      ...block,
      output_count: count('Outputs it had made.'),
      ...coin,
      outputs: Type.Array(Type.Ref('Utxo#'), { description: 'The first of them, as they stood.' }),
      after,
    },
    closed,
  );
  return Type.Object(
    {
      time: Type.Number({ description: 'When the server saw it, in Unix milliseconds.' }),
      to: Type.Union([Type.Ref('Point#'), Type.Null()], { description: 'The newest block that both chains have; null: the origin.' }),
      undone: count('Blocks that were undone.'),
      blocks: Type.Array(Type.Ref('Block#'), { description: 'Those, newest first; the first of them where there were many.' }),
      transactions: Type.Array(transaction, { description: 'Of those blocks, newest first.' }),
      partial: Type.Boolean({ description: 'Some transactions are left out: there were too many, or their block was pruned.' }),
    },
    { ...closed, description: 'A rollback, and what became of what it took away.' },
  );
}

/** `place`: what every document says of where something stands. */
export function historyComponents(place: TProperties): Readonly<Record<string, TSchema>> {
  const where = { tx_hash: txHash, tx_index: count('Its place in its block.'), ...place };
  const inputs = (description: string) => Type.Array(Input, { description });
  const OwnerTx = Type.Object(
    {
      ...where,
      received_outputs: count('Outputs it paid to the owner.'),
      received_amount: amount("What they are worth, in the chain's smallest unit."),
      spent_outputs: count('Outputs of the owner that it spent.'),
      spent_amount: amount('What they are worth.'),
    },
    { ...closed, description: 'A transaction, and what it did to the owner asked for.' },
  );
  const Transaction = Type.Object(
    {
      ...where,
      valid: Type.Boolean({ description: 'False: its scripts failed, and only its collateral was spent.' }),
      size: count('Bytes.'),
      fee: Type.Optional(amount('Lovelace paid; of an invalid one, its collateral.')),
      invalid_before: Type.Optional(amount('The first slot it may be in.')),
      invalid_hereafter: Type.Optional(amount('The first slot it may no longer be in.')),
      inputs: inputs('As written; spent, unless it is invalid.'),
      outputs: Type.Array(Type.Ref('Utxo#'), { description: 'That came into being; of an invalid one, the change of its collateral.' }),
      collateral_inputs: Type.Optional(inputs('Spent if it is invalid.')),
      total_collateral: Type.Optional(amount('Lovelace.')),
      reference_inputs: Type.Optional(inputs('Outputs it only looks at.')),
      mint: Type.Optional(Type.Array(Minted, { description: 'Assets it makes and, below zero, destroys.' })),
      required_signers: Type.Optional(Type.Array(hex('Hash of a key.'))),
      certificate_count: Type.Optional(count('Certificates.')),
      withdrawal_amount: Type.Optional(amount('Lovelace withdrawn from reward accounts.')),
      redeemers: Type.Optional(Type.Array(Redeemer)),
      auxiliary_data: Type.Optional(hex('CBOR: metadata, scripts.')),
      cbor: hex('The transaction as it was submitted.'),
    },
    { ...closed, description: 'A transaction of Cardano with everything it names.' },
  );
  const coin = {
    lovelace_amount: Type.Optional(amount('Lovelace. Cardano.')),
    satoshi_amount: Type.Optional(amount('Satoshi. Bitcoin family.')),
  };
  const valid = Type.Boolean({ description: 'False: its scripts failed, and only its collateral was spent.' });
  const NewestTx = Type.Object(
    { ...where, valid, output_count: count('Outputs it made.'), ...coin },
    {
      ...closed,
      description: 'A transaction with what it made; the amount is left out where there are very many outputs, or one was forgotten.',
    },
  );
  const AssetMint = Type.Object(
    {
      ...where,
      transfers: count('Transactions that it was followed back through.'),
      auxiliary_data: Type.Optional(hex('CBOR that came with the mint: metadata, scripts.')),
    },
    { ...closed, description: 'A transaction that minted an asset.' },
  );
  return { OwnerTx, Transaction, NewestTx, AssetMint, AssetSummary, RollbackReport: rollbackReport(coin, valid) };
}

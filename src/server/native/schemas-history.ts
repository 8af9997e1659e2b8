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
  return { OwnerTx, Transaction };
}

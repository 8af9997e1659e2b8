/** The shapes of the MPFS API's answers, for the OpenAPI document. Bytes are hex. */
import Type from 'typebox';

const hex = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})*$', description });

export const TOKEN_PATH = Type.Object({
  id: Type.String({
    minLength: 1,
    maxLength: 120,
    pattern: '^([0-9a-fA-F]{2})*$',
    description: 'A token: the name of its asset in hex, or policy and name joined.',
  }),
});

export const KEY_PATH = Type.Object({
  ...TOKEN_PATH.properties,
  key: Type.String({ pattern: '^([0-9a-fA-F]{2})*$', description: 'A key of its trie, in hex.' }),
});

export const OUTPUT_PATH = Type.Object({
  tx: Type.String({ pattern: '^[0-9a-fA-F]{64}$', description: 'The id of a transaction.' }),
  index: Type.Integer({ minimum: 0, maximum: 0xffff_ffff, description: 'The number of the output.' }),
});

export const HEX_ADDRESS = Type.String({ pattern: '^([0-9a-fA-F]{2}){29,128}$', description: 'The address that pays, in hex.' });

/** What the node says, which nothing proves. */
const Parameters = Type.Object({
  verified: Type.Boolean({ description: 'Always false: nothing proves them.' }),
  cbor: hex('As a Conway ledger answers them, cost models included.'),
});
export const EvalContext = Type.Object({
  protocol_parameters: Parameters,
  system_start_cbor: hex('When the chain began.'),
  epoch_size: Type.Integer({ description: 'Slots of an epoch, since Shelley.' }),
  slot_length_ms: Type.Integer(),
  era_history_cbor: hex('The eras up to now.'),
  trusted: Type.Boolean({ description: 'That the server vouches for it.' }),
  trust_assumption: Type.String(),
});
/** What answers under /facts have in common. */
export const Facts = Type.Object({ protocol_parameters: Type.Union([Parameters, Type.Null()]) }, { additionalProperties: true });

const Ref = Type.Object({ tx_id: hex('The id of its transaction.'), tx_ix: Type.Integer({ minimum: 0 }) });

export const Snapshot = Type.Object({
  utxo_root: Type.Union([hex('Root of the tree over the unspent set.'), Type.Null()]),
  chainpoint: Type.Union([
    Type.Object({ slot: Type.Integer(), block_id: hex('The hash of the block.') }),
    Type.Null({ description: 'Before the first block.' }),
  ]),
});

export const Output = Type.Object({
  utxo: Type.Object({ tx_in: Ref, tx_out: hex('The output in CBOR.'), utxo_proof: hex('That it is unspent, in CBOR.') }),
});

export const OutputSet = Type.Object({
  entries: Type.Array(Type.Object({ ref: Ref, txout_cbor: hex('The output in CBOR.') })),
  completeness_proof: hex('That there are no others, in CBOR.'),
});

const Fact = Type.Object({ mpf_proof: hex('Presence or absence of the key, in CBOR.'), state: Output });

export const TokensAnswer = Type.Object({ snapshot: Snapshot, tokens: OutputSet });
export const TokenAnswer = Type.Object({ snapshot: Snapshot, state: Output });
export const RootAnswer = hex('A root.');
export const FactsAnswer = Type.Object({
  snapshot: Snapshot,
  state: Output,
  facts: Type.Array(Type.Object({ key: hex('Its key.'), value: hex('Its value.') })),
});
export const FactAnswer = Type.Object({ snapshot: Snapshot, value: hex('Its value.'), fact: Fact });
export const ProofAnswer = Type.Object({ snapshot: Snapshot, fact: Fact });
export const RequestsAnswer = Type.Object({ snapshot: Snapshot, requests: Type.Array(Output), request_set: OutputSet });
export const OutputAnswer = Type.Object({ snapshot: Snapshot, utxo: Output.properties.utxo });
export const StatusAnswer = Type.Object({
  tip_slot: Type.Union([Type.Integer(), Type.Null()]),
  tip_block_id: Type.Union([hex('Not told by every source.'), Type.Null()]),
  checkpoint_slot: Type.Union([Type.Integer(), Type.Null()]),
  checkpoint_block_id: Type.Union([hex('The hash of the newest block.'), Type.Null()]),
  utxo_root: Type.Union([hex('Root of the tree over the unspent set.'), Type.Null()]),
});
export const Submitted = Type.Object({ txId: hex('The id of the transaction.') });

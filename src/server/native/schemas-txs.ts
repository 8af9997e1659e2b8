/** The shapes of what the API says of the records of transactions. */
import Type from 'typebox';

const closed = { additionalProperties: false } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = (schema: Type.TSchema) => Type.Union([schema, Type.Null()]);
const text = (description: string) => Type.String({ description });
const txId = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });

const Blocked = Type.Object(
  {
    tx_id: txId('The record that is due.'),
    since: count('The height at which it was due.'),
    reason: text(
      'Why it stays: child_unmined, child_recent, child_missing, child_conflicting, read_error, changed, unspent_slot, referenced or preserved.',
    ),
    child: orNull(txId('The first spender that stands in the way.')),
  },
  closed,
);

export const BlockedTxs = Type.Array(Blocked, { description: 'Due longest first.' });

const Pass = Type.Object(
  {
    height: count('The height it was asked for.'),
    end: text('completed, timeout, aborted, skipped or cancelled.'),
    reason: orNull(text('Why it was skipped.')),
    deleted: count('Records it deleted.'),
    kept: count('Records that were due and stayed.'),
    error: orNull(text('Why it was aborted.')),
  },
  closed,
);

export const TxsStatus = Type.Object(
  {
    retention: count('Blocks until a record that is of no more use is looked at (`txs.retention`); 0: nothing is deleted.'),
    window: count('Blocks that must lie on every spender.'),
    state: Type.Union(
      ['ok', 'at_risk', 'behind'].map((state) => Type.Literal(state)),
      { description: '`at_risk`: passes take nearly as long as blocks. `behind`: they do not keep up.' },
    ),
    place: Type.Union(
      ['embedded', 'sqlite', 'postgres'].map((place) => Type.Literal(place)),
      { description: 'Where the records rest: in the engine of the store, or in a database that is fed with its blocks.' },
    ),
    height: count('Of the block that the records are at.'),
    feed_failure: orNull(text('Why the database of the records does not answer; it is asked again.')),
    consumers: Type.Array(
      Type.Object(
        {
          name: text('Who takes in the blocks of the store.'),
          height: count('Up to which it has stored them; 0: nothing yet.'),
          allows: orNull(count('The height up to which records may go because of it; null: it limits nothing.')),
        },
        closed,
      ),
    ),
    records: count('Records there are.'),
    bytes: count('That they take on disk.'),
    due: count('Records that are due.'),
    lag_blocks: count('Heights since the last complete pass.'),
    completed: count('The height of the last complete pass; 0: none.'),
    pruned_height: count('The highest height for which something was deleted; 0: nothing was.'),
    oldest_blocked_age: count('Blocks since the record that is blocked longest was due.'),
    blocked: BlockedTxs,
    last_pass: orNull(Pass),
    counters: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), {
      description: 'Since the process started, as the metrics have them.',
    }),
  },
  { ...closed, description: 'Records of transactions; null where none are kept (`txs.store`).' },
);

const Output = Type.Object(
  {
    output_index: count('Its number.'),
    amount: Type.String({ pattern: '^(0|[1-9][0-9]*)$', description: 'In the smallest unit.' }),
    script: Type.String({ pattern: '^([0-9a-f]{2})*$', description: 'That owns it.' }),
    state: Type.Union(['unspent', 'spent', 'frozen', 'unspendable'].map((state) => Type.Literal(state))),
    spent_by: orNull(Type.Object({ tx_id: txId('Who spends it.'), input_index: count('With which input.') }, closed)),
  },
  closed,
);

export const TxRecordShape = Type.Object(
  {
    tx_id: txId('Its id.'),
    state: Type.Union(
      ['mined', 'unmined', 'conflicting'].map((state) => Type.Literal(state)),
      { description: '`conflicting`: it lost against another one.' },
    ),
    blocks: Type.Array(
      Type.Object(
        { hash: txId('Of the block.'), height: count('Its height.'), tx_index: count('The place in it.'), best_chain: Type.Boolean() },
        closed,
      ),
    ),
    unmined_since: orNull(count('The height since when no block of the best chain holds it.')),
    coinbase: Type.Boolean(),
    inputs: Type.Array(Type.Object({ tx_id: txId('Whose output.'), output_index: count('Which one.') }, closed)),
    outputs: Type.Array(Output),
    delete_at_height: orNull(count('From this height on it is looked at for deletion.')),
    preserve_until: orNull(count('It stays at least until this height.')),
    locked: Type.Boolean(),
    conflicting_children: Type.Array(txId('A loser that also spends an output of it.')),
    pruned_children: Type.Array(
      Type.Object({ tx_id: txId('A spender whose record was deleted.'), pruned_at: count('At this height.') }, closed),
    ),
  },
  closed,
);

/**
 * The shapes of what the server says about itself: status, engine, health and
 * readiness. These are no reads of the chain and are apart from `schemas.ts`.
 */
import Type from 'typebox';
import { ref } from './schemas.ts';
import { TxsStatus } from './schemas-txs.ts';

const closed = { additionalProperties: false } as const;
const count = (description: string) => Type.Integer({ minimum: 0, description });
const orNull = (schema: Type.TSchema) => Type.Union([schema, Type.Null()]);
const text = (description: string) => Type.String({ description });

const Tip = Type.Object(
  {
    height: count('Height of our newest block.'),
    slot: count('Its slot.'),
    hash: text('Its hash.'),
    epoch: Type.Optional(count('Its epoch. Cardano.')),
    block_time: Type.Optional(Type.Number({ description: 'Unix seconds.' })),
    era: Type.Optional(text('Its era. Cardano.')),
  },
  closed,
);

const Rollback = Type.Object(
  { time: Type.Number({ description: 'Unix milliseconds.' }), to: orNull(ref('Point')), undone: count('Blocks undone.') },
  closed,
);

const Following = Type.Object(
  {
    state: Type.Union(['idle', 'connecting', 'following', 'waiting', 'stopped'].map((state) => Type.Literal(state))),
    source: orNull(text('Where blocks come from.')),
    peer: orNull(text('Who sends them.')),
    version: orNull(text('Of the protocol.')),
    source_tip: orNull(Type.Object({ slot: count('Of the newest block of the source.'), height: orNull(count('Its height.')) }, closed)),
    blocks: count('Applied since the process started.'),
    txs: count('In them.'),
    bytes: count('Of them.'),
    created: orNull(count('Outputs created; null where the store keeps none.')),
    spent: orNull(count('Outputs spent; null where the store keeps none.')),
    undone: count('Blocks undone.'),
    pruned_keys: orNull(count('Spent outputs pruned; null where the store keeps none.')),
    pruned_deltas: count('Undo records pruned.'),
    queued: count('Blocks that wait to be applied.'),
    rollbacks: Type.Array(Rollback, { description: 'The last ones, newest last.' }),
    fills: Type.Array(Type.Object({ projection: Type.String(), done: Type.Number({ minimum: 0, maximum: 1 }) }, closed)),
    connections_lost: count('Since the process started.'),
    refusals: count('Times since the last block that what the peer had sent was refused; several in a row mean that following is stuck.'),
    last_error: orNull(text('What went wrong last.')),
  },
  closed,
);

const Cage = Type.Object(
  {
    tokens: count('Tokens there are.'),
    requests: count('Requests that wait.'),
    diverged: count('Tokens that give no proofs, because their trie is not the one whose root is on chain.'),
    diverged_tokens: Type.Array(Type.Object({ token: text('`POLICY.NAME` in hex.'), status: text('What is wrong with it.') }, closed), {
      description: 'The first of those.',
    }),
    malformed: count('Outputs whose datum should be one of a cage and is not.'),
    gone: count('Requests that were spent in a way that the scripts do not allow.'),
  },
  { ...closed, description: 'What is known of cages; null where none are followed (`cage.enabled`).' },
);

const Copy = Type.Object(
  {
    name: orNull(text('Its URL, without a password.')),
    change: count('Number of the published change that is read.'),
    newest_change: orNull(count('The newest that is known.')),
    published_at: orNull(Type.Number({ description: 'When the change that is read was published, in Unix seconds.' })),
    reads: count('Reads since the process started.'),
    repeats: count('Times that one was run again when its rows had come.'),
    sleeps: count('Times that the thread slept for rows.'),
    statements: count('Statements of the database.'),
    rows: count('Rows that came from it.'),
    cache_bytes: count('Of rows of this change that are kept here.'),
  },
  { ...closed, description: 'The published copy that is read from; absent where the store is open here.' },
);

const Wallets = Type.Object(
  {
    state: Type.Union(
      ['following', 'failed', 'stopped'].map((state) => Type.Literal(state)),
      { description: '`failed`: their database or the store refuses, and that is tried again. `stopped`: no waiting mends it.' },
    ),
    height: orNull(count('Of the newest block that they have; null: none.')),
    blocks: count('That came to them, or went, since the process started.'),
    block_seconds: Type.Number({ description: 'That those took in their database.' }),
    failures: count('Times that feeding them failed.'),
    last_error: orNull(text('Why they are not fed.')),
  },
  { ...closed, description: 'How the wallets beside the store are fed; null: none are.' },
);

const Publishing = Type.Object(
  {
    target: text('The copy.'),
    form: Type.Union([Type.Literal('columns'), Type.Literal('sql')]),
    state: Type.Union(
      ['connecting', 'waiting', 'catching-up', 'loading', 'publishing', 'unreachable', 'stopped'].map((state) => Type.Literal(state)),
      {
        description: '`waiting`: another publisher leads. `catching-up`: the store is far behind its chain, and a copy that begins waits.',
      },
    ),
    epoch: count('Of the leader.'),
    seq: count('Number of the last change.'),
    height: orNull(count('Of the copy; null: the origin, or nothing is published.')),
    lag: count('Blocks that the store is ahead of the copy.'),
    blocks: count('Published since the process started.'),
    undone: count('Blocks undone in the copy.'),
    rows: count('Rows put and deleted.'),
    bytes: count('Of them.'),
    snapshots: count('Times that the copy began anew.'),
    commits: count('Transactions.'),
    commit_seconds: Type.Number({ description: 'Of the newest.' }),
    commit_seconds_sum: Type.Number({ description: 'Of all.' }),
    last_error: orNull(text('What went wrong last.')),
  },
  { ...closed, description: 'How publishing to a copy elsewhere is doing (`publish.to`); null: nothing is published from here.' },
);

export const Status = Type.Object(
  {
    version: text('Of this server.'),
    network: text('Its name.'),
    family: Type.String({ description: 'The family of that network, as proofs name it.' }),
    healthy: Type.Boolean(),
    ready: Type.Boolean(),
    reason: orNull(text('Why it is not healthy, or not ready.')),
    tip: orNull(Tip),
    lag_blocks: orNull(count('Blocks behind the source; null where it does not say.')),
    lag_slots: orNull(count('Slots behind the source.')),
    horizon: orNull(ref('Point')),
    pruned: Type.Object(
      {
        spent_outputs: Type.Integer({ minimum: -1, description: 'Height up to which spent outputs are forgotten; -1: none.' }),
        deltas: Type.Integer({ minimum: -1, description: 'Height up to which undo records are forgotten; -1: none.' }),
      },
      closed,
    ),
    utxos: orNull(count('Unspent outputs; null: the store keeps none (`utxo.enabled` is off).')),
    value: orNull(Type.String({ pattern: '^[0-9]+$', description: 'What they are worth, in the smallest unit of the chain.' })),
    unit: text('The name of that unit.'),
    coin: text('What people call the coin: `ada`, `BTC`, `LTC`.'),
    missing_inputs: orNull(count('Inputs from before the first block, of a store that began in the middle.')),
    mempool: Type.Optional(count('Transactions known that are in no block yet. Absent: no mempool is kept.')),
    partial: Type.Boolean({ description: 'It began in the middle of the chain, and not with a snapshot.' }),
    snapshot: orNull(ref('Point')),
    mmr: orNull(
      Type.Object(
        { size: count('Nodes of the mountain range over all outputs.'), root: Type.String({ pattern: '^[0-9a-f]{64}$' }) },
        { ...closed, description: 'With the merged root; null where none is kept.' },
      ),
    ),
    cage: orNull(Cage),
    txs: orNull(TxsStatus),
    publishing: orNull(Publishing),
    wallets: orNull(Wallets),
    shapes: Type.Array(Type.String(), { description: 'What it answers in besides this API.' }),
    projections: Type.Array(Type.String(), { description: 'What the store keeps.' }),
    settings: Type.Record(Type.String(), Type.Union([Type.Boolean(), Type.Integer(), Type.String()]), {
      description: 'The settings in force that say what is kept, how far back, and how it is pruned and applied.',
    }),
    copy: Type.Optional(Copy),
    following: Following,
    bytes: count('On disk.'),
    keys: Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description: 'Rows of each column, as the engine estimates them.' }),
    streams: count('Answers being streamed.'),
    refresh_seconds: count('Seconds after which it is worth asking again (`status.refreshSeconds`).'),
  },
  closed,
);

const properties = Type.Record(Type.String(), Type.String(), { description: 'In its own words.' });

export const EngineStatus = Type.Object(
  {
    column: Type.Optional(text('The column asked for.')),
    bytes: count('On disk.'),
    properties,
    columns: Type.Optional(Type.Array(Type.Object({ name: Type.String(), bytes: count('On disk.') }, closed))),
  },
  closed,
);

export const Health = Type.Object(
  {
    healthy: Type.Boolean(),
    reason: orNull(Type.String()),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'What is wrong without stopping anything; left out where nothing is.' }),
    ),
  },
  closed,
);

export const Ready = Type.Object(
  { ready: Type.Boolean(), reason: orNull(Type.String()), lag_blocks: orNull(count('Blocks behind the source.')) },
  closed,
);

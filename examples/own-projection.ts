/**
 * A projection of one's own: the largest outputs of the chain, in an index that
 * is written in each block's batch and undone with it. It is a function of the
 * unspent set, so one body serves both directions, and a store that has blocks
 * already can fill it.
 */
import { open } from 'unspent';
import { type Batch, type Coin, outpointIndex, outpointTxId, type ProjectionEntry, readStored, type Step } from 'unspent/contracts';
import { openDevnet } from 'unspent/sources';

const COLUMN = 'largest';
const LEAST = 1_000_000_000n;

/** Ordered by value: the value in 8 bytes, then the outpoint. */
function keyOf(coin: Coin): Uint8Array | null {
  const { value } = readStored(coin.bytes, coin.at);
  if (value < LEAST) return null;
  const key = Buffer.alloc(8 + 36);
  key.writeBigUInt64BE(value);
  key.set(coin.keyBytes.subarray(coin.keyAt, coin.keyAt + 36), 8);
  return key;
}

function move({ added, removed }: Step, batch: Batch): void {
  for (const key of removed.map(keyOf)) if (key !== null) batch.del(COLUMN, key);
  for (const key of added.map(keyOf)) if (key !== null) batch.put(COLUMN, key, new Uint8Array());
}

const largest: ProjectionEntry = {
  name: 'largest',
  from: 'outputs',
  make: () => ({
    name: 'largest',
    columns: [{ name: COLUMN, access: 'order', weight: 1 }],
    fillable: 'exact',
    apply(step, _view, batch) {
      move(step, batch);
      return undefined;
    },
    revert: (step, _undo, _view, batch) => move(step, batch),
  }),
};

const source = openDevnet('devnet:?blocks=300');
const store = await open({ data: './own-data', network: 'devnet', genesis: source.genesis, projections: [largest] });
await store.follow(source);

const view = store.view();
for (const [key] of view.rowsOf('largest').scan(COLUMN, { reverse: true, limit: 3 })) {
  const outpoint = `${Buffer.from(outpointTxId(key, 8)).toString('hex')}#${outpointIndex(key, 8)}`;
  console.log(outpoint, view.utxo(outpoint)?.lovelace_amount, 'lovelace');
}
view.release();

// Undone with its blocks: the index is what it was.
store.rollback('height:100');
const before = store.view();
console.log([...before.rowsOf('largest').scan(COLUMN)].length, 'outputs of', LEAST, 'lovelace or more at height', before.head?.height);
before.release();
await store.close();

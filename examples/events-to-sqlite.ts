/**
 * Keeps a table of balances in SQLite, exactly once for every block, across
 * rollbacks and restarts: the position of an event is stored in the same
 * transaction as what was made of the event.
 */
import { DatabaseSync } from 'node:sqlite';
import { type BlockEventJson, open, type UtxoJson } from 'unspent';
import { openDevnet } from 'unspent/sources';

const database = new DatabaseSync('./balances.sqlite');
database.exec(`
  CREATE TABLE IF NOT EXISTS balance (address TEXT PRIMARY KEY, lovelace INTEGER NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS progress (only INTEGER PRIMARY KEY CHECK (only = 1), position TEXT NOT NULL) STRICT;
`);
const readPosition = database.prepare('SELECT position FROM progress');
const writePosition = database.prepare('INSERT INTO progress VALUES (1, ?) ON CONFLICT DO UPDATE SET position = excluded.position');
const add = database.prepare('INSERT INTO balance VALUES (?, ?) ON CONFLICT DO UPDATE SET lovelace = lovelace + excluded.lovelace');

function takeIn({ kind, created, spent, position }: BlockEventJson): void {
  const move = (utxos: readonly UtxoJson[], sign: bigint): void => {
    for (const { owner_addr = '', lovelace_amount = '0' } of utxos) add.run(owner_addr, sign * BigInt(lovelace_amount));
  };
  database.exec('BEGIN');
  // To undo a block is to take in the opposite of it.
  move(created, kind === 'applied' ? 1n : -1n);
  move(spent, kind === 'applied' ? -1n : 1n);
  writePosition.run(position);
  database.exec('COMMIT');
}

const source = openDevnet('devnet:?blocks=900');
const store = await open({ data: './events-data', network: 'devnet', genesis: source.genesis });

/** Takes in events until the table is at that height. On a real chain that is the life of the program. */
async function run(height: number): Promise<void> {
  const { position } = (readPosition.get() ?? { position: 'origin' }) as { position: string };
  const counts = { applied: 0, undone: 0 };
  for await (const event of store.events({ after: position })) {
    // Only if blocks it had taken in were undone while it was not reading: what they did is not stored any more.
    if (event.kind === 'rollback') throw new Error(`begin the table anew from height ${event.to?.height ?? 'none'}`);
    takeIn(event);
    counts[event.kind]++;
    if (event.kind === 'applied' && event.block.height >= height) break;
  }
  console.log(`${counts.applied} blocks applied, ${counts.undone} undone`);
}

// The program stops in the middle, and comes back where it was.
await store.follow(source, { until: { kind: 'height', height: 600 } });
await run(150);
await run(600);

// While it reads, the chain turns: blocks are undone and others take their place.
const reading = run(899);
store.rollback('height:580');
await store.follow(source);
await reading;

const select = database.prepare('SELECT address, lovelace FROM balance');
select.setReadBigInts(true);
const rows = select.all() as { address: string; lovelace: bigint }[];
const wrong = rows.filter(({ address, lovelace }) => store.balance(address).lovelace_amount !== lovelace.toString());
console.log(rows.length, 'balances,', wrong.length, 'of them wrong');
database.close();
await store.close();

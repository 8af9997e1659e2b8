/**
 * Serves a store over HTTP while it is followed, on a free port of loopback, and
 * asks it something.
 */
import { open } from 'unspent';
import { openDevnet } from 'unspent/sources';

const source = openDevnet('devnet:?blocks=300');
const store = await open({ data: './serve-data', network: 'devnet', genesis: source.genesis });
const served = await store.serve({ port: 0, follows: true });
console.log('listening on', served.url);

// Stays at the tip until it is told to stop; on a real chain that is the life of the program.
const stop = new AbortController();
const following = store.follow(source, { stay: true, signal: stop.signal });

const [address] = source.addresses;
for (let held = 0; held === 0; await new Promise((resolve) => setTimeout(resolve, 100))) {
  const answer = await fetch(new URL(`api/v1/addresses/${address}/balance`, served.url));
  const { utxo_count } = (await answer.json()) as { utxo_count: number };
  held = utxo_count;
  console.log(answer.status, address, 'has', held, 'unspent outputs');
}

stop.abort();
await following;
console.log('stopped at height', store.head?.height);
await store.close();

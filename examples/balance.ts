/**
 * Follows a chain and prints what an address holds: now, at each block, and at
 * an earlier one.
 *
 * Any source will do: `n2n://127.0.0.1:3001` of a Cardano node,
 * `p2p://127.0.0.1:8333` of a Bitcoin node. Here it is the embedded devnet, which
 * makes its own chain and needs no network.
 */
import { open } from 'unspent';
import { openDevnet } from 'unspent/sources';

const source = openDevnet('devnet:?blocks=300');
const [address] = source.addresses;

const store = await open({ data: './balance-data', network: 'devnet', genesis: source.genesis });
try {
  const { blocks, reason } = await store.follow(source, {
    onRollback: (to, undone) => console.log(`${undone} blocks were undone, back to height ${to?.height ?? 'none'}`),
  });
  console.log(`${blocks} blocks (${reason}); the head is`, store.head);

  // Each read of the store is of the block it is at.
  console.log(address, 'holds', store.balance(address).lovelace_amount, 'lovelace');

  // A page of its outputs, and the next one from where the first ended.
  const first = store.utxos(address, { limit: 2 });
  for (const { tx_hash, output_index, lovelace_amount } of first.utxos) console.log(`${tx_hash}#${output_index}`, lovelace_amount);
  if (first.next !== null) console.log('and', store.utxos(address, { after: first.next }).utxos.length, 'more');

  // A view is of one block, whatever the store does meanwhile. This one is of an earlier block.
  const then = store.view('height:100');
  try {
    console.log('at height', then.head?.height, 'it held', then.balance(address).lovelace_amount, 'lovelace');
  } finally {
    then.release();
  }

  // Blocks can be undone, exactly, down to the horizon.
  console.log(store.rollback('height:290'), 'blocks undone; now at height', store.head?.height);
} finally {
  await store.close();
}

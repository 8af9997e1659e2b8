/**
 * The life of a cage (the MPFS protocol of Cardano), from its first transaction
 * to a fact that somebody else verifies: a token is made, a fact is asked for and
 * applied, and a reader who trusts nothing but a root believes it.
 *
 * The node is `unspent devnet`, which runs no scripts. With a real one, its
 * socket and the scripts of a real deployment take their places.
 */
import { spawn } from 'node:child_process';
import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { open } from 'unspent';
import { addSignatures, openCage, type UnsignedTx } from 'unspent/cage';
import { networkFromGenesis, slotToTime } from 'unspent/cardano';
import { cage as verifier } from 'unspent/proofs';

// A node of one's own, with a wallet that has coins. Blocks come when it is told to make some.
const command = fileURLToPath(new URL('bin/unspent', import.meta.resolve('unspent/package.json')));
const flags = ['--socket', 'node.socket', '--port', '0', '--interval', '0', '--blocks', '5', '--genesis-out', 'genesis'];
const node = spawn(command, ['devnet', ...flags], { stdio: ['pipe', 'pipe', 'inherit'] });
const ended = new Promise((resolve) => node.once('exit', resolve));
for await (const line of createInterface(node.stdout)) if (line.startsWith('control')) break;
const read = (name: string): string => readFileSync(`genesis/${name}`, 'utf8');
const address = read('payment.addr').trim();
const seed = Buffer.from((JSON.parse(read('payment.skey')) as { cborHex: string }).cborHex.slice(4), 'hex');
const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
const signingKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
const verificationKey = createPublicKey(signingKey).export({ format: 'der', type: 'spki' }).subarray(-32);

// A store that follows it, and keeps cages and the tree that proves what is unspent.
const genesis = { byron: read('byron-genesis.json'), shelley: read('shelley-genesis.json') };
const settings = { 'cage.enabled': true, 'cage.deployments': 'devnet', 'proofs.csmt': true };
const store = await open({ data: './cage-data', network: 'devnet', genesis, settings });
const stop = new AbortController();
const following = store.follow('n2c:node.socket', { stay: true, signal: stop.signal });
const network = networkFromGenesis('devnet', genesis.byron, genesis.shelley);
// A devnet has a clock of its own: that of its blocks.
const cage = openCage(store, { node: 'n2c:node.socket', clock: () => 1000 * slotToTime(network, store.head?.slot ?? 0) });
await cage.indexer.waitForBlock(4);

async function send(what: string, { tx, id, fee }: UnsignedTx): Promise<void> {
  const signature = sign(null, Buffer.from(id, 'hex'), signingKey);
  const arrived = cage.indexer.waitForTx(await cage.submitter.submit(addSignatures(tx, [{ key: verificationKey, signature }])));
  node.stdin.write('mine 1\n');
  const { block } = await arrived;
  console.log(`${what}: in block ${block}, for ${fee} lovelace`);
}

const text = (words: string): Uint8Array => new TextEncoder().encode(words);
const options = { address, stateScript: Buffer.from('450101002499', 'hex') };
const terms = { tip: 1_000_000n, processTime: 600_000n, retractTime: 600_000n };
const boot = await cage.txBuilder.boot({ ...options, terms });
await send('a token', boot);
await send('a request', await cage.txBuilder.request(boot.token, text('answer'), { type: 'insert', value: text('42') }, options));
await send('an update', await cage.txBuilder.update(boot.token, options));

// A reader asks the server for the fact, and believes it because it leads to a root that it has from elsewhere.
const served = await store.serve({ port: 0 });
const [policy, name] = boot.token.split('.');
const key = text('answer');
const path = `mpfs/tokens/${policy}${name}/facts/${Buffer.from(key).toString('hex')}`;
const answer: unknown = await (await fetch(new URL(path, served.url))).json();
const { csmt } = store.roots();
const deployment = verifier.parseCageDeployment(`v2:${policy}`);
const trusted = { root: Buffer.from(csmt ?? '', 'hex'), deployment, network: 'testnet' } as const;
const verdict = verifier.verifyFactAnswer(answer, trusted, Buffer.from(name, 'hex'), key);
console.log('verified:', verdict.ok ? `answer = ${new TextDecoder().decode(verdict.value)}` : verdict.why);

stop.abort();
await following;
await cage.close();
await store.close();
node.stdin.write('quit\n');
await ended;

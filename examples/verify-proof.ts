/**
 * Proves that an output is unspent, hands the proof over as JSON, and verifies it
 * with nothing but a root that the verifier trusts.
 */
import { open } from 'unspent';
import { documentFromText, documentToJson, verifyDocument } from 'unspent/proofs';
import { openDevnet } from 'unspent/sources';

const source = openDevnet('devnet:?blocks=300');
const [address] = source.addresses;

// The prover: a store that keeps the Merkle tree over the unspent set.
const store = await open({ data: './proof-data', network: 'devnet', genesis: source.genesis, settings: { 'proofs.csmt': true } });
await store.follow(source);
const { csmt } = store.roots();
const [utxo] = store.utxos(address, { limit: 1 }).utxos;
if (typeof csmt !== 'string') throw new Error('the tree over an empty set has no root');
const handedOver = JSON.stringify(documentToJson(store.proveOutput(`${utxo.tx_hash}#${utxo.output_index}`)));
await store.close();

// The verifier: no store, no network. It trusts the root, which it has from somewhere else than the prover.
const document = documentFromText(handedOver);
const trusted = { root: Buffer.from(csmt, 'hex'), network: 'devnet', family: 'cardano' } as const;
console.log(handedOver.length, 'bytes:', verifyDocument(document, trusted));

// Another root, another verdict.
const other = verifyDocument(document, { ...trusted, root: new Uint8Array(32) });
if (other.ok) throw new Error('a proof holds for one root only');
console.log('with another root:', other.why);

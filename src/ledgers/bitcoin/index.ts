/**
 * The ledger of the Bitcoin family: decode, index keys, and what no transaction
 * says (the output of the first block, and two coinbases that were overwritten,
 * are not in the set).
 */

import { sha256, sha256Into } from '../../crypto/sha256.ts';
import { ManyHashes } from '../../crypto/sha256-many.ts';
import { equalBytes } from '../../util/bytes.ts';
import { UnspentError } from '../../util/errors.ts';
import { type Block, type Create, KEY_BYTES, type Ledger, type OutputKeys, type OwnerKeyBatch } from '../ledger.ts';
import { Cursor } from './cursor.ts';
import { type BitcoinBlock, decodeBlock, headerHash, joinBlock, prevHashOf, readExtra, readFacts } from './decode.ts';
import { formatId, parseId } from './ids.ts';
import { bitcoinLeaf } from './leaf.ts';
import type { BitcoinNetwork } from './networks.ts';
import { saidHeight, verifyBody } from './proof.ts';
import { bitcoinSetHash } from './set-hash.ts';
import { readOutput } from './transaction.ts';

export { MUHASH_BYTES, MuHash } from '../../crypto/muhash.ts';
export { formatAddress, p2pkhScript, p2shScript, parseAddress } from './address.ts';
export { coreAsm, esploraAsm } from './asm.ts';
export { type CoinRecord, coinBytes, SerializedHash2, SerializedHash3, SetTotals } from './commitment.ts';
export { BitcoinBlock, decodeBlock, decodeTx, HEADER_BYTES, type Header, headerHash, joinBlock, readExtra, readHeader } from './decode.ts';
export { type DescribedOutput, type DescribedTx, describeOutput, describeTx, type TxInput, type TxOutput, txOutputs } from './describe.ts';
export { descriptorChecksum, descriptorOf, isDescriptorText } from './descriptor.ts';
export { genesisBlock } from './genesis.ts';
export { formatId, parseId } from './ids.ts';
export {
  BITCOIN_NETWORKS,
  type BitcoinNetwork,
  type BlockName,
  bitcoinNetwork,
  type GenesisFacts,
  type KeyVersions,
  type WorkRules,
} from './networks.ts';
export { merkleRoot, saidHeight } from './proof.ts';
export { coreType, esploraType, readScript, type Script } from './script.ts';
export { BitcoinTx, createOf, isUnspendable, OUTPUT_FLAG } from './transaction.ts';

/** A ledger that can be told where a block stands, because its blocks do not say so before BIP34. */
export interface BitcoinLedger extends Ledger {
  decode(raw: Uint8Array, height?: number): BitcoinBlock;
}

const VALUE_BYTES = 8;

export function bitcoinLedger(network: BitcoinNetwork): BitcoinLedger {
  const genesisHash = parseId(network.genesisHash);
  const overwritten = new Map(network.overwritten.map(({ height, hash }) => [height, parseId(hash)]));
  const repeated = new Map(network.overwritten.map(({ height, by }) => [by.height, { height, hash: parseId(by.hash) }]));
  return {
    family: 'bitcoin',
    hasSlots: false,
    keyKinds: ['address'],
    indexRows: 'id',
    formatId,
    traits: null,
    decode(raw, height = heightOf(raw, genesisHash)) {
      const block = decodeBlock(raw, height, network.mweb);
      const hash = overwritten.get(height);
      if (hash !== undefined && equalBytes(hash, block.hash)) block.txs[0].createsNothing = true;
      return block;
    },
    verify: (block, whole) => verifyBody(block as BitcoinBlock, network, whole),
    isFirst: (block) => block.height === 0,
    transition(before, block) {
      if (before === undefined && block.height === 0) checkFirst(network, genesisHash, block);
      return null;
    },
    readOutput: storedOutput,
    findKeys,
    ownerKey,
    ownerKeys,
    txBytes: (block) => (block as BitcoinBlock).txs.map(({ start, end }) => block.raw.subarray(start, end)),
    repeats(point) {
      const found = repeated.get(point.height);
      return found !== undefined && equalBytes(found.hash, point.hash) ? found.height : null;
    },
    headers: { inExtra: (extra) => readExtra(extra).header, read: readFacts },
    setHash: bitcoinSetHash,
    leaf: bitcoinLeaf,
    joinBlock,
    tailBytes: (block) => block.raw.subarray((block as BitcoinBlock).bodyEnd),
  };
}

/** The key of a script in the index: the first 28 bytes of what Electrum and Esplora call its script hash. */
export function scriptKey(script: Uint8Array): Uint8Array {
  return sha256(script).subarray(0, KEY_BYTES);
}

/** The height of a block that comes without one: the first block has 0, and from version 2 on the coinbase has it. */
function heightOf(raw: Uint8Array, genesisHash: Uint8Array): number {
  const hash = headerHash(raw);
  if (prevHashOf(raw) === null && equalBytes(hash, genesisHash)) return 0;
  const said = new Cursor(raw).u32() >= 2 ? saidHeight(raw) : null;
  if (said !== null) return said;
  const message = `block ${formatId(hash)} does not say its height: it must come with it`;
  throw new UnspentError('BLOCK_INVALID', message, { hash: formatId(hash) });
}

function checkFirst(network: BitcoinNetwork, genesisHash: Uint8Array, block: Block): void {
  if (equalBytes(block.hash, genesisHash)) return;
  const message = `block ${formatId(block.hash)} is not the first of '${network.name}', which is ${network.genesisHash}`;
  throw new UnspentError('NETWORK_WRONG', message, { hash: formatId(block.hash), network: network.name });
}

function storedOutput(raw: Uint8Array, start: number, end: number): Create {
  const c = new Cursor(raw, start, end);
  const create = readOutput(c, 0, 0);
  if (c.left > 0) c.fail('bytes after the end of the output');
  return create;
}

/** There is one kind of owner: the script. */
function findKeys(raw: Uint8Array, { addressStart, addressEnd }: Create, keys: OutputKeys): void {
  keys.onlyOwner();
  sha256Into(raw, addressStart, addressEnd, keys.made, 0, KEY_BYTES);
}

/** SHA-256 of the script, which stands behind the value. */
function ownerKey(raw: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void {
  const c = scriptOf(raw, start, end);
  sha256Into(raw, c.start, c.stop, to, at, KEY_BYTES);
}

function ownerKeys(): OwnerKeyBatch {
  const hashes = new ManyHashes(false, KEY_BYTES);
  return {
    ownerKey(raw, start, end, to, at) {
      const c = scriptOf(raw, start, end);
      hashes.add(raw, c.start, c.stop, to, at);
    },
    finish: () => hashes.finish(),
    clear: () => hashes.clear(),
  };
}

/** The run that the cursor has passed is the script of the output. */
function scriptOf(raw: Uint8Array, start: number, end: number): Cursor {
  const c = new Cursor(raw, start + VALUE_BYTES, end);
  c.span();
  return c;
}

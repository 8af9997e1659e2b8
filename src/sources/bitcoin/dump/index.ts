/**
 * A node's own dump as an unspent set that a store can begin with. A dump names
 * its block by hash only; a node, or whoever calls, adds the header and what the
 * set has to hash to. Nothing else in the file protects it, so without such a
 * hash it is not read at all.
 */
import { createHash } from 'node:crypto';
import { readHeader } from '../../../ledgers/bitcoin/decode.ts';
import {
  type BitcoinNetwork,
  type CoinRecord,
  formatId,
  HEADER_BYTES,
  headerHash,
  OUTPUT_FLAG,
  SerializedHash2,
  SerializedHash3,
} from '../../../ledgers/bitcoin/index.ts';
import { outpointIndex, outpointTxId } from '../../../ledgers/outpoint.ts';
import { equalBytes, fromHex, isHex } from '../../../util/bytes.ts';
import { BEGINS_ANEW, UnspentError } from '../../../util/errors.ts';
import type { NodeOutput, NodeSet, NodeSetOptions } from '../../node-set.ts';
import { HeaderRules } from '../header-rules.ts';
import { type DumpedBlock, dumpedBlock } from '../rpc/dumped-block.ts';
import { DumpFile } from './file.ts';

/** Throws USAGE, SNAPSHOT_INVALID, STORE_NETWORK, and what asking the node throws. */
export async function openDump(path: string, network: BitcoinNetwork, options: NodeSetOptions): Promise<NodeSet> {
  const file = new DumpFile(path, network);
  try {
    const { magic, blockHash, count } = file.head;
    if (magic !== null && magic !== network.magic) throw otherNetwork(path, magic, network);
    const block = await blockOf(blockHash, network, options);
    checkHeader(path, blockHash, block.header, network);
    const wanted = [options.hashSerialized, ...block.hashSerialized].filter((hash) => hash !== undefined);
    const setHash = options.setHash ?? block.muhash ?? null;
    if (wanted.length === 0 && setHash === null) throw nothingToCompare(path, options);
    const { header, height } = block;
    return {
      name: path,
      header,
      era: 0,
      height,
      count,
      setHash,
      lacks: 'place',
      batches: (signal) => checkedBatches(file, new SerializedHashes(blockHash, wanted), signal),
      close: async () => file.close(),
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

async function* checkedBatches(
  file: DumpFile,
  hashes: SerializedHashes,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly NodeOutput[], void, undefined> {
  for (const outputs of file.batches()) {
    if (signal?.aborted) throw new UnspentError('INTERRUPTED', 'interrupted between two parts of the dump', { advice: BEGINS_ANEW });
    hashes.add(outputs);
    yield outputs;
    // Signals and the progress line have their turn.
    await new Promise(setImmediate);
  }
  hashes.check(file.path);
}

async function blockOf(hash: Uint8Array, network: BitcoinNetwork, { node, header, signal }: NodeSetOptions): Promise<DumpedBlock> {
  if (node !== undefined) return dumpedBlock(node, network, hash, signal);
  if (header === undefined) {
    const how = `name a node that has the block (--node rpc://...), or give what 'getblockheader ${formatId(hash)} false' says (--header HEX)`;
    throw new UnspentError('USAGE', `a dump names its block ${formatId(hash)} only by its hash: ${how}`);
  }
  if (!isHex(header, HEADER_BYTES)) throw new UnspentError('USAGE', `--header takes the ${HEADER_BYTES} bytes of a block's header, in hex`);
  return { header: fromHex(header), height: null, hashSerialized: [] };
}

/** It is the header of that block, and has the work that it claims. */
function checkHeader(path: string, hash: Uint8Array, header: Uint8Array, network: BitcoinNetwork): void {
  if (!equalBytes(headerHash(header), hash))
    throw new UnspentError(
      'SNAPSHOT_INVALID',
      `${path} is of block ${formatId(hash)}, and the header is that of ${formatId(headerHash(header))}`,
    );
  readHeader(header);
  if (new HeaderRules(network).hasWork(header, hash)) return;
  throw new UnspentError(
    'SNAPSHOT_INVALID',
    `${path} is of block ${formatId(hash)}, which has not the work that it claims on '${network.name}'`,
  );
}

/** The older hashes of a set, where one of them is known. */
class SerializedHashes {
  private readonly wanted: readonly string[];
  private readonly hash2: SerializedHash2;
  private readonly hash3 = new SerializedHash3(createHash('sha256'));

  constructor(blockHash: Uint8Array, wanted: readonly string[]) {
    this.wanted = wanted;
    this.hash2 = new SerializedHash2(blockHash, createHash('sha256'));
  }

  add(outputs: readonly NodeOutput[]): void {
    if (this.wanted.length === 0) return;
    for (const output of outputs) {
      const coin = recordOf(output);
      this.hash2.add(coin);
      this.hash3.add(coin);
    }
  }

  /** Each that was given is one of the two. Throws SNAPSHOT_INVALID. */
  check(path: string): void {
    if (this.wanted.length === 0) return;
    const found = [formatId(this.hash2.digest()), formatId(this.hash3.digest())];
    for (const wanted of this.wanted) {
      if (found.includes(wanted.toLowerCase())) continue;
      const message = `the outputs in ${path} hash to ${found[0]} (hash_serialized_2) and ${found[1]} (hash_serialized_3), not to ${wanted}`;
      throw new UnspentError('SNAPSHOT_INVALID', message, { wanted, hash_serialized_2: found[0], hash_serialized_3: found[1] });
    }
  }
}

function recordOf({ bytes, keyAt, start, end, height, flags }: NodeOutput): CoinRecord {
  return {
    txId: outpointTxId(bytes, keyAt),
    index: outpointIndex(bytes, keyAt),
    height: height ?? 0,
    coinbase: (flags & OUTPUT_FLAG.coinbase) !== 0,
    output: bytes.subarray(start, end),
  };
}

function otherNetwork(path: string, magic: number, network: BitcoinNetwork): UnspentError {
  const message = `${path} is of a network with magic ${magic.toString(16)}, and '${network.name}' has ${network.magic.toString(16)}`;
  return new UnspentError('STORE_NETWORK', message, { magic, wanted: network.magic });
}

function nothingToCompare(path: string, { node }: NodeSetOptions): UnspentError {
  const why =
    node === undefined
      ? 'no hash was given'
      : 'the node has gone on since and keeps no index (coinstatsindex) that tells the hash of an earlier block';
  const how = `give what dumptxoutset or gettxoutsetinfo said then (--hash-serialized HEX, or --set-hash HEX for its muhash)`;
  return new UnspentError('USAGE', `nothing in ${path} shows that it is whole and right, and ${why}: ${how}`);
}

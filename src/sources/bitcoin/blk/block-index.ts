/**
 * Which blocks a folder holds and where: a tree of their headers, and for each
 * the place of its bytes. A block whose parent has not been seen waits for it;
 * one that is there twice counts once, and one whose header breaks the rules of
 * its network not at all. Of Litecoin the work itself is not checked: scrypt
 * over all headers would take longer than reading the files.
 */

import { prevHashOf } from '../../../ledgers/bitcoin/decode.ts';
import { type BitcoinNetwork, formatId, genesisBlock, headerHash } from '../../../ledgers/bitcoin/index.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { HeaderRules } from '../header-rules.ts';
import { HeaderTree, rootOf } from '../header-tree.ts';
import type { BlockRecord } from './records.ts';

export interface Place {
  readonly file: number;
  readonly offset: number;
  readonly length: number;
}

interface Waiting extends Place {
  readonly header: Uint8Array;
  readonly hash: Uint8Array;
}

const FIRST_ROOM = 1024;
const PREV_AT = 4;

export class BlockIndex {
  readonly tree: HeaderTree;
  private readonly network: BitcoinNetwork;
  private readonly rules: HeaderRules;
  private files = new Uint32Array(FIRST_ROOM);
  private offsets = new Float64Array(FIRST_ROOM);
  /** Of blocks in files; the root has none: it is built in. */
  private lengths = new Uint32Array(FIRST_ROOM);
  /** By the hash of the parent. */
  private readonly waiting = new Map<string, Waiting[]>();
  /** Blocks that wait for their parents. */
  orphans = 0;

  constructor(network: BitcoinNetwork) {
    this.network = network;
    this.rules = new HeaderRules(network);
    this.tree = new HeaderTree(rootOf(genesisBlock(network), 0));
  }

  /** Throws NETWORK_WRONG for the first block of another chain. */
  add({ header, offset, length }: BlockRecord, file: number): void {
    const hash = headerHash(header);
    if (prevHashOf(header) === null) this.checkFirst(hash, file);
    if (this.tree.find(hash) >= 0) return;
    const entry = { header, hash, file, offset, length };
    if (this.tree.find(header, PREV_AT) < 0) this.wait(entry);
    else if (this.link(entry) && this.waiting.size > 0) this.linkWaiting(hash);
  }

  place(number: number): Place {
    return { file: this.files[number], offset: this.offsets[number], length: this.lengths[number] };
  }

  /** Enters a block whose parent is here; false: its header breaks the rules. */
  private link({ header, hash, file, offset, length }: Waiting): boolean {
    if (!this.isAllowed(header, hash)) return false;
    const number = this.tree.add(header, hash);
    while (number >= this.files.length) this.grow();
    this.files[number] = file;
    this.offsets[number] = offset;
    this.lengths[number] = length;
    return true;
  }

  private isAllowed(header: Uint8Array, hash: Uint8Array): boolean {
    const { rules, tree, network } = this;
    if (rules.scheduleFault(tree, tree.find(header, PREV_AT), header) !== null) return false;
    return network.work.hash === 'scrypt' || rules.hasWork(header, hash);
  }

  private wait(entry: Waiting): void {
    const parent = toHex(entry.header, 4, 36);
    const others = this.waiting.get(parent);
    if (others?.some(({ hash }) => toHex(hash) === toHex(entry.hash))) return;
    if (others === undefined) this.waiting.set(parent, [entry]);
    else others.push(entry);
    this.orphans++;
  }

  /** Those that waited for this block, those that waited for them, and so on. */
  private linkWaiting(hash: Uint8Array): void {
    for (const parents = [hash]; parents.length > 0; ) {
      const parent = toHex(parents.pop() as Uint8Array);
      const children = this.waiting.get(parent) ?? [];
      this.waiting.delete(parent);
      this.orphans -= children.length;
      for (const child of children) if (this.link(child)) parents.push(child.hash);
    }
  }

  private checkFirst(hash: Uint8Array, file: number): void {
    const { name, genesisHash } = this.network;
    if (formatId(hash) === genesisHash) return;
    const message = `block file ${file} has the first block of another chain, ${formatId(hash)}; '${name}' begins with ${genesisHash}`;
    throw new UnspentError('NETWORK_WRONG', message, { network: name, hash: formatId(hash) });
  }

  private grow(): void {
    const room = 2 * this.files.length;
    const { files, offsets, lengths } = this;
    this.files = new Uint32Array(room);
    this.files.set(files);
    this.offsets = new Float64Array(room);
    this.offsets.set(offsets);
    this.lengths = new Uint32Array(room);
    this.lengths.set(lengths);
  }
}

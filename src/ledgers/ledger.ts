/**
 * The ledger contract: what a block says, in words every UTXO chain shares. A
 * ledger is pure: bytes in, views of those bytes out. It never reads a store
 * and never imports node:*.
 *
 * Rule for what runs for every block: positions into `raw` instead of copied
 * bytes, u32 halves instead of bigints. Documents for people are made with
 * `describe`.
 */
import type { Asset } from './asset.ts';

/** Kinds of 28-byte index key an output can have, in the order they stand in a stored value. */
export const KEY_KINDS = ['address', 'payment', 'stake'] as const;
/** A kind of owner that outputs are indexed by. */
export type KeyKind = (typeof KEY_KINDS)[number];
export const KEY_BYTES = 28;

/**
 * The index keys of one output. A key that stands in the output itself (a
 * credential inside an address) is named by its position; only one that is
 * made from it (a hash) is carried, so that no byte is stored twice.
 */
export class OutputKeys {
  /** One bit a kind that is there: 1 address, 2 payment, 4 stake. */
  mask = 0;
  /** By kind: where the key begins, counted from the output's first byte; 0: it is in `made`. */
  readonly places = new Uint32Array(KEY_KINDS.length);
  /** By kind, KEY_BYTES each. */
  readonly made = new Uint8Array(KEY_KINDS.length * KEY_BYTES);

  /** The owner's key alone is there, and it is made of the output. */
  onlyOwner(): void {
    this.mask = 1;
    this.places[0] = 0;
  }
}

/** Makes owners' keys for many outputs at once: they are where they are wanted when `finish` returns. */
export interface OwnerKeyBatch {
  /** As `Ledger.ownerKey`, but later. What is read may change meanwhile. */
  ownerKey(raw: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void;
  /** All that were asked for are written. */
  finish(): void;
  /** Those that are not written yet never are. */
  clear(): void;
}

/** Of what a block's row in the chain may carry for its ledger. */
export const BLOCK_EXTRA_BYTES_MAX = 96;

/** A block by its place and its hash. */
export interface Point {
  /** Blocks before it: the first has height 0. */
  readonly height: number;
  /** The chain's own clock; for chains without slots, the height. */
  readonly slot: number;
  /** Its hash, in the order of bytes that the chain itself uses. */
  readonly hash: Uint8Array;
}

/** An output that a transaction consumes: where its 32 id bytes stand in the block, and its index. */
export interface Spend {
  /** Where the id of the transaction that made the output begins in the block's bytes. */
  readonly at: number;
  /** Which of that transaction's outputs it is. */
  readonly index: number;
}

/** An output that comes into being. `start..end` are its bytes, exactly as they stood. */
export interface Create {
  /** Which of its transaction's outputs it is. */
  readonly index: number;
  /** Where its bytes begin. */
  readonly start: number;
  /** Where they end. */
  readonly end: number;
  /** Where its owner begins: a raw address, or a script. */
  readonly addressStart: number;
  /** Where its owner ends. */
  readonly addressEnd: number;
  /** The upper 32 bits of its value. */
  readonly valueHi: number;
  /** The lower 32 bits of its value. */
  readonly valueLo: number;
  /** Ledger-defined bits, kept in the stored header (see each ledger's `OutputFlag`). */
  readonly flags: number;
}

/** What a transaction does to the unspent set. */
export interface Tx {
  /** 32 bytes. */
  readonly id: Uint8Array;
  /** False: phase-2 invalid. Its `spends` and `creates` are then those of its collateral. */
  readonly valid: boolean;
  /** The outputs it consumes. */
  readonly spends: readonly Spend[];
  /** The outputs it makes. */
  readonly creates: readonly Create[];
}

/** A block, decoded: positions into its bytes instead of copies of them. */
export interface Block extends Point {
  /** Its bytes. */
  readonly raw: Uint8Array;
  /** Null where the chain says "none" (first block of some chains). */
  readonly prevHash: Uint8Array | null;
  /** A block that carries its predecessor's height (Cardano's Byron epoch boundary blocks). */
  readonly boundary: boolean;
  /** A number of the ledger's own; 0 where the chain has no eras. */
  readonly era: number;
  /** Its transactions, in its order. */
  readonly txs: readonly Tx[];
  /** What the ledger wants kept of it beside that, in its row of the chain: who made it, or its header. At most BLOCK_EXTRA_BYTES_MAX. */
  readonly extra: Uint8Array;
  /** The header as it stands: what the hash of the block is made from. Absent: `extra` carries it (`HeaderReader.inExtra`). */
  readonly headerBytes?: Uint8Array;
}

/** What the header of a block says of it, and its hash commits to. */
export interface HeaderFacts {
  /** The hash of the block. */
  readonly hash: Uint8Array;
  /** Null where the chain says "none". */
  readonly prevHash: Uint8Array | null;
  /** Null: such a header does not say where its block stands. */
  readonly place: { readonly height: number; readonly slot: number; readonly boundary: boolean } | null;
  /** As `Block.extra`, as far as a header tells. */
  readonly extra: Uint8Array;
}

/** How a ledger reads headers that stand alone. */
export interface HeaderReader {
  /** The header in what the row of a block carries; undefined: it is not there. */
  inExtra(extra: Uint8Array): Uint8Array | undefined;
  /** A header that stands alone, and nothing behind it. Throws BLOCK_INVALID, and NETWORK_WRONG where that era cannot be there. */
  read(header: Uint8Array, era: number): HeaderFacts;
}

/** What of the previous block a ledger needs to know to see a boundary. */
export interface PreviousBlock {
  /** Its era. */
  readonly era: number;
}

/** An output that no transaction of a block made: genesis. Bytes stand in their own buffer. */
export interface GenesisOutput {
  /** The id it goes by. */
  readonly txId: Uint8Array;
  /** Where it stands in `raw`. */
  readonly create: Create;
  /** The bytes it stands in. */
  readonly raw: Uint8Array;
}

/** What the ledger itself does to the state between two blocks, before the second one's transactions. */
export interface Transition {
  /** Outputs that come into being. */
  readonly grants: readonly GenesisOutput[];
  /** Unspent outputs that vanish: asked once for each output in the store. */
  readonly drops: ((raw: Uint8Array, start: number, end: number) => boolean) | null;
}

/** Told each asset of an output; its quantity is positive. */
export type AssetVisitor = (policy: Uint8Array, name: Uint8Array, quantity: bigint) => void;

/** What is known by its hash. */
export type WitnessKind = 'datum' | 'script';

/** Bytes that are known by their hash: a datum, or a script `[kind, script]`. */
export interface NamedBytes {
  /** What they are known by. */
  readonly hash: Uint8Array;
  /** The bytes themselves. */
  readonly bytes: Uint8Array;
}

/** Something that came with a transaction, by its index in the block. */
export interface Witness {
  /** The transaction it came with. */
  readonly txIndex: number;
  /** What it is. */
  readonly kind: WitnessKind;
  /** The bytes, and the hash they are known by. */
  readonly item: NamedBytes;
}

/**
 * What some chains' outputs carry besides an owner and a value. A ledger whose
 * outputs carry nothing has no traits, and the projections that need them are
 * not available there. `raw[start..end]` is an output as it stood in its block.
 */
export interface OutputTraits {
  /** Cheap, asked before the others: true when the output surely has neither assets nor datum nor script. */
  isPlain(raw: Uint8Array, start: number, end: number): boolean;
  /** Tells each asset of the output. */
  assets(raw: Uint8Array, start: number, end: number, visit: AssetVisitor): void;
  /** Of a datum hash or of an inline datum; null: none. */
  datumHash(raw: Uint8Array, start: number, end: number): Uint8Array | null;
  /** The datum in the output; null: none. */
  inlineDatum(raw: Uint8Array, start: number, end: number): NamedBytes | null;
  /** The same without its hash, which costs more than finding it. */
  datumBytes(raw: Uint8Array, start: number, end: number): Uint8Array | null;
  /** The script it carries for others to refer to; null: none. */
  referenceScript(raw: Uint8Array, start: number, end: number): NamedBytes | null;
  /** Datums and scripts (or only one of them) that transactions of the block bring along beside their outputs. Throws BLOCK_INVALID. */
  witnesses(block: Block, only?: WitnessKind): Iterable<Witness>;
  /** The hash that bytes of this kind are known by; `verify` uses it. Throws BLOCK_INVALID. */
  hashOf(kind: WitnessKind, bytes: Uint8Array): Uint8Array;
}

/** What a redeemer is for: an input that is spent, or a policy that mints. */
export type RedeemerPurpose = 'spend' | 'mint';

/** What the transactions of one block give to the scripts they run, by their index in the block. Read on demand. Throws BLOCK_INVALID. */
export interface ScriptData {
  /** Whether it makes or destroys anything of one of these policies. Cheap, asked before the others. */
  mints(txIndex: number, policies: readonly Uint8Array[]): boolean;
  /** What it makes (above 0) and destroys (below 0). */
  mint(txIndex: number): readonly Asset[];
  /**
   * The CBOR of a redeemer; null: the transaction has none there. `index` counts the inputs (sorted by outpoint) or the
   * policies of the mint (sorted).
   */
  redeemer(txIndex: number, purpose: RedeemerPurpose, index: number): Uint8Array | null;
}

/** An output as a member of the set: its outpoint at `keyBytes[keyAt..]` (`outpoint.ts`), `raw[start..end]` as it stood in its block. */
export interface SetMember {
  /** The bytes its outpoint stands in. */
  readonly keyBytes: Uint8Array;
  /** Where the outpoint begins in them. */
  readonly keyAt: number;
  /** The height of its block. */
  readonly height: number;
  /** The slot of its block. */
  readonly slot: number;
  /** The ledger's own (`Create.flags`). */
  readonly flags: number;
  /** The bytes the output stands in. */
  readonly raw: Uint8Array;
  /** Where the output begins in them. */
  readonly start: number;
  /** Where it ends. */
  readonly end: number;
}

/** A set on its way from one state to the next. */
export interface SetHashUpdate {
  /** The output is a member from now on. */
  add(member: SetMember): void;
  /** The output is no member any more. */
  remove(member: SetMember): void;
  /** Equal sets have equal states, whatever came and went in between. */
  state(): Uint8Array;
}

/** A hash of a set of outputs to which members can be added, and from which they can be taken, in any order. */
export interface SetHash {
  /** From a state that `state` gave; null: from the empty set. Throws STORE_DAMAGED. */
  from(state: Uint8Array | null): SetHashUpdate;
  /** The same for readers. Throws STORE_DAMAGED. */
  summary(state: Uint8Array | null): SetSummary;
}

/** A set in a few words. */
export interface SetSummary {
  /** 32 bytes in hex, the way people of this family write hashes. */
  readonly hash: string;
  /** A measure of its size that nodes of the Bitcoin family give beside it. */
  readonly bogosize?: number;
}

/**
 * How an output stands in the tree over the unspent set. `raw[start..end]` is an output as it stood in its block.
 */
export interface OutputLeaf {
  /** 32 bytes for an owner given as its bytes: a raw address, or a script. */
  ownerOf(bytes: Uint8Array, start?: number, end?: number): Uint8Array;
  /** The same of the owner of an output. */
  owner(raw: Uint8Array, start: number, end: number): Uint8Array;
  /** What its leaf is a hash of. It begins with a CBOR array or map: so no branch of the tree can be taken for it. */
  content(raw: Uint8Array, start: number, end: number): Uint8Array;
}

/** How rows of indexes name the transactions of their outputs. */
export type IndexRows = 'id' | 'place';

/** What a block says, and what the chain does to the unspent set by itself. */
export interface Ledger {
  /** What outputs carry besides an owner and a value; null: nothing. */
  readonly traits: OutputTraits | null;
  /** What the transactions of a block give to scripts. Absent: scripts of this family are given nothing of the kind. */
  scriptData?(block: Block): ScriptData;
  /** The kinds of index key that outputs of this family can have. */
  readonly keyKinds: readonly KeyKind[];
  /**
   * What rows of its indexes say beside where their outputs stand on the chain. `id`: the id of the transaction. `place`:
   * nothing, and the unspent set has the id of each place once (`utxo_place`): fewer bytes where an output is in several
   * indexes, and more where it is in one (docs/adr/0108).
   */
  readonly indexRows: IndexRows;
  /** The name of its family, for messages. */
  readonly family: string;
  /** False: the chain has no clock of slots, and the slot of a block is its height. */
  readonly hasSlots: boolean;
  /** Ids of transactions and hashes of blocks as people write them. */
  formatId(id: Uint8Array): string;
  /** `height`: where the block stands, for chains whose blocks do not say so. Throws BLOCK_INVALID. */
  decode(raw: Uint8Array, height?: number): Block;
  /** The transactions of a block, each as it stands alone; absent: no history of them can be kept. Throws BLOCK_INVALID. */
  txBytes?(block: Block): readonly Uint8Array[];
  /**
   * The other way round: what a transaction that stands alone spends and creates, as positions into its bytes. Absent:
   * its block is put together again (`joinBlock`) and decoded. Throws BLOCK_INVALID.
   */
  readTx?(raw: Uint8Array): Tx;
  /** What stands in a block behind its last transaction. Absent: nothing. */
  tailBytes?(block: Block): Uint8Array;
  /**
   * A block as it came, from what its row carries of it (`Block.extra`), its transactions and its tail. Absent: a
   * transaction does not stand in one piece in its block (`readTx`).
   */
  joinBlock?(extra: Uint8Array, txs: readonly Uint8Array[], tail: Uint8Array | undefined): Uint8Array;
  /**
   * Where the same transaction id stood before, if the first transaction of this block has one that an earlier block had:
   * the height of that block. Null for every block but two of all known ones (BIP30). Absent: ids are never repeated.
   */
  repeats?(point: Point): number | null;
  /** How headers that stand alone are read. */
  readonly headers: HeaderReader;
  /** How the set of unspent outputs is summed up as outputs come and go. */
  readonly setHash: SetHash;
  /** How outputs stand in the tree over the unspent set. Absent: there is none for this ledger. */
  readonly leaf?: OutputLeaf;
  /**
   * Recomputes what the header says of the body, for bytes nobody has checked yet. `whole` false: only of what the set
   * is made from, where nothing else of the block is kept. Throws BLOCK_INVALID.
   */
  verify(block: Block, whole?: boolean): void;
  /** True when the block can only be the first of its chain. */
  isFirst(block: Block): boolean;
  /** Effects of passing from `before` (undefined: from nothing) to `block`; null for nearly every block. */
  transition(before: PreviousBlock | undefined, block: Block): Transition | null;
  /** Reads a stored output again, as `decode` did; `verify` uses it. */
  readOutput(raw: Uint8Array, start: number, end: number): Create;
  /** Finds the index keys of an output. */
  findKeys(raw: Uint8Array, create: Create, keys: OutputKeys): void;
  /**
   * Makes the key of its owner (kind `address`) again from a stored output alone, and writes it at `to[at..]`: the one that
   * `findKeys` found in its block. Stores do not keep that key. Throws BLOCK_INVALID.
   */
  ownerKey(raw: Uint8Array, start: number, end: number, to: Uint8Array, at: number): void;
  /** The same for many outputs at once, where outputs have no other key than that (`OutputKeys.onlyOwner`). Absent: there is no gain. */
  ownerKeys?(): OwnerKeyBatch;
}

/**
 * How a family of chains writes what it says, for readers: ids, amounts, owners,
 * time. The documents and records are the same for all; what differs is here,
 * once for each family.
 */
import type { KeyKind } from '../ledgers/ledger.ts';
import type { ChainRow } from '../projections/chain.ts';
import { toHex } from '../util/bytes.ts';
import { UnspentError } from '../util/errors.ts';
import type { BlockJson, PlacelessUtxoJson, TransactionJson } from './json.ts';
import type { Query } from './query.ts';
import type { UtxoRecord } from './records.ts';
import type { Renderer } from './render.ts';
import type { Utxo } from './utxo.ts';

export type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** The coin of a chain: amounts are counted in units, people speak of coins. */
export interface Currency {
  /** The unit's name in documents. */
  readonly unit: string;
  /** What people call the coin, and how many decimals it has. */
  readonly name: string;
  readonly decimals: number;
  /** The field of documents that has an amount of it. */
  readonly field: 'lovelace_amount' | 'satoshi_amount';
}

/** From where a block stands to when that was. */
export interface Clock {
  /** Null: the chain has none. */
  epoch(slot: number): number | null;
  /** Unix seconds. `row` null: the block is not in the store. Null: then unknown. */
  time(slot: number, row: ChainRow | null): number | null;
}

/** What a record says of an output besides where it stands. */
export type OutputFields = Omit<UtxoRecord, 'slot' | 'block' | 'blockHash' | 'epoch' | 'blockTime'>;

/** An owner: the hash it goes by in the trees, and what that is a hash of, where the text says it. */
export interface NamedOwner {
  readonly hash: Uint8Array;
  /** A raw address, or a script. */
  readonly bytes: Uint8Array | null;
}

/** A credential: the hash of a key or a script, and what the text that names it says of it (null: nothing). */
export interface NamedCredential {
  readonly hash: Uint8Array;
  readonly kind: 'key' | 'script' | null;
  readonly part: 'payment' | 'stake' | null;
}

/** Of families whose addresses are made of credentials. */
export interface CredentialReader {
  /** A credential in whichever form people write it. Throws USAGE. */
  parse(text: string): NamedCredential;
  /** The hash of the stake credential in a raw address; null: it has none. */
  stakeIn(address: Uint8Array): Uint8Array | null;
}

/** Who holds a balance, as index keys name it. */
export interface Holder {
  readonly kind: KeyKind;
  readonly key: Uint8Array;
}

/** What a transaction pays, as far as its own bytes say it. */
export interface TxPayment {
  /** Its bytes as it stands alone. */
  readonly size: number;
  /** The fee it names; null: it is what its inputs have more than its outputs. */
  readonly fee: bigint | null;
  /** Outputs that it spends, and the sum of what it creates. */
  readonly inputs: number;
  readonly paid: bigint;
}

export interface Dialect {
  /** Ids of transactions and hashes of blocks. */
  formatId(id: Uint8Array): string;
  /** Throws USAGE. */
  parseId(text: string): Uint8Array;
  readonly currency: Currency;
  readonly clock: Clock;
  /** The index key of an address in whichever form people write it. Throws USAGE. */
  addressKey(text: string): Uint8Array;
  /** A raw address, or a script, as people write it; null: there is no address for it. */
  addressText(owner: Uint8Array): string | null;
  /** `raw`: a transaction as the history keeps it. Throws BLOCK_INVALID. */
  payment(raw: Uint8Array): TxPayment;
  /** Whose balance it is: of an address or, where there is stake, of a stake address or key. Throws USAGE. */
  holder(text: string): Holder;
  /** Null: addresses of this family are not made of credentials. */
  readonly credentials: CredentialReader | null;
  /** Whom an address names in the trees. Throws USAGE. */
  owner(text: string): NamedOwner;
  /** Sets the fields between an output's name and its place. Made for each query: answers are full of the same owners, which it remembers. */
  outputWriter(): (utxo: Utxo, json: Writable<PlacelessUtxoJson>) => void;
  outputFields(utxo: Utxo): OutputFields;
  /** What the family knows of a block besides. */
  blockFields(row: ChainRow): Partial<BlockJson>;
  /** Null: the chain has no eras. */
  eraName(era: number): string | null;
  /** A transaction with everything it names; null: there is none. Absent: this family has its own documents. Throws UNSUPPORTED, PRUNED. */
  transaction?(query: Query, txId: Uint8Array, renderer: Renderer): TransactionJson | null;
}

/** Throws UNSUPPORTED where the chain has none. */
export function credentialsOf({ credentials }: Dialect): CredentialReader {
  if (credentials !== null) return credentials;
  throw new UnspentError('UNSUPPORTED', 'addresses of this chain are not made of credentials');
}

/** A view: the platform's own loops beat ours from a few bytes on. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}

export function hexOf(bytes: Uint8Array): string {
  return toHex(bytes);
}

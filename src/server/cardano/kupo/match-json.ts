/**
 * A match as Kupo writes it, straight to text: answers have a hundred thousand
 * of them. Quantities up to 2^53 - 1 are JSON numbers and larger ones strings,
 * because a client that reads numbers as doubles would get another amount; who
 * asks for strings gets all of them as strings.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import { readScriptRef } from '../../../ledgers/cardano/describe.ts';
import { GRANT_TX_INDEX } from '../../../projections/coin.ts';
import { BlockPositions } from '../../../query/block-positions.ts';
import { describeStored } from '../../../query/cardano/describe-stored.ts';
import { OwnerTexts } from '../../../query/cardano/dialect.ts';
import { SpendReader } from '../../../query/cardano/spend-details.ts';
import { type Dialect, hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import type { Utxo } from '../../../query/utxo.ts';

export interface MatchFormat {
  /** Every quantity as a string, lovelace too. */
  readonly stringQuantities: boolean;
  /** Datums and scripts with their hashes. */
  readonly resolveHashes: boolean;
}

const NO_HASH = new Uint8Array(32);

type Described = ReturnType<typeof describeStored>;

export class MatchWriter {
  private readonly query: Query;
  private readonly format: MatchFormat;
  private readonly places: BlockPositions;
  private readonly owners = new OwnerTexts();
  /** Null: no history is kept that could tell. */
  private readonly spends: SpendReader | null;

  /** Throws UNSUPPORTED or INDEX_NOT_READY where hashes cannot be resolved. */
  constructor(query: Query, dialect: Dialect, format: MatchFormat) {
    this.query = query;
    this.format = format;
    this.places = new BlockPositions(query, dialect);
    this.spends = query.hasHistory ? new SpendReader(query.history()) : null;
    // An answer that has begun cannot fail any more in words: what the store does not keep is told now.
    if (format.resolveHashes) query.datum(NO_HASH);
  }

  write({ txId, index, output, spent }: Utxo): string {
    const described = describeStored(txId, index, output.raw);
    const { address, scriptHash } = described;
    // What genesis grants stands behind the transactions of its block, and has numbers of its own.
    return (
      `{"transaction_index":${output.txIndex % GRANT_TX_INDEX},"transaction_id":"${hexOf(txId)}","output_index":${index}` +
      `,"address":"${this.owners.of(address).owner_addr}","value":${this.value(described)}${this.datum(described)}` +
      `,"script_hash":${quoted(scriptHash)}${this.script(described)}` +
      `,"created_at":{${this.point(output.height, output.slot)}},"spent_at":${spent === null ? 'null' : this.spent(spent, txId, index)}}`
    );
  }

  private value({ lovelace, assets }: Described): string {
    const named = assets.filter(({ quantity }) => quantity !== 0n).map((asset) => `"${unitOf(asset)}":${this.quantity(asset.quantity)}`);
    return `{"coins":${this.quantity(lovelace)},"assets":{${named.join(',')}}}`;
  }

  private quantity(amount: bigint): string {
    return this.format.stringQuantities || amount > Number.MAX_SAFE_INTEGER ? `"${amount}"` : `${amount}`;
  }

  /** Kupo gives the hash of an inline datum too, and says which kind it is. */
  private datum({ datumHash, inlineDatum }: Described): string {
    const hash = inlineDatum === null ? datumHash : blake2b256(inlineDatum);
    if (hash === null) return `,"datum_hash":null${this.format.resolveHashes ? ',"datum":null' : ''}`;
    const fields = `,"datum_hash":${quoted(hash)},"datum_type":"${inlineDatum === null ? 'hash' : 'inline'}"`;
    if (!this.format.resolveHashes) return fields;
    return `${fields},"datum":${quoted(inlineDatum ?? this.query.datum(hash)?.bytes ?? null)}`;
  }

  private script({ scriptRef }: Described): string {
    if (!this.format.resolveHashes) return '';
    return `,"script":${scriptRef === null ? 'null' : scriptJson(scriptRef)}`;
  }

  /** Without a history the redeemer is left out, because null would say that there was none, and the input is the one as written. */
  private spent({ txId, input, height, slot }: NonNullable<Utxo['spent']>, of: Uint8Array, index: number): string {
    const point = this.point(height, slot);
    if (txId === null) return `{${point},"transaction_id":null,"input_index":null}`;
    const details = this.spends?.details(txId, of, index) ?? null;
    const spender = `"transaction_id":${quoted(txId)},"input_index":${details?.inputIndex ?? input}`;
    return `{${point},${spender}${details === null ? '' : `,"redeemer":${quoted(details.redeemer)}`}}`;
  }

  /** A store that began with a snapshot does not know the blocks before it: the hash is then empty. */
  private point(height: number, slot: number): string {
    return pointFields(slot, this.places.block(height)?.name ?? '');
  }
}

export function pointFields(slot: number, hash: string): string {
  return `"slot_no":${slot},"header_hash":"${hash}"`;
}

/** `scriptRef`: CBOR `[kind, script]`. */
export function scriptJson(scriptRef: Uint8Array): string {
  const { kind, script } = readScriptRef(scriptRef);
  return `{"language":"${kind === 0 ? 'native' : `plutus:v${kind}`}","script":"${hexOf(script)}"}`;
}

/** The bare policy where the name is empty. */
function unitOf({ policy, name }: { readonly policy: Uint8Array; readonly name: Uint8Array }): string {
  return name.length === 0 ? hexOf(policy) : `${hexOf(policy)}.${hexOf(name)}`;
}

function quoted(bytes: Uint8Array | null): string {
  return bytes === null ? 'null' : `"${hexOf(bytes)}"`;
}

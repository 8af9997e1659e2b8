/**
 * Outputs and amounts as Blockfrost writes them. An inline datum is given with
 * its hash; quantities are strings; lovelace comes first. `script_ref` is of
 * Yaci, whose clients read scripts from it instead of asking for each.
 */
import { blake2b256 } from '../../../crypto/hash.ts';
import type { Asset } from '../../../ledgers/asset.ts';
import type { DescribedOutput } from '../../../ledgers/cardano/describe.ts';
import { BlockPositions } from '../../../query/block-positions.ts';
import { describeStored } from '../../../query/cardano/describe-stored.ts';
import { CARDANO_CURRENCY, OwnerTexts } from '../../../query/cardano/dialect.ts';
import { type Dialect, hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import type { Utxo } from '../../../query/utxo.ts';

export interface UnitAmount {
  readonly unit: string;
  readonly quantity: string;
}

/** What an output says, wherever it stands. */
export interface OutputContent {
  readonly address: string;
  readonly amount: readonly UnitAmount[];
  readonly output_index: number;
  readonly data_hash: string | null;
  readonly inline_datum: string | null;
  readonly reference_script_hash: string | null;
  readonly script_ref?: string | null;
}

/** An unspent output in a list. */
export interface UnspentOutput extends OutputContent {
  readonly tx_hash: string;
  /** The same as `output_index`: an old name that clients still read. */
  readonly tx_index: number;
  /** The hash of its block. */
  readonly block: string;
}

export class OutputWriter {
  private readonly places: BlockPositions;
  private readonly owners = new OwnerTexts();
  private readonly withScripts: boolean;

  constructor(query: Query, dialect: Dialect, withScripts: boolean) {
    this.places = new BlockPositions(query, dialect);
    this.withScripts = withScripts;
  }

  unspent(utxo: Utxo): UnspentOutput {
    const { txId, index, output } = utxo;
    // A store that began with a snapshot does not know the blocks before it: the hash is then empty.
    const block = this.places.block(output.height)?.name ?? '';
    return { ...this.stored(utxo), tx_hash: hexOf(txId), tx_index: index, block };
  }

  stored({ txId, index, output }: Utxo): OutputContent {
    return this.content(describeStored(txId, index, output.raw), index);
  }

  content({ address, lovelace, assets, datumHash, inlineDatum, scriptHash, scriptRef }: DescribedOutput, index: number): OutputContent {
    return {
      address: this.owners.of(address).owner_addr ?? '',
      amount: amountsOf(lovelace, assets),
      output_index: index,
      data_hash: hexOrNull(inlineDatum === null ? datumHash : blake2b256(inlineDatum)),
      inline_datum: hexOrNull(inlineDatum),
      reference_script_hash: hexOrNull(scriptHash),
      ...(this.withScripts ? { script_ref: hexOrNull(scriptRef) } : {}),
    };
  }
}

/** Lovelace, then assets; those that an output names and holds none of are not there. */
export function amountsOf(lovelace: bigint, assets: readonly Asset[]): UnitAmount[] {
  const held = assets.filter(({ quantity }) => quantity !== 0n);
  return [
    { unit: CARDANO_CURRENCY.unit, quantity: lovelace.toString() },
    ...held.map(({ policy, name, quantity }) => ({ unit: hexOf(policy) + hexOf(name), quantity: quantity.toString() })),
  ];
}

function hexOrNull(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : hexOf(bytes);
}

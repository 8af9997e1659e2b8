/** Labels that were taken in (label-records.ts): of whatever they are, and whether the wallet has it. */
import type { ColumnTypes } from '../../sql/column-types.ts';

export function labelStatements({ integer, bytes, bytewise, table }: ColumnTypes): string[] {
  return [
    `CREATE TABLE wallet_labels (
      wallet_id ${integer} NOT NULL CONSTRAINT label_wallet REFERENCES wallets (id) ON DELETE CASCADE,
      label_type ${integer} NOT NULL CONSTRAINT label_type_range CHECK (label_type BETWEEN 0 AND 5),
      label_ref text${bytewise} NOT NULL CONSTRAINT label_ref_given CHECK (label_ref <> ''),
      label_origin text${bytewise} NOT NULL,
      tx_hash ${bytes} CONSTRAINT label_tx_hash_length CHECK (length(tx_hash) = 32),
      tx_index ${integer} CONSTRAINT label_tx_index_range CHECK (tx_index >= 0),
      label_text text,
      is_spendable ${integer} CONSTRAINT label_spendable_flag CHECK (is_spendable IN (0, 1)),
      label_others text NOT NULL,
      is_foreign ${integer} NOT NULL CONSTRAINT label_foreign_flag CHECK (is_foreign IN (0, 1)),
      CONSTRAINT label_of_tx CHECK ((tx_hash IS NOT NULL) = (label_type IN (0, 3, 4))),
      CONSTRAINT label_of_place CHECK ((tx_index IS NOT NULL) = (label_type IN (3, 4))),
      CONSTRAINT label_spendable_output CHECK (is_spendable IS NULL OR label_type = 4),
      CONSTRAINT label_once UNIQUE (wallet_id, label_type, label_ref, label_origin)
    )${table}`,
    'CREATE INDEX label_tx ON wallet_labels (tx_hash, wallet_id) WHERE tx_hash IS NOT NULL',
  ];
}

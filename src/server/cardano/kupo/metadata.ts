/**
 * `/metadata/{slot}`: the metadata of the transactions of a block, as Kupo gives
 * it. A slot without a block answers with the next one: the header
 * `X-Block-Header-Hash` says which it is. From the history, where the store keeps one.
 */
import type { FastifyInstance } from 'fastify';
import { blake2b256 } from '../../../crypto/hash.ts';
import { splitTx } from '../../../ledgers/cardano/index.ts';
import { type Metadatum, metadataBytes, readMetadata, readMetadatum } from '../../../ledgers/cardano/metadata.ts';
import { TXID_BYTES } from '../../../ledgers/outpoint.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { HistoryTx } from '../../../query/history.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type GivenParameters, hexParameter, parameter } from '../../http/parameters.ts';
import type { KupoAnswers } from './answer.ts';

export function registerMetadata(app: FastifyInstance, answers: KupoAnswers): void {
  app.get('/metadata/:slot', (request, reply) => {
    const { slot } = request.params as { readonly slot: string };
    if (!/^\d{1,15}$/.test(slot)) throw new UnspentError('USAGE', `a slot is a number, not '${slot.slice(0, 100)}'`, { field: 'slot' });
    const tx = parameter(request.query as GivenParameters, 'transaction_id');
    const only = tx === undefined ? null : hexParameter(tx, 'transaction_id', TXID_BYTES);
    answers.give(request, reply, (query) => {
      const history = query.history();
      const row = blockFrom(query, Number(slot));
      if (row === null) return '[]';
      reply.header('x-block-header-hash', hexOf(row.hash));
      const txs = row.boundary ? [] : history.txs(row.height).filter(({ id }) => only === null || equalBytes(id, only));
      return `[${txs.flatMap((each) => metadataOf(each) ?? []).join(',')}]`;
    });
  });
}

/** The first block of that slot or a later one. */
function blockFrom(query: Query, slot: number): ChainRow | null {
  const row = query.blockAtSlot(slot);
  return row?.slot === slot ? row : query.blockAfter(row);
}

function metadataOf({ raw }: HistoryTx): string | null {
  const { auxiliary } = splitTx(raw);
  return auxiliary === null ? null : auxiliaryJson(raw.subarray(auxiliary.start, auxiliary.end));
}

/** The metadata in auxiliary data; null: there is none. Throws BLOCK_INVALID. */
export function auxiliaryJson(auxiliary: Uint8Array): string | null {
  const raw = metadataBytes(auxiliary);
  if (raw === null) return null;
  const schema = readMetadata(auxiliary).map(({ label, value }) => `"${label}":${metadatumJson(readMetadatum(value))}`);
  return `{"hash":"${hexOf(blake2b256(raw))}","raw":"${hexOf(raw)}","schema":{${schema.join(',')}}}`;
}

/** Numbers that a double does not hold are strings, as quantities are. */
function metadatumJson(value: Metadatum): string {
  switch (value.kind) {
    case 'int':
      return `{"int":${isSafe(value.value) ? value.value : `"${value.value}"`}}`;
    case 'bytes':
      return `{"bytes":"${hexOf(value.value)}"}`;
    case 'text':
      return `{"string":${JSON.stringify(value.value)}}`;
    case 'list':
      return `{"list":[${value.items.map(metadatumJson).join(',')}]}`;
    case 'map':
      return `{"map":[${value.entries.map(([key, item]) => `{"k":${metadatumJson(key)},"v":${metadatumJson(item)}}`).join(',')}]}`;
  }
}

function isSafe(value: bigint): boolean {
  return value >= Number.MIN_SAFE_INTEGER && value <= Number.MAX_SAFE_INTEGER;
}

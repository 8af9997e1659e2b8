/**
 * A block as Ogmios 6 writes it, from its row, its header and the history of
 * transactions. A header is kept as long as its block can be undone: of older
 * blocks what only the header says is left out, and so it is of Byron, whose
 * headers are of another kind.
 */
import { ERA } from '../../../ledgers/cardano/header.ts';
import { type HeaderDetails, readHeaderDetails, type VrfResult } from '../../../ledgers/cardano/header-details.ts';
import { eraName } from '../../../ledgers/cardano/index.ts';
import type { ChainRow } from '../../../projections/chain.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import type { JsonValue } from './json-text.ts';
import { txJson } from './tx-json.ts';

/** Throws UNSUPPORTED where no history is kept, PRUNED where it does not have this block. */
export function blockJson(query: Query, row: ChainRow): JsonValue {
  const { height, slot, era, prevHash } = row;
  const place = {
    era: eraName(era),
    id: hexOf(row.hash),
    ancestor: prevHash.every((byte) => byte === 0) ? 'genesis' : hexOf(prevHash),
    height,
  };
  if (row.boundary) return { type: 'ebb', ...place };
  const header = era <= ERA.byron ? undefined : query.header(row);
  return {
    type: era <= ERA.byron ? 'bft' : 'praos',
    ...place,
    slot,
    ...(header === undefined ? { issuer: issuerOf(row) } : headerJson(readHeaderDetails(header, era))),
    transactions: query.history().txs(height).map(txJson),
  };
}

/** All that the row of a block says of who made it. */
function issuerOf({ extra }: ChainRow): JsonValue | undefined {
  return extra.length === 0 ? undefined : { verificationKey: hexOf(extra) };
}

function headerJson({
  issuerKey,
  vrfKey,
  nonce,
  leader,
  bodyBytes,
  certificate,
  version,
}: HeaderDetails): Record<string, JsonValue | undefined> {
  const { count, period, hotKey, signature } = certificate;
  return {
    nonce: nonce === null ? undefined : vrfJson(nonce),
    size: { bytes: bodyBytes },
    protocol: { version },
    issuer: {
      verificationKey: hexOf(issuerKey),
      vrfVerificationKey: hexOf(vrfKey),
      operationalCertificate: { count, sigma: hexOf(signature), kes: { period, verificationKey: hexOf(hotKey) } },
      leaderValue: vrfJson(leader),
    },
  };
}

function vrfJson({ output, proof }: VrfResult): JsonValue {
  return { output: hexOf(output), proof: hexOf(proof) };
}

/**
 * `unspent/cage`: programs of the cage protocol (MPFS) over an open store: tokens,
 * requests, facts and their proofs, tries that are tried before they are written,
 * a node to ask and to send to, transactions to be signed, waiting for what was
 * sent.
 */
import './util/node-version.ts';

export type { CageOperation, CageVersion, RequestPhase } from './ledgers/cardano/cage/index.ts';
export type { ExecutionUnits, ProtocolParameters, ProtocolVersion, Ratio } from './ledgers/cardano/protocol-parameters.ts';
export { addSignatures, type TxSignature } from './ledgers/cardano/signatures.ts';
export { CageContext, type CageOptions, CageView, openCage } from './library/cardano/cage/context.ts';
export type { RequestDocument, TokenDocument, TokenTerms, TrieProof } from './library/cardano/cage/documents.ts';
export type { CageIndexer, CageStatus, WaitOptions, WaitTxOptions } from './library/cardano/cage/indexer.ts';
export type { CageProvider } from './library/cardano/cage/provider.ts';
export type { TrieSession } from './library/cardano/cage/session.ts';
export type { CageStateReads, RequestsOptions } from './library/cardano/cage/state.ts';
export type { CageSubmitter } from './library/cardano/cage/submitter.ts';
export type { CageTrieReads, FactsOptions } from './library/cardano/cage/tries.ts';
export type {
  BootOptions,
  BootTx,
  BuildOptions,
  CageTxBuilder,
  TakeOptions,
  UpdateOptions,
} from './library/cardano/cage/tx-builder.ts';
export type { TrieStatus } from './projections/cardano/cage/rows.ts';
export type { CageFact } from './query/cardano/cage.ts';
export type { UnsignedTx, UpdateTx } from './query/cardano/cage-tx/transactions.ts';
export type { TriedOperation, TriedRequest, TriedRequests } from './query/cardano/trie-trial.ts';

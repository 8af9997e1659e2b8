/**
 * Cages (the MPFS protocol) for whoever does not believe the server: verifies
 * what it says of tokens, facts and requests against a root of the unspent set.
 */
export type { CageOperation, CageRequest, CageState, CageTerms } from '../../../ledgers/cardano/cage/datum.ts';
export { type CageDeployment, cageFromBlueprint, PUBLIC_CAGES, parseCageDeployment } from '../../../ledgers/cardano/cage/deployment.ts';
export type { CageVersion } from '../../../ledgers/cardano/cage/redeemer.ts';
export * from './answers.ts';
export type { CageNetwork, RequestOutput, StateOutput } from './outputs.ts';
export { scriptAddress } from './outputs.ts';
export * from './verify.ts';

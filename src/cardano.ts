/**
 * `unspent/cardano`: what Cardano's blocks, addresses and networks say. Pure: no
 * I/O, nothing of Node's, so it runs in a browser too.
 */
import './util/node-version.ts';

export {
  type Address,
  type Asset,
  type ByronAddress,
  CARDANO_NETWORKS,
  type CardanoBlock,
  type CardanoNetwork,
  type CardanoTx,
  type Credential,
  type CredentialKind,
  type CredentialQuery,
  cardanoNetwork,
  type DescribedByronTx,
  type DescribedOutput,
  type DescribedTx,
  decodeBlock,
  describeByronTx,
  describeOutput,
  describeTx,
  type EraName,
  epochToSlot,
  eraName,
  formatAddress,
  type Header,
  networkFromGenesis,
  type OutRef,
  type Pointer,
  parseAddress,
  parseCredential,
  readAddress,
  slotToEpoch,
  slotToTime,
  stakeAddressOf,
  type TxOutput,
  timeToSlot,
  type Withdrawal,
} from './ledgers/cardano/index.ts';
export type { Create, Spend } from './ledgers/ledger.ts';

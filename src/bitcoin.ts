/**
 * `unspent/bitcoin`: what blocks, scripts and addresses of the Bitcoin family
 * say. Pure: no I/O, nothing of Node's, so it runs in a browser too.
 */
import './util/node-version.ts';

export {
  BITCOIN_NETWORKS,
  BitcoinBlock,
  type BitcoinNetwork,
  BitcoinTx,
  type BlockName,
  bitcoinNetwork,
  coreAsm,
  coreType,
  type DescribedOutput,
  type DescribedTx,
  decodeBlock,
  decodeTx,
  describeOutput,
  describeTx,
  descriptorOf,
  formatAddress,
  formatId,
  type GenesisFacts,
  genesisBlock,
  type Header,
  headerHash,
  type KeyVersions,
  merkleRoot,
  parseAddress,
  parseId,
  readHeader,
  readScript,
  type Script,
  scriptKey,
  type TxInput,
  type TxOutput,
  type WorkRules,
} from './ledgers/bitcoin/index.ts';
export type { Create, Spend } from './ledgers/ledger.ts';

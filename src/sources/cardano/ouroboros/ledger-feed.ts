/**
 * What a builder of transactions wants of a node, over its local socket: the
 * answers of its ledger, and its mempool to put transactions into.
 */
import { type Credential, readAddress } from '../../../ledgers/cardano/address.ts';
import { readWholeTx } from '../../../ledgers/cardano/transaction.ts';
import { toHex } from '../../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../../util/errors.ts';
import type { LedgerAnswers, LedgerFeed, LedgerQuestion } from '../../source.ts';
import type { N2cClient } from './n2c-client.ts';

const CONWAY = 6;

/** `connect` gives the connection there is, or makes one; what it throws, the feed throws. */
export class NodeLedger implements LedgerFeed {
  private readonly connect: () => N2cClient | Promise<N2cClient>;

  constructor(connect: () => N2cClient | Promise<N2cClient>) {
    this.connect = connect;
  }

  async answers({ accounts = [], pots = false }: LedgerQuestion = {}): Promise<LedgerAnswers> {
    const client = await this.connect();
    return client.ask({ at: 'volatileTip' }, async (ledger) => {
      const era = await ledger.currentEra();
      if (era < CONWAY) throw new UnspentError('UNSUPPORTED', `the ledger of the node is in era ${era}, before Conway`);
      const [systemStart, eraHistory] = [await ledger.ask({ about: 'systemStart' }), await ledger.ask({ about: 'eraHistory' })];
      return {
        parameters: await ledger.parameters(),
        systemStart,
        eraHistory,
        ...(accounts.length > 0 ? { accounts: await ledger.accounts(accounts.map(credentialOf)) } : {}),
        ...(pots ? { pots: await ledger.pots() } : {}),
      };
    });
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    const id = idOf(raw);
    const client = await this.connect();
    const era = await client.ask({ at: 'volatileTip' }, (ledger) => ledger.currentEra());
    const answer = await client.submit(raw, era);
    if (answer.accepted) return id;
    const [tx, reason] = [toHex(id), toHex(answer.reason)];
    throw new UnspentError('TX_REFUSED', `the node did not take transaction ${tx}: ${reason}`, { tx, reason });
  }
}

/** Throws USAGE. */
function credentialOf(rewardAddress: Uint8Array): Credential {
  const { stake } = readAddress(rewardAddress);
  if (stake === null) throw new UnspentError('USAGE', `${toHex(rewardAddress)} is no reward address`);
  return stake;
}

function idOf(raw: Uint8Array): Uint8Array {
  try {
    return readWholeTx(raw).id;
  } catch (error) {
    if (!isUnspentError(error, 'BLOCK_INVALID')) throw error;
    throw new UnspentError('USAGE', `these bytes are no transaction: ${error.message}`, {}, error);
  }
}

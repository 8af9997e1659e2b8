/**
 * A node's ledger at one acquired point. Outputs are given as the ledger
 * encodes them, to be held against our own.
 */
import type { Credential } from '../../../ledgers/cardano/address.ts';
import type { StakeAccountAnswers } from '../../../ledgers/cardano/stake-accounts.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { AcquireTarget, StateQueryMessage, StateQueryState } from './local-state-query.ts';
import type { WireTip } from './point.ts';
import { violation } from './protocol.ts';
import {
  type EraQuestion,
  encodeQuestion,
  type Question,
  readChainPoint,
  readEraResult,
  readHeight,
  readNumber,
  readUtxo,
  type TxInput,
  type UtxoEntry,
} from './queries.ts';
import type { Session } from './session.ts';

type StateSession = Session<StateQueryMessage, StateQueryState>;

export class LedgerView {
  private readonly session: StateSession;
  private era: number | undefined;

  /** Acquires, lets `body` ask, and releases. */
  static async at<T>(session: StateSession, target: AcquireTarget, body: (ledger: LedgerView) => Promise<T>): Promise<T> {
    session.send({ kind: 'acquire', target });
    const answer = await session.receive();
    if (answer.kind === 'failure') {
      const why = answer.reason === 'pointTooOld' ? 'is older than it can go back' : "is not on the node's chain";
      throw new UnspentError('POINT_UNKNOWN', `the node cannot answer about that point: it ${why}`, { reason: answer.reason });
    }
    try {
      return await body(new LedgerView(session));
    } finally {
      if (session.channel.mux.failure === null) session.send({ kind: 'release' });
    }
  }

  private constructor(session: StateSession) {
    this.session = session;
  }

  /** The acquired point and its height. */
  async tip(): Promise<WireTip> {
    const point = readChainPoint(await this.ask({ about: 'chainPoint' }));
    const height = readHeight(await this.ask({ about: 'chainHeight' }));
    return { point, height: height ?? 0 };
  }

  /** Index of the ledger's era: 6 is Conway. */
  async currentEra(): Promise<number> {
    this.era ??= readNumber(await this.ask({ about: 'currentEra' }));
    return this.era;
  }

  async epoch(): Promise<number> {
    return readNumber(await this.askEra({ about: 'epoch' }));
  }

  /** The protocol parameters, encoded; their shape is the era's. */
  parameters(): Promise<Uint8Array> {
    return this.askEra({ about: 'parameters' });
  }

  async utxoByAddress(addresses: readonly Uint8Array[]): Promise<UtxoEntry[]> {
    return [...readUtxo(await this.askEra({ about: 'utxoByAddress', addresses }))];
  }

  async utxoByInput(inputs: readonly TxInput[]): Promise<UtxoEntry[]> {
    return [...readUtxo(await this.askEra({ about: 'utxoByInput', inputs }))];
  }

  /** Of those of these that are registered, as `readStakeAccounts` reads it. Ask for one at least: nodes take none for all. */
  async accounts(credentials: readonly Credential[]): Promise<StakeAccountAnswers> {
    return {
      rewards: await this.askEra({ about: 'rewardAccounts', credentials }),
      votes: await this.askEra({ about: 'voteDelegatees', credentials }),
      deposits: await this.askEra({ about: 'stakeDeposits', credentials }),
    };
  }

  /** Treasury and reserves, as `readPots` reads it. */
  pots(): Promise<Uint8Array> {
    return this.askEra({ about: 'pots' });
  }

  /** Every unspent output, one by one. */
  async utxoWhole(): Promise<Generator<UtxoEntry, void, undefined>> {
    return readUtxo(await this.askEra({ about: 'utxoWhole' }));
  }

  /** Any question; the answer as encoded. */
  async ask(question: Question): Promise<Uint8Array> {
    this.session.send({ kind: 'query', query: encodeQuestion(question) });
    const answer = await this.session.receive();
    if (answer.kind !== 'result') throw violation(`'${answer.kind}' in answer to a question`);
    return answer.result;
  }

  private async askEra(question: EraQuestion): Promise<Uint8Array> {
    const eraIndex = await this.currentEra();
    return readEraResult(await this.ask({ about: 'era', eraIndex, question }));
  }
}

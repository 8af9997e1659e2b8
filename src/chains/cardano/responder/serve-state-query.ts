/**
 * The server's half of local-state-query: a view of the ledger is acquired and
 * questions are answered from it, however the chain moves on.
 *
 * A question of another era than the ledger's is answered by naming both. One
 * that we do not know, or that this chain cannot answer, throws UNSUPPORTED and
 * so ends the connection: the protocol has no failure for a query, and a node
 * does the same with a query it cannot decode (`decodeShelleyQuery` fails, and
 * the multiplexer ends with the mini-protocol). Never is an answer made up.
 */
import type { Credential } from '../../../ledgers/cardano/address.ts';
import { encodeLedgerOutput } from '../../../ledgers/cardano/ledger-output.ts';
import { credentialKey, type StakeAccountAnswers, writePots, writeStakeAccounts } from '../../../ledgers/cardano/stake-accounts.ts';
import { slotToEpoch } from '../../../ledgers/cardano/time.ts';
import type { StateQueryMessage, StateQueryState } from '../../../sources/cardano/ouroboros/local-state-query.ts';
import {
  decodeQuestion,
  type EraQuestion,
  type Question,
  type UtxoEntry,
  writeChainPoint,
  writeEraResult,
  writeHeight,
  writeUtxo,
} from '../../../sources/cardano/ouroboros/queries.ts';
import type { Session } from '../../../sources/cardano/ouroboros/session.ts';
import { toHex } from '../../../util/bytes.ts';
import { CborWriter } from '../../../util/cbor-write.ts';
import { UnspentError } from '../../../util/errors.ts';
import type { LedgerView, ServedChain, ServedUtxo } from './chain.ts';
import { encodeEraHistory, encodeSystemStart } from './history.ts';

const ERA_TEXTS = ['Byron', 'Shelley', 'Allegra', 'Mary', 'Alonzo', 'Babbage', 'Conway'] as const;

type StateQuerySession = Session<StateQueryMessage, StateQueryState>;

export async function serveStateQuery(session: StateQuerySession, chain: ServedChain): Promise<void> {
  let view: LedgerView | null = null;
  const release = (): void => {
    view?.release();
    view = null;
  };
  try {
    for (;;) {
      const message = session.tryReceive() ?? (await session.receive());
      if (message.kind === 'done') return;
      if (message.kind === 'release') release();
      else if (message.kind === 'acquire' || message.kind === 'reAcquire') {
        release();
        const found = chain.view(message.target);
        if (typeof found === 'string') session.send({ kind: 'failure', reason: found });
        else {
          view = found;
          session.send({ kind: 'acquired' });
        }
      } else if (message.kind === 'query' && view !== null) {
        session.send({ kind: 'result', result: answer(chain, view, message.query) });
        const full = session.drained();
        if (full !== undefined) await full;
      }
    }
  } finally {
    release();
  }
}

function answer(chain: ServedChain, view: LedgerView, query: Uint8Array): Uint8Array {
  const question = decodeQuestion(query);
  if (question === null) throw unanswerable(`the query ${toHex(query.subarray(0, 64))} is not known`);
  return answerOf(question, chain, view);
}

function answerOf(question: Question, { network }: ServedChain, view: LedgerView): Uint8Array {
  // Byron's two tags are one era.
  const eraIndex = Math.max(0, view.era - 1);
  switch (question.about) {
    case 'systemStart':
      return encodeSystemStart(network);
    case 'chainHeight':
      return writeHeight(view.height);
    case 'chainPoint':
      return writeChainPoint(view.point);
    case 'currentEra':
      return new CborWriter(8).uint(eraIndex).take();
    case 'eraHistory':
      return encodeEraHistory(network, eraIndex);
    case 'era': {
      if (question.eraIndex !== eraIndex) return mismatch(question.eraIndex, eraIndex);
      const slot = view.point?.slot ?? 0;
      return writeEraResult(eraAnswer(question.question, view, slotToEpoch(network, slot)));
    }
  }
}

function eraAnswer(question: EraQuestion, view: LedgerView, epoch: number): Uint8Array {
  switch (question.about) {
    case 'ledgerTip':
      return writeChainPoint(view.point);
    case 'encoded': {
      const inner = eraAnswer(question.question, view, epoch);
      return new CborWriter(inner.length + 16).encoded(inner).take();
    }
    case 'epoch':
      return new CborWriter(16).uint(epoch).take();
    case 'parameters':
      return view.parameters?.() ?? refuse('its protocol parameters are not known: they are not in the blocks alone');
    case 'utxoWhole':
      return writeUtxo(Array.from(utxosOf(view).values(), entryOf));
    case 'utxoByAddress': {
      const wanted = new Set(question.addresses.map((address) => toHex(address)));
      return writeUtxo([...utxosOf(view).values()].filter(({ addressHex }) => wanted.has(addressHex)).map(entryOf));
    }
    case 'utxoByInput': {
      const utxos = utxosOf(view);
      const found = question.inputs.map(({ txId, index }) => utxos.get(`${toHex(txId)}#${index}`));
      return writeUtxo(found.filter((utxo) => utxo !== undefined).map(entryOf));
    }
    case 'rewardAccounts':
      return accountsOf(view, question.credentials).rewards;
    case 'voteDelegatees':
      return accountsOf(view, question.credentials).votes;
    case 'stakeDeposits':
      return accountsOf(view, question.credentials).deposits;
    case 'pots':
      return writePots(view.pots?.() ?? refuse('it is served from its blocks and has no pots'));
    case 'genesisConfig':
      return refuse('the genesis configuration is not answered; it is in the genesis files');
    case 'unknown':
      return refuse(`query ${question.key} of an era is not answered`);
  }
}

function refuse(why: string): never {
  throw unanswerable(why);
}

function unanswerable(why: string): UnspentError {
  return new UnspentError('UNSUPPORTED', `it asked what this chain cannot answer (${why}), which ends a connection`);
}

function utxosOf(view: LedgerView): ReadonlyMap<string, ServedUtxo> {
  return view.utxos?.() ?? refuse('it is served from its blocks and has no unspent set');
}

function accountsOf(view: LedgerView, credentials: readonly Credential[]): StakeAccountAnswers {
  const accounts = view.accounts?.() ?? refuse('it is served from its blocks and has no accounts');
  return writeStakeAccounts(credentials.flatMap((credential) => accounts.get(credentialKey(credential)) ?? []));
}

function entryOf({ txId, index, output }: ServedUtxo): UtxoEntry {
  return { input: { txId, index }, output: encodeLedgerOutput(output) };
}

/** The other form of an era's answer: asked about one, the ledger is in another. */
function mismatch(asked: number, current: number): Uint8Array {
  const w = new CborWriter().array(2);
  for (const index of [asked, current])
    w.array(2)
      .uint(index)
      .text(ERA_TEXTS[index] ?? `era ${index}`);
  return w.take();
}

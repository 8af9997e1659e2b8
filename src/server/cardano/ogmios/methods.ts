/**
 * The methods of Ogmios that are answered: from the store what it knows, from
 * the node that is followed its parameters and its mempool. What neither can say
 * is no method here, and whoever asks is told which there are.
 */

import { blake2b224 } from '../../../crypto/hash.ts';
import { needCardano } from '../../../families/cardano.ts';
import { type CardanoNetwork, parseAddress, slotToEpoch } from '../../../ledgers/cardano/index.ts';
import { decodeProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { outpointKey } from '../../../ledgers/outpoint.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import type { Utxo } from '../../../query/utxo.ts';
import { fromHex, isHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { EVALUATION_OUTPUTS_MAX, OGMIOS_OUTPUTS_MAX, SUBMIT_HEX_MAX } from '../../../util/limits.ts';
import type { ServerContext } from '../../context.ts';
import type { Task } from '../../http/work/task.ts';
import type { TxEvaluation } from '../evaluation/tx-evaluation.ts';
import { isoTime } from './health.ts';
import { type JsonValue, jsonText, MadeText } from './json-text.ts';
import { outputJson, outputsOf, refOf } from './outputs-json.ts';
import { parametersJson } from './parameters-json.ts';
import type { RpcMethod, RpcMethods } from './rpc.ts';
import { stakeMethods } from './stake-methods.ts';

type Params = Parameters<RpcMethod>[0];

export class OgmiosMethods {
  readonly methods: RpcMethods;
  private readonly context: ServerContext;
  private readonly evaluation: TxEvaluation;
  private readonly network: CardanoNetwork;

  constructor(context: ServerContext, evaluation: TxEvaluation) {
    this.context = context;
    this.evaluation = evaluation;
    this.network = needCardano(context.network, 'Ogmios').parameters;
    this.methods = new Map<string, RpcMethod>([
      ['submitTransaction', (params) => this.submit(params)],
      ['evaluateTransaction', (params, task) => this.evaluate(params, task)],
      ['queryLedgerState/protocolParameters', () => this.parameters()],
      [
        'queryLedgerState/tip',
        (_, task) => this.read(task, ({ head }) => (head === null ? 'origin' : { slot: head.slot, id: hexOf(head.hash) })),
      ],
      ['queryLedgerState/epoch', (_, task) => this.read(task, ({ head }) => slotToEpoch(this.network, head?.slot ?? 0))],
      ['queryLedgerState/utxo', (params, task) => this.read(task, (query) => this.outputs(query, params, task))],
      [
        'queryNetwork/tip',
        (_, task) => this.read(task, ({ head }) => (head === null ? 'origin' : { slot: head.slot, id: hexOf(head.hash) })),
      ],
      ['queryNetwork/blockHeight', (_, task) => this.read(task, ({ head }) => head?.height ?? 'origin')],
      ['queryNetwork/startTime', () => isoTime(this.network.systemStart)],
      ['acquireLedgerState', (params, task) => this.acquire(params, task)],
      ['releaseLedgerState', () => ({ released: 'ledgerState' })],
      ...stakeMethods(context),
    ]);
  }

  private async submit(params: Params): Promise<JsonValue> {
    return { transaction: { id: hexOf(await this.context.submit(txOf(params))) } };
  }

  private async evaluate(params: Params, task: Task): Promise<JsonValue> {
    const additional = outputsOf(params['additionalUtxo'] ?? []);
    const { scripts } = await this.evaluation.evaluate(txOf(params), additional, () => task.isCancelled);
    return scripts.map(({ purpose, index, units }) => ({
      validator: { purpose, index },
      budget: { memory: units.memory, cpu: units.steps },
    }));
  }

  private async parameters(): Promise<JsonValue> {
    return parametersJson(decodeProtocolParameters((await this.context.ledger()).parameters));
  }

  /** Every answer is of the newest block, so that is the one that can be acquired. Throws USAGE. */
  private acquire({ point }: Params, task: Task): JsonValue | Promise<JsonValue> {
    return this.read(task, ({ head }) => {
      const { id } = (point ?? {}) as { readonly id?: unknown };
      if (head === null || id !== hexOf(head.hash)) {
        throw new UnspentError('USAGE', 'answers are of the newest block alone: no other point can be acquired');
      }
      return { acquired: 'ledgerState', point: { slot: head.slot, id: hexOf(head.hash) } };
    });
  }

  /** By references or by addresses; the whole set is not given. In slices. Throws USAGE, UNSUPPORTED, BUSY. */
  private outputs(query: Query, { outputReferences, addresses }: Params, task: Task): JsonValue | Promise<JsonValue> {
    const rows: string[] = [];
    const take = (utxo: Utxo | null): boolean => {
      if (utxo === null) return true;
      if (rows.length === OGMIOS_OUTPUTS_MAX)
        throw new UnspentError('USAGE', `more than ${OGMIOS_OUTPUTS_MAX} outputs: ask with fewer addresses`);
      const text = jsonText(outputJson(utxo));
      task.hold(text.length);
      rows.push(text);
      return true;
    };
    return task.inSlices(outputsAsked(query, outputReferences, addresses), take, () => new MadeText(`[${rows.join(',')}]`));
  }

  /** Of one block, however many turns it takes. */
  private read<T>(task: Task, produce: (query: Query) => T | Promise<T>): T | Promise<T> {
    const { reads } = this.context;
    const lease = reads.lease();
    let made: T | Promise<T>;
    try {
      made = reads.attempt(() => produce(lease.query), task) as T | Promise<T>;
    } catch (error) {
      lease.release();
      throw error;
    }
    if (made instanceof Promise) return made.finally(() => lease.release());
    lease.release();
    return made;
  }
}

/** Null between those of two addresses, where a turn may end. Throws USAGE. */
function outputsAsked(query: Query, outputReferences: unknown, addresses: unknown): Iterable<Utxo | null> {
  if (Array.isArray(outputReferences) && outputReferences.length <= EVALUATION_OUTPUTS_MAX) {
    const keys = outputReferences.map(refOf).map(({ txId, index }) => outpointKey(txId, index));
    return query.outpoints(keys).filter((found) => found !== null && found.spent === null);
  }
  if (Array.isArray(addresses) && addresses.length <= EVALUATION_OUTPUTS_MAX) return outputsOfAddresses(query, addresses);
  throw new UnspentError('USAGE', `outputReferences or addresses is a list of at most ${EVALUATION_OUTPUTS_MAX}`);
}

function* outputsOfAddresses(query: Query, addresses: readonly unknown[]): Generator<Utxo | null, void, void> {
  for (const address of addresses) {
    yield* query.byKey('address', blake2b224(parseAddress(String(address))));
    yield null;
  }
}

/** `{transaction: {cbor}}`. Throws USAGE. */
function txOf({ transaction }: Params): Uint8Array {
  const { cbor } = (typeof transaction === 'object' && transaction !== null ? transaction : {}) as { readonly cbor?: unknown };
  if (typeof cbor === 'string' && cbor !== '' && cbor.length <= SUBMIT_HEX_MAX && isHex(cbor)) return fromHex(cbor);
  throw new UnspentError('USAGE', `transaction.cbor is a transaction in hex, of at most ${SUBMIT_HEX_MAX} digits`);
}

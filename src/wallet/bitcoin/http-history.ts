/**
 * The past of scripts from a server on another machine (`server/bitcoin/script-history/`).
 * Each answer is of one snapshot. A scan may take several: what they tell of blocks
 * up to one that is on the chain in each of them is of one chain, because a block
 * says what was before it.
 */
import { type BitcoinNetwork, formatId, parseId } from '../../ledgers/bitcoin/index.ts';
import { type Outpoint, parseOutpoint } from '../../ledgers/outpoint.ts';
import { fromHex, toHex } from '../../util/bytes.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { SCRIPTS_AT_ONCE } from '../../util/limits.ts';
import { askUntilAnswered, type ReconnectOptions, type ServerAddress, ServerClient } from '../feed/server-client.ts';
import type { ConfirmedTx, ScriptHistory } from '../past/script-history.ts';
import type { WalletBlock } from '../records.ts';
import { walletTxOf } from './wallet-tx.ts';

export interface HttpHistoryOptions extends ServerAddress, ReconnectOptions {
  readonly network: BitcoinNetwork;
  readonly signal: AbortSignal;
}

/** A line of the answer. */
interface TxLine {
  readonly txid: string;
  readonly raw: string;
  readonly spends?: readonly string[];
  readonly height: number;
  readonly index: number;
  readonly hash: string;
  readonly block_time: number;
}

/** Asks until the server answers. Its answers throw INTERRUPTED on the signal, and what asking again does not mend. */
export function httpHistory(options: HttpHistoryOptions): ScriptHistory {
  const { network, signal } = options;
  const server = new ServerClient(options);
  const ask = <T>(body: () => Promise<T>): Promise<T> => askUntilAnswered(body, options, signal);

  async function txsOf(to: WalletBlock, scripts: readonly Uint8Array[], coins: readonly Outpoint[]): Promise<TxLine[] | null> {
    const body = {
      scripts: scripts.map((script) => toHex(script)),
      outpoints: coins.map(({ txId, index }) => `${formatId(txId)}#${index}`),
      to: { height: to.height, hash: formatId(to.hash) },
    };
    const lines: TxLine[] = [];
    try {
      for await (const line of server.lines<TxLine | { readonly end: true }>('/api/v1/scripts/txs', signal, body)) {
        if ('end' in line) return lines;
        lines.push(line);
      }
    } catch (error) {
      if (isUnspentError(error, 'NOT_FOUND')) return null;
      throw error;
    }
    throw new UnspentError('SOURCE_UNREACHABLE', 'the server has cut off its answer about the past of scripts');
  }

  return {
    async needFrom(height) {
      await ask(() => server.json('/api/v1/scripts/used', signal, { scripts: [], from: height }));
    },
    async used(scripts) {
      const used: boolean[] = [];
      for (const part of partsOf(scripts)) {
        const body = { scripts: part.map((script) => toHex(script)) };
        const answer = await ask(() => server.json<{ readonly used: readonly boolean[] }>('/api/v1/scripts/used', signal, body));
        if (!Array.isArray(answer.used) || answer.used.length !== part.length)
          throw new UnspentError('PROTOCOL', `the server was asked about ${part.length} scripts and answers about others`);
        used.push(...answer.used.map((each) => each === true));
      }
      return used;
    },
    async txsUpTo(block, scripts, coins = []) {
      const found = new Map<string, TxLine>();
      const [scriptParts, coinParts] = [partsOf(scripts), partsOf(coins)];
      for (let i = 0; i < Math.max(1, scriptParts.length, coinParts.length); i++) {
        const lines = await ask(() => txsOf(block, scriptParts[i] ?? [], coinParts[i] ?? []));
        if (lines === null) return null;
        for (const line of lines) found.set(line.txid, joined(found.get(line.txid), line));
      }
      const inOrder = [...found.values()].sort((a, b) => a.height - b.height || a.index - b.index);
      return inOrder.map((line) => txOf(line, network));
    },
  };
}

function partsOf<T>(list: readonly T[]): (readonly T[])[] {
  const parts: (readonly T[])[] = [];
  for (let from = 0; from < list.length; from += SCRIPTS_AT_ONCE) parts.push(list.slice(from, from + SCRIPTS_AT_ONCE));
  return parts;
}

/** Of a forgotten transaction each answer knows what it has spent of the scripts and coins that were asked for. */
function joined(before: TxLine | undefined, line: TxLine): TxLine {
  if (before?.spends === undefined || line.spends === undefined) return line;
  return { ...line, spends: [...new Set([...before.spends, ...line.spends])] };
}

/** Throws PROTOCOL, BLOCK_INVALID. */
function txOf({ txid, raw, spends = [], height, index, hash, block_time }: TxLine, { mweb }: BitcoinNetwork): ConfirmedTx {
  const block = { height, hash: parseId(hash), timestamp: block_time };
  const id = parseId(txid);
  if (raw === '') {
    const inputs = spends.map((text) => parseOutpoint(text, parseId));
    return { tx: { id, raw: new Uint8Array(0), inputs, outputs: [], isCoinbase: index === 0 }, block };
  }
  const tx = walletTxOf(fromHex(raw), mweb);
  if (formatId(tx.id) !== txid) throw new UnspentError('PROTOCOL', `the server gives transaction ${formatId(tx.id)} as ${txid}`);
  return { tx, block };
}

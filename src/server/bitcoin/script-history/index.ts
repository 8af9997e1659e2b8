/**
 * `POST /api/v1/scripts/used` and `/scripts/txs`: the past of scripts, for wallets
 * on other machines (wallet/bitcoin/http-history.ts). Which scripts were ever paid,
 * and what happened to those that were up to a block, from the index: nobody reads
 * old blocks. An answer is of one snapshot, and made no faster than it is taken.
 */
import type { FastifyInstance } from 'fastify';
import Type, { type Static } from 'typebox';
import { needBitcoin } from '../../../families/bitcoin.ts';
import { formatId, parseId } from '../../../ledgers/bitcoin/index.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { fromHex, toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { SCRIPTS_AT_ONCE, SCRIPTS_BODY_BYTES_MAX } from '../../../util/limits.ts';
import { bitcoinPast } from '../../../wallet/bitcoin/wallet-tx.ts';
import { isPrunedTx } from '../../../wallet/past/pruned-tx.ts';
import { hasBlock, isUsed, type PastRequest, type PastStep, pastTxs } from '../../../wallet/past/script-history.ts';
import { MEDIA_TYPES } from '../../http/conditional.ts';
import { answerRead } from '../../http/read-answer.ts';
import { type EncodedRow, LINES_FRAME, RowStream } from '../../http/rows.ts';
import type { ServerState } from '../../http/server-state.ts';
import { makeRows } from '../../http/slices.ts';
import type { Typebox } from '../../http/typed.ts';
import { API, described, describedLines, ONLY_READS } from '../../native/openapi.ts';
import type { WireShape } from '../../shapes.ts';

export const scriptHistory: WireShape = { name: 'script-history', routes: registerScriptHistory };

const closed = { additionalProperties: false } as const;
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });
const Height = Type.Integer({ minimum: 0, description: 'Of the block.' });
const Scripts = Type.Array(Type.String({ pattern: '^([0-9a-f]{2})*$', description: 'In hex.' }), { maxItems: SCRIPTS_AT_ONCE });
const Outpoints = Type.Array(Type.String({ pattern: '^[0-9a-f]{64}#\\d{1,10}$', description: '`txid#index`.' }), {
  maxItems: SCRIPTS_AT_ONCE,
});

const UsedBody = Type.Object(
  {
    scripts: Scripts,
    from: Type.Optional(Type.Integer({ minimum: 0, description: 'PRUNED (410) if the history begins above this height.' })),
  },
  closed,
);
const TxsBody = Type.Object(
  { scripts: Scripts, outpoints: Type.Optional(Outpoints), to: Type.Object({ height: Height, hash: Hash }, closed) },
  closed,
);
const Line = Type.Object({
  txid: Type.Optional(Hash),
  raw: Type.Optional(Type.String({ description: 'In hex; empty: it was forgotten, because all it paid is spent.' })),
  spends: Type.Optional(Type.Array(Type.String(), { description: 'Of one that was forgotten: what it is known to have spent.' })),
  height: Type.Optional(Height),
  index: Type.Optional(Type.Integer({ description: 'In its block.' })),
  hash: Type.Optional(Type.String({ description: 'Of its block.' })),
  block_time: Type.Optional(Type.Integer()),
  end: Type.Optional(Type.Literal(true, { description: 'Of the last line: that was all.' })),
});

const USED = {
  ...described('Transactions', 'Which scripts were ever paid', {
    json: Type.Object({ used: Type.Array(Type.Boolean({ description: 'In the order asked for.' })) }),
    description: 'Needs `utxo.history`.',
  }),
  ...ONLY_READS,
  body: UsedBody,
};
const TXS = {
  ...describedLines(
    'Transactions',
    'What happened to scripts',
    Line,
    'A JSON document a line, in the order of the chain: what paid to the scripts or spent from them, and what spent the outpoints, up to a block; 404 if that block is not on the chain. Needs `utxo.history`.',
  ),
  ...ONLY_READS,
  body: TxsBody,
};

function registerScriptHistory(untyped: FastifyInstance, state: ServerState): void {
  const app = untyped.withTypeProvider<Typebox>();
  const { reads, network } = state.context;
  const { parameters, dialect } = needBitcoin(network, 'the past of scripts');
  const form = bitcoinPast(parameters.mweb);
  app.post(`${API}/scripts/used`, { schema: USED, bodyLimit: SCRIPTS_BODY_BYTES_MAX }, (request, reply) => {
    const { from = 0 } = request.body;
    const scripts = request.body.scripts.map((hex) => fromHex(hex));
    reply.header('cache-control', 'no-store');
    answerRead(reads, reply, (query) => {
      if (from > 0) query.history().needHeight(from);
      const made = makeRows(request.task, scripts, (script) => `${isUsed(query, form, script)}`);
      const body = made instanceof Promise ? made.then(usedText) : usedText(made);
      return { type: MEDIA_TYPES.json, body };
    });
  });
  app.post(`${API}/scripts/txs`, { schema: TXS, bodyLimit: SCRIPTS_BODY_BYTES_MAX }, (request, reply) => {
    const asked = readRequest(request.body);
    reply.header('cache-control', 'no-store');
    answerRead(reads, reply, (query) => {
      if (!hasBlock(query, asked.to)) throw new UnspentError('NOT_FOUND', 'that block is not on the chain');
      const lines = linesOf(pastTxs(query, asked, form, dialect.clock));
      const stream = new RowStream(
        request.task,
        lines,
        (line) => line !== '',
        (line) => line,
        'json',
        LINES_FRAME,
      );
      return { type: 'application/jsonl', body: state.stream(stream) };
    });
  });
}

function readRequest({
  scripts,
  outpoints = [],
  to,
}: Static<typeof TxsBody>): PastRequest & { readonly to: { readonly height: number; readonly hash: Uint8Array } } {
  return {
    scripts: scripts.map((hex) => fromHex(hex)),
    coins: outpoints.map((text) => parseOutpoint(text, parseId)),
    heightMax: to.height,
    to: { height: to.height, hash: parseId(to.hash) },
  };
}

function usedText(rows: readonly EncodedRow[]): string {
  return `{"used":[${rows.join(',')}]}`;
}

/** Empty: a step that has found nothing. */
function* linesOf(steps: Iterable<PastStep>): Generator<string, void, undefined> {
  for (const { found } of steps) {
    if (found === null) yield '';
    else yield lineOf(found);
  }
  yield JSON.stringify({ end: true });
}

function lineOf({ tx, block, height, txIndex }: NonNullable<PastStep['found']>): string {
  const spends = isPrunedTx(tx) ? { spends: tx.inputs.map((outpoint) => `${formatId(outpoint.txId)}#${outpoint.index}`) } : {};
  return JSON.stringify({
    txid: formatId(tx.id),
    raw: toHex(tx.raw),
    ...spends,
    height,
    index: txIndex,
    hash: formatId(block.hash),
    block_time: block.timestamp,
  });
}

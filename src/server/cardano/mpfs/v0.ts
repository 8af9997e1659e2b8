/**
 * The API of the first MPFS service, over the cages of its version: tokens,
 * requests, facts, waiting and submitting. Keys and values are text where the
 * bytes are text, and `0x` with hex where they are not, so that no byte is lost.
 * Routes that build transactions are in `v0-transactions.ts`.
 */
import Type from 'typebox';
import { formatAddress } from '../../../ledgers/cardano/index.ts';
import type { CageFact, CageToken, PendingRequest } from '../../../query/cardano/cage.ts';
import { toHex } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { MPFS_WAIT_BLOCKS_MAX, SUBMIT_HEX_MAX } from '../../../util/limits.ts';
import { losslessText } from '../../../util/text.ts';
import type { App } from '../../http/typed.ts';
import { hexBytes } from '../../native/keys.ts';
import { described, PROBLEM } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import { OUTPUT_PATH, TOKEN_PATH } from './schemas.ts';
import { submitCageTx } from './submit.ts';
import { registerV0Transactions } from './v0-transactions.ts';

const V0 = ['v0'] as const;
const ANY = Type.Object({}, { additionalProperties: true });
/** Facts are fields of one object. */
const AS_OBJECT = { open: '{', close: '}' };

export function registerV0(app: App, answers: MpfsAnswers): void {
  app.get('/config', { schema: described('Cages', 'v0: the script of the cage', { json: ANY }) }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const { stateScriptHash } = read.deploymentOf('v0');
      const plutus = answers.scripts.blueprint(stateScriptHash);
      return { address: formatAddress(read.scriptAddress(stateScriptHash)), policyId: toHex(stateScriptHash), plutus };
    });
  });

  app.get('/tokens', { schema: described('Cages', 'v0: all tokens', { json: ANY }) }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const head = read.query.head?.slot ?? null;
      const networkTip = answers.context.live.status.sourceTip?.slot ?? head;
      const tokens = [...read.cage.tokens()].filter(({ version }) => version === 'v0');
      return {
        tokens: tokens.map((token) => ({ tokenId: toHex(token.id.name), current: stateJson(token) })),
        indexerStatus: { ready: head !== null && head === networkTip, networkTip, indexerTip: head },
      };
    });
  });

  const token = { ...described('Cages', 'v0: a token and the requests for it', { json: ANY }), params: TOKEN_PATH };
  app.get('/token/:id', { schema: token }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const found = read.token(request.params.id, V0);
      return { ...stateJson(found), requests: [...read.cage.requests(found, read.nowMs)].filter(isBare).map(changeJson) };
    });
  });

  const facts = { ...described('Cages', 'v0: all facts of a token', { json: ANY }), params: TOKEN_PATH };
  app.get('/token/:id/facts', { schema: facts }, (request, reply) => {
    answers.give(request, reply, (read) => {
      const found = read.token(request.params.id, V0);
      return answers.rows(request, read.cage.facts(found), factField, AS_OBJECT);
    });
  });
  registerTransactions(app, answers);
  registerV0Transactions(app, answers);
  registerWaits(app, answers);
}

function stateJson({ state, txId, index }: CageToken): object {
  return { state: { owner: toHex(state.owner), root: toHex(state.root) }, outputRefId: `${toHex(txId)}-${index}` };
}

/** A request in the form of v0: the script sees no others. */
function isBare({ request }: PendingRequest): boolean {
  return request.terms === null;
}

function changeJson({ txId, index, request: { key, owner, operation } }: PendingRequest): object {
  const values =
    operation.type === 'update'
      ? { oldValue: losslessText(operation.before), newValue: losslessText(operation.after) }
      : { [operation.type === 'insert' ? 'newValue' : 'oldValue']: losslessText(operation.value) };
  return {
    outputRefId: `${toHex(txId)}-${index}`,
    change: { type: operation.type, key: losslessText(key), ...values },
    owner: toHex(owner),
  };
}

function factField({ key, value, slot }: CageFact): string {
  return `${JSON.stringify(losslessText(key))}:${JSON.stringify({ value: losslessText(value), slot })}`;
}

function registerTransactions(app: App, answers: MpfsAnswers): void {
  const submit = {
    tags: ['Cages'],
    summary: 'v0: submit a transaction that touches a cage',
    body: Type.Object({ signedTransaction: Type.String({ pattern: '^([0-9a-fA-F]{2})+$', maxLength: SUBMIT_HEX_MAX }) }),
    response: { 200: { description: 'The node took it.', content: { 'application/json': { schema: ANY } } }, default: PROBLEM },
  };
  app.post('/transaction', { schema: submit, bodyLimit: SUBMIT_HEX_MAX + 100 }, async (request, reply) => {
    const txHash = toHex(await submitCageTx(answers, request.body.signedTransaction));
    return reply
      .header('cache-control', 'no-store')
      .header('content-type', 'application/json; charset=utf-8')
      .send(JSON.stringify({ txHash }));
  });

  const info = {
    ...described('Cages', 'v0: where a transaction is', { json: ANY }),
    querystring: Type.Object({ txHash: OUTPUT_PATH.properties.tx }),
  };
  app.get('/transaction', { schema: info }, (request, reply) => {
    const txHash = request.query.txHash.toLowerCase();
    answers.give(request, reply, ({ query }) => {
      const output = query.outpoint(hexBytes(txHash), 0)?.output;
      if (output === undefined) throw new UnspentError('NOT_FOUND', `the transaction ${txHash} is in no block, or is forgotten`);
      return { txHash, slot: output.slot, blockHeight: output.height, index: output.txIndex };
    });
  });
}

function registerWaits(app: App, answers: MpfsAnswers): void {
  const count = Type.Integer({ minimum: 0, maximum: MPFS_WAIT_BLOCKS_MAX, description: 'Blocks to wait for.' });
  const Height = Type.Object({ height: Type.Integer() });
  const wait = async (reply: Parameters<MpfsAnswers['wait']>[0], blocks: number): Promise<string> => {
    let target: number | null = null;
    const { waitSecondsMax } = answers.context.config.server;
    const found = await answers.wait(reply, waitSecondsMax, ({ query }) => {
      const height = query.head?.height ?? 0;
      target ??= height + blocks;
      return height >= target ? { height } : null;
    });
    if (found === null) throw new UnspentError('NOT_YET', `${blocks} blocks did not come within ${waitSecondsMax} s`);
    return JSON.stringify(found);
  };
  const schema = { ...described('Cages', 'v0: wait for blocks', { json: Height }), params: Type.Object({ count }) };
  app.get('/wait/:count', { schema }, async (request, reply) => {
    const body = await wait(reply, request.params.count);
    return reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(body);
  });
  const posted = {
    tags: ['Cages'],
    summary: 'v0: wait for blocks, as a question with a body',
    body: Type.Object({ n: count }),
    response: { 200: { description: 'They are there.', content: { 'application/json': { schema: Height } } }, default: PROBLEM },
  };
  app.post('/indexer/wait-blocks', { schema: posted }, async (request, reply) => {
    const body = await wait(reply, request.body.n);
    return reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(body);
  });
}

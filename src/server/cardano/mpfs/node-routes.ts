/**
 * Routes of the MPFS API that need the node behind the store: what its ledger
 * says, for clients that evaluate their transactions themselves, and the one
 * transaction that the current service builds. And where the operator's pages are.
 */
import Type from 'typebox';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { sweepTx } from '../../../query/cardano/cage-tx/transactions.ts';
import { toHex } from '../../../util/bytes.ts';
import { REFERENCE_PATH } from '../../http/problem.ts';
import type { App } from '../../http/typed.ts';
import { PROBLEM } from '../../native/openapi.ts';
import type { MpfsAnswers } from './answer.ts';
import { EvalContext, HEX_ADDRESS, TOKEN_PATH } from './schemas.ts';

const TRUST = 'As the node that this server follows says it. Nothing proves it: no tree commits to protocol parameters or clocks.';

export function registerNodeRoutes(app: App, answers: MpfsAnswers): void {
  const context = {
    tags: ['Cages'],
    summary: "What the node's ledger says, for evaluating scripts",
    description: 'Not proven. Needs the local socket of a node (n2c:PATH) to be followed.',
    response: {
      200: { description: 'In CBOR, as the node says it.', content: { 'application/json': { schema: EvalContext } } },
      default: PROBLEM,
    },
  };
  app.get('/eval-context', { schema: context }, async (_request, reply) => {
    const { parameters, systemStart, eraHistory } = await answers.context.ledger();
    const { shelleyEpochSlots, shelleySlotMs } = answers.network;
    const body = {
      protocol_parameters: { verified: false, cbor: toHex(parameters) },
      system_start_cbor: toHex(systemStart),
      epoch_size: shelleyEpochSlots,
      slot_length_ms: shelleySlotMs,
      era_history_cbor: toHex(eraHistory),
      trusted: true,
      trust_assumption: TRUST,
    };
    return reply.header('cache-control', 'no-store').header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
  });

  const Swept = Type.Object({ tx: Type.String({ pattern: '^([0-9a-f]{2})+$', description: 'Its CBOR, without signatures.' }) });
  const sweep = {
    tags: ['Cages'],
    summary: 'Build a transaction that takes what is no request away from a request script',
    description: 'Not signed. Needs the local socket of a node (n2c:PATH) to be followed, for protocol parameters.',
    body: Type.Object(
      { token: TOKEN_PATH.properties.id, utxo: Type.String({ description: 'The output, as `TXID#INDEX`.' }), address: HEX_ADDRESS },
      { additionalProperties: false },
    ),
    response: {
      200: { description: 'To be signed by the owner of the token.', content: { 'application/json': { schema: Swept } } },
      default: PROBLEM,
    },
  };
  app.post('/tx/sweep', { schema: sweep }, (request, reply) => {
    const { token, utxo, address } = request.body;
    parseOutpoint(utxo);
    return answers.build(reply, address, (ground, read) => ({ tx: toHex(sweepTx(ground, read.token(token), utxo).tx) }));
  });

  const elsewhere = { '/metrics': '/metrics', '/metrics/prometheus': '/metrics', '/swagger-ui': REFERENCE_PATH } as const;
  for (const [path, there] of Object.entries(elsewhere)) {
    app.get(path, { schema: { hide: true } }, (_request, reply) => reply.redirect(there, 307));
  }
}

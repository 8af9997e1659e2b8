/**
 * `POST /api/v1/txs/evaluate`: what the scripts of a transaction use, or which
 * of them fails and why.
 */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { SCRIPT_PURPOSES } from '../../../evaluation/cardano/outcome.ts';
import { parseOutpoint } from '../../../ledgers/outpoint.ts';
import { hexOf } from '../../../query/dialect.ts';
import { fromHex } from '../../../util/bytes.ts';
import { EVALUATION_BODY_BYTES_MAX, EVALUATION_OUTPUTS_MAX, SUBMIT_HEX_MAX } from '../../../util/limits.ts';
import { nameBlock } from '../../http/read-answer.ts';
import type { ServerState } from '../../http/server-state.ts';
import type { Typebox } from '../../http/typed.ts';
import { API, ONLY_READS, PROBLEM } from '../../native/openapi.ts';
import type { WireShape } from '../../shapes.ts';
import { evaluationOf } from './tx-evaluation.ts';

export const evaluation: WireShape = { name: 'evaluation', routes: registerEvaluation };

const HEX = '^([0-9a-fA-F]{2})+$';
const AMOUNT = Type.String({ pattern: '^\\d+$' });

const Body = Type.Object(
  {
    tx: Type.String({
      pattern: HEX,
      maxLength: SUBMIT_HEX_MAX,
      description: 'A transaction in CBOR, as hex. It need not be signed, nor its redeemers have the right units.',
    }),
    additional: Type.Optional(
      Type.Array(
        Type.Object(
          {
            outpoint: Type.String({ description: '`TXID#INDEX`.' }),
            output: Type.String({ pattern: HEX, maxLength: SUBMIT_HEX_MAX, description: 'Its CBOR, as hex.' }),
          },
          { additionalProperties: false },
        ),
        { maxItems: EVALUATION_OUTPUTS_MAX, description: 'Outputs that are in no block yet; they count before those of the chain.' },
      ),
    ),
  },
  { additionalProperties: false },
);

const Evaluated = Type.Object({
  scripts: Type.Array(
    Type.Object({
      purpose: Type.Union(SCRIPT_PURPOSES.map((purpose) => Type.Literal(purpose))),
      index: Type.Integer({ description: 'Which input, policy, certificate, withdrawal, vote or proposal, in ledger order.' }),
      memory: AMOUNT,
      steps: AMOUNT,
    }),
  ),
});

const schema = {
  tags: ['Transactions'],
  summary: 'What the scripts of a transaction use',
  description:
    'Each in units of memory and steps, with the cost models of the node that is followed. SCRIPT_FAILED names the script that fails, OUTPUT_UNKNOWN outputs that are not unspent. Fees and signatures are not looked at.',
  ...ONLY_READS,
  body: Body,
  response: {
    200: { description: 'Every script succeeds.', content: { 'application/json': { schema: Evaluated } } },
    default: PROBLEM,
  },
};

function registerEvaluation(app: FastifyInstance, { context }: ServerState): void {
  const txs = evaluationOf(app, context);
  app
    .withTypeProvider<Typebox>()
    .post(
      `${API}/txs/evaluate`,
      { schema, bodyLimit: EVALUATION_BODY_BYTES_MAX },
      async ({ body: { tx, additional = [] }, task }, reply) => {
        const outputs = additional.map(({ outpoint, output }) => ({ ...parseOutpoint(outpoint), output: fromHex(output) }));
        const { scripts, head } = await txs.evaluate(fromHex(tx), outputs, () => task.isCancelled);
        nameBlock(reply, head === null ? null : { height: `${head.height}`, slot: `${head.slot}`, hash: hexOf(head.hash) });
        const documents = scripts.map(({ purpose, index, units }) => ({
          purpose,
          index,
          memory: `${units.memory}`,
          steps: `${units.steps}`,
        }));
        return reply
          .header('cache-control', 'no-store')
          .header('content-type', 'application/json; charset=utf-8')
          .send(JSON.stringify({ scripts: documents }));
      },
    );
}

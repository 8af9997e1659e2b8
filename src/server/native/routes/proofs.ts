/**
 * Roots, and proofs that hold for them: documents that `verify-proof` and any
 * browser can check, each with the block it is at. For the present and, with
 * `at`, for an earlier block.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { CSMT } from '../../../projections/csmt/csmt.ts';
import { MMR } from '../../../projections/mmr/rows.ts';
import { SET_HASH } from '../../../projections/set-hash/set-hash.ts';
import { documentToJson } from '../../../proofs/index.ts';
import { Prover } from '../../../query/proofs.ts';
import { HTTP_PROOF_OUTPUTS_MAX } from '../../../util/limits.ts';
import type { App } from '../../http/typed.ts';
import type { NativeAnswers, ReadContext } from '../answer.ts';
import { addressOwner } from '../keys.ts';
import { described } from '../openapi.ts';
import { PATH, ReadQuery, ref } from '../schemas.ts';
import { LeafIndex, RangeRoot, TreeRoot } from '../schemas-proofs.ts';

const OUTPOINT = Type.Object({ tx: PATH.tx, index: PATH.index });

export function registerProofs(app: App, answers: NativeAnswers): void {
  const { context } = answers;
  const giveFrom =
    (names: readonly string[]): Give =>
    (request, reply, make) => {
      const produce = ({ query, view }: ReadContext): string => JSON.stringify(make(new Prover(query, view, context)));
      answers.give(request, reply, produce, (query) => Prover.partsOf(query, context, names));
    };
  const give = giveFrom([MMR, CSMT, SET_HASH]);
  const schema = { ...described('Proofs', 'Every root that is kept', { json: ref('Roots') }), querystring: ReadQuery };
  app.get('/roots', { schema }, (request, reply) => {
    give(request, reply, (prover) => ({ point: prover.point, ...prover.roots() }));
  });
  registerRange(app, answers, giveFrom([MMR]));
  registerTree(app, answers, giveFrom([CSMT]));
}

/** Answers with what is made of the roots and proofs at the point that is asked for. */
type Give = (request: FastifyRequest, reply: FastifyReply, make: (prover: Prover) => object) => void;

/** The mountain range over all outputs (`utxo.store = "mmr"`). */
function registerRange(app: App, { context }: NativeAnswers, give: Give): void {
  const { dialect } = context.network;
  const rootSchema = { ...described('Proofs', 'The roots of the mountain range', { json: RangeRoot }), querystring: ReadQuery };
  app.get('/utxo/mmr/root', { schema: rootSchema }, (request, reply) => {
    give(request, reply, (prover) => {
      const { merged, root, bitmap, size } = prover.mmrRoots();
      return { point: prover.point, root: merged, range_root: root, bitmap_root: bitmap, size };
    });
  });

  const proofSchema = {
    ...described('Proofs', 'Proof that an output is unspent, or spent', { json: ref('RangeDocument') }),
    params: OUTPOINT,
    querystring: ReadQuery,
  };
  app.get('/utxo/mmr/proof/:tx/:index', { schema: proofSchema }, (request, reply) => {
    const [txId, index] = [dialect.parseId(request.params.tx), request.params.index];
    give(request, reply, (prover) => documentToJson(prover.outpoint(txId, index, 'mmr')));
  });

  const indexSchema = {
    ...described('Proofs', 'Where an output stands in the mountain range', { json: LeafIndex }),
    params: OUTPOINT,
    querystring: ReadQuery,
  };
  app.get('/utxo/mmr/leaf-index/:tx/:index', { schema: indexSchema }, (request, reply) => {
    const [txId, index] = [dialect.parseId(request.params.tx), request.params.index];
    give(request, reply, (prover) => {
      const leaf = prover.leafIndex(txId, index);
      return { point: prover.point, tx_hash: dialect.formatId(txId), output_index: index, leaf_index: leaf };
    });
  });
}

/** The tree over the unspent set (`proofs.csmt`). */
function registerTree(app: App, { context }: NativeAnswers, give: Give): void {
  const { dialect } = context.network;
  const rootSchema = { ...described('Proofs', 'The root of the tree over the unspent set', { json: TreeRoot }), querystring: ReadQuery };
  app.get('/csmt/root', { schema: rootSchema }, (request, reply) => {
    give(request, reply, (prover) => ({ point: prover.point, root: prover.csmtRoot() }));
  });

  const outputSchema = {
    ...described('Proofs', 'Proof that an output is unspent', { json: ref('InclusionDocument') }),
    params: OUTPOINT,
    querystring: ReadQuery,
  };
  app.get('/csmt/utxo/:tx/:index/proof', { schema: outputSchema }, (request, reply) => {
    const [txId, index] = [dialect.parseId(request.params.tx), request.params.index];
    give(request, reply, (prover) => documentToJson(prover.outpoint(txId, index, 'csmt')));
  });

  const addressSchema = {
    ...described('Proofs', 'Proof of all unspent outputs of an address', {
      json: ref('CompleteDocument'),
      description: `Outputs come with it. More than ${HTTP_PROOF_OUTPUTS_MAX} are refused (LIMIT): \`unspent prove address\` has no such limit.`,
    }),
    params: Type.Object({ address: PATH.address }),
    querystring: ReadQuery,
  };
  app.get('/csmt/addresses/:address/proof', { schema: addressSchema }, (request, reply) => {
    const { address } = request.params;
    const owner = addressOwner(address, dialect);
    give(request, reply, (prover) => documentToJson(prover.address(owner, HTTP_PROOF_OUTPUTS_MAX)));
  });

  const absenceSchema = {
    ...described('Proofs', 'Proof that an address has no such unspent output', { json: ref('AbsenceDocument') }),
    querystring: Type.Object(
      { ...ReadQuery.properties, address: PATH.address, tx: PATH.tx, index: PATH.index },
      { additionalProperties: false },
    ),
  };
  app.get('/csmt/absence', { schema: absenceSchema }, (request, reply) => {
    const { address, tx, index } = request.query;
    const owner = addressOwner(address, dialect);
    give(request, reply, (prover) => documentToJson(prover.absent(owner, dialect.parseId(tx), index)));
  });
}

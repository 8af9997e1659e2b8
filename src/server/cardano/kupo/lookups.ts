/**
 * What Kupo gives by a name: datums and scripts by their hash, patterns, and
 * points of the chain by their slot.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ChainRow } from '../../../projections/chain.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { UnspentError } from '../../../util/errors.ts';
import { type GivenParameters, hexParameter } from '../../http/parameters.ts';
import type { KupoAnswers } from './answer.ts';
import { pointFields, scriptJson } from './match-json.ts';
import { hasFlag } from './match-query.ts';
import { patternOf } from './matches.ts';
import { parsePattern } from './pattern.ts';

const DATUM_HASH_BYTES = 32;
const SCRIPT_HASH_BYTES = 28;

/** Every output is kept, so this one pattern covers all others. */
const PATTERNS = JSON.stringify(['*']);

interface Params {
  readonly hash: string;
  readonly slot: string;
}

const paramsOf = ({ params }: FastifyRequest): Params => params as Params;

export function registerLookups(app: FastifyInstance, answers: KupoAnswers): void {
  app.get('/datums/:hash', (request, reply) => {
    const hash = hexParameter(paramsOf(request).hash, 'datum hash', DATUM_HASH_BYTES);
    answers.give(request, reply, (query) => {
      const datum = query.datum(hash);
      return datum === null ? 'null' : `{"datum":"${hexOf(datum.bytes)}"}`;
    });
  });
  app.get('/scripts/:hash', (request, reply) => {
    const hash = hexParameter(paramsOf(request).hash, 'script hash', SCRIPT_HASH_BYTES);
    answers.give(request, reply, (query) => {
      const script = query.script(hash);
      return script === null ? 'null' : scriptJson(script.bytes);
    });
  });
  registerCheckpoints(app, answers);
  registerPatterns(app, answers);
}

function registerCheckpoints(app: FastifyInstance, answers: KupoAnswers): void {
  app.get('/checkpoints', (request, reply) => {
    answers.give(request, reply, (query) => `[${sampledBlocks(query).map(pointJson).join(',')}]`);
  });
  app.get('/checkpoints/:slot', (request, reply) => {
    const { slot } = paramsOf(request);
    if (!/^\d{1,15}$/.test(slot)) throw new UnspentError('USAGE', `a slot is a number, not '${slot.slice(0, 100)}'`, { field: 'slot' });
    const isStrict = hasFlag(request.query as GivenParameters, 'strict');
    answers.give(request, reply, (query) => {
      const row = query.blockAtSlot(Number(slot));
      return row === null || (isStrict && row.slot !== Number(slot)) ? 'null' : pointJson(row);
    });
  });
}

/** The newest block and, the older the further apart, blocks down to the first. */
function sampledBlocks(query: Query): ChainRow[] {
  const { head } = query;
  const found: ChainRow[] = [];
  if (head === null) return found;
  const first = query.firstHeight();
  for (let depth = 0; head.height - depth >= first; depth = depth === 0 ? 1 : 2 * depth) {
    const row = query.blockAtHeight(head.height - depth);
    if (row !== null) found.push(row);
  }
  return found;
}

function pointJson({ slot, hash }: ChainRow): string {
  return `{${pointFields(slot, hexOf(hash))}}`;
}

function registerPatterns(app: FastifyInstance, answers: KupoAnswers): void {
  app.get('/patterns', (request, reply) => answers.give(request, reply, () => PATTERNS));
  app.get('/patterns/*', (request, reply) => {
    parsePattern(patternOf(request));
    answers.give(request, reply, () => PATTERNS);
  });
  for (const path of ['/patterns', '/patterns/*']) {
    app.route({
      method: ['PUT', 'DELETE'],
      url: path,
      handler() {
        throw new UnspentError('UNSUPPORTED', 'patterns are fixed here: every output is kept, so that * covers them all');
      },
    });
  }
}

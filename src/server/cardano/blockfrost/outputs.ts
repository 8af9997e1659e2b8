/**
 * Lists of unspent outputs: of an address or a credential, with an asset, of a
 * stake account. They differ in what is looked for and share their pages.
 *
 * An address without outputs is an empty list, also one that never had any:
 * Blockfrost answers that one with 404, which some clients take for a failure.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { parseUnit } from '../../../ledgers/asset.ts';
import { CARDANO_CURRENCY } from '../../../query/cardano/dialect.ts';
import { type MatchPattern, unspentMatches } from '../../../query/cardano/matches.ts';
import type { IndexedUtxo, Utxo } from '../../../query/utxo.ts';
import { type TakenPage, takePage } from '../../http/slices.ts';
import type { BlockfrostAnswers } from './answer.ts';
import { parseHolder, parseStakeAddress } from './holder.ts';
import { OutputWriter } from './output-json.ts';
import { listName, readPage } from './page.ts';
import { PagePlaces } from './page-places.ts';

type Params = Readonly<Record<'address' | 'asset' | 'stake', string>>;

export function registerOutputs(app: FastifyInstance, answers: BlockfrostAnswers): void {
  const { network } = answers;
  const places = new PagePlaces<Uint8Array>();
  const list = (path: string, patternsOf: (params: Params) => readonly MatchPattern[]): void => {
    app.get(path, (request, reply) => giveOutputs(request, reply, answers, places, patternsOf(request.params as Params)));
  };
  list('/addresses/:address/utxos', ({ address }) => [parseHolder(address, network).pattern]);
  list('/addresses/:address/utxos/:asset', ({ address, asset }) => [parseHolder(address, network).pattern, ...assetPatterns(asset)]);
  list('/accounts/:stake/utxos', ({ stake }) => [{ kind: 'stake', key: parseStakeAddress(stake, network).hash }]);
}

/** Every output holds lovelace. */
function assetPatterns(unit: string): readonly MatchPattern[] {
  return unit === CARDANO_CURRENCY.unit ? [] : [{ kind: 'asset', ...parseUnit(unit) }];
}

function giveOutputs(
  request: FastifyRequest,
  reply: FastifyReply,
  answers: BlockfrostAnswers,
  places: PagePlaces<Uint8Array>,
  patterns: readonly MatchPattern[],
): void {
  const page = readPage(request);
  answers.give(request, reply, (query) => {
    const writer = new OutputWriter(query, answers.dialect, answers.isYaci);
    const list = listName(request, query, page);
    const { after, skip } = places.find(list, page);
    const { rows, accept } = unspentMatches(query, answers.traits, patterns, { order: page.order, after });
    const finish = ({ rows: made, last }: TakenPage<Utxo | IndexedUtxo, object>): readonly object[] => {
      if (last !== null && 'cursor' in last && made.length === page.limit)
        places.remember(list, page.skip + page.limit, Uint8Array.from(last.cursor));
      return made;
    };
    const taken = takePage(request.task, rows, { skip, limit: page.limit, accept }, (utxo) => writer.unspent(utxo));
    return taken instanceof Promise ? taken.then(finish) : finish(taken);
  });
}

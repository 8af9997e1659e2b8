/**
 * Assets: how much there is, who holds it, and what a policy has made. Added up
 * from the unspent outputs, in slices. An asset that nobody holds is not found,
 * whether it was burned or never was: what was minted is not kept.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type AssetId, POLICY_BYTES, parseUnit } from '../../../ledgers/asset.ts';
import { assetFingerprint } from '../../../ledgers/cardano/bech32-ids.ts';
import { formatAddress } from '../../../ledgers/cardano/index.ts';
import { describeStored } from '../../../query/cardano/describe-stored.ts';
import { type MatchPattern, unspentMatches } from '../../../query/cardano/matches.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { Query } from '../../../query/query.ts';
import { equalBytes } from '../../../util/bytes.ts';
import { UnspentError } from '../../../util/errors.ts';
import { BALANCE_ASSETS_MAX } from '../../../util/limits.ts';
import { hexParameter } from '../../http/parameters.ts';
import { type BlockfrostAnswers, notFound } from './answer.ts';
import { cutPage, readPage } from './page.ts';

interface Params {
  readonly asset: string;
  readonly policy: string;
}

type Described = ReturnType<typeof describeStored>;

/** What a sum is of, in the order of the chain. */
type Sums = ReadonlyMap<string, bigint>;

export function registerAssets(app: FastifyInstance, answers: BlockfrostAnswers): void {
  app.get('/assets/policy/:policy', (request, reply) => {
    const { policy: text } = request.params as Params;
    const policy = hexParameter(text, 'policy', POLICY_BYTES);
    const page = readPage(request);
    answers.give(request, reply, (query) =>
      added(query, answers, request, { kind: 'policy', policy }, unitsOf(policy), (sums) => {
        if (sums.size === 0) throw notFound(`nobody holds an asset of ${text}`);
        return cutPage([...sums], page).map(([asset, quantity]) => ({ asset, quantity: quantity.toString() }));
      }),
    );
  });

  app.get('/assets/:asset/addresses', (request, reply) => {
    const id = parseUnit((request.params as Params).asset);
    const page = readPage(request);
    answers.give(request, reply, (query) =>
      added(query, answers, request, { kind: 'asset', ...id }, holderOf(id), (sums) => {
        if (sums.size === 0) throw nobodyHolds(id);
        return cutPage([...sums], page).map(([address, quantity]) => ({ address, quantity: quantity.toString() }));
      }),
    );
  });

  app.get('/assets/:asset', (request, reply) => {
    const id = parseUnit((request.params as Params).asset);
    answers.give(request, reply, (query) =>
      added(query, answers, request, { kind: 'asset', ...id }, unitsOf(id.policy), (sums) => {
        const quantity = sums.get(unitOf(id));
        if (quantity === undefined) throw nobodyHolds(id);
        return assetJson(id, quantity);
      }),
    );
  });
}

/** What is only in transactions (mints and their metadata), or in a registry elsewhere, is null. */
function assetJson(id: AssetId, quantity: bigint): object {
  return {
    asset: unitOf(id),
    policy_id: hexOf(id.policy),
    asset_name: id.name.length === 0 ? null : hexOf(id.name),
    fingerprint: assetFingerprint(id),
    quantity: quantity.toString(),
    initial_mint_tx_hash: null,
    mint_or_burn_count: null,
    onchain_metadata: null,
    onchain_metadata_standard: null,
    onchain_metadata_extra: null,
    metadata: null,
  };
}

/** Adds up what `amountsIn` finds in each unspent output that matches. Throws LIMIT for sums of too many things. */
function added<T>(
  query: Query,
  { traits }: BlockfrostAnswers,
  { task }: FastifyRequest,
  pattern: MatchPattern,
  amountsIn: (output: Described) => Iterable<readonly [of: string, quantity: bigint]>,
  result: (sums: Sums) => T,
): T | Promise<T> {
  const { rows, accept } = unspentMatches(query, traits, [pattern], { order: 'asc' });
  const sums = new Map<string, bigint>();
  return task.inSlices(
    rows,
    (utxo) => {
      if (!accept(utxo)) return true;
      for (const [of, quantity] of amountsIn(describeStored(utxo.txId, utxo.index, utxo.output.raw))) {
        const known = sums.get(of);
        if (known === undefined) task.hold(of.length);
        sums.set(of, (known ?? 0n) + quantity);
      }
      if (sums.size > BALANCE_ASSETS_MAX) throw new UnspentError('LIMIT', `there are more than ${BALANCE_ASSETS_MAX} of them`);
      return true;
    },
    () => result(sums),
  );
}

/** The assets of a policy in an output. */
function unitsOf(policy: Uint8Array) {
  return ({ assets }: Described): (readonly [string, bigint])[] =>
    assets.filter((asset) => asset.quantity !== 0n && equalBytes(asset.policy, policy)).map((asset) => [unitOf(asset), asset.quantity]);
}

/** The owner of an output, with how much of an asset is in it. */
function holderOf(id: AssetId) {
  const amounts = unitsOf(id.policy);
  const unit = unitOf(id);
  return (output: Described): (readonly [string, bigint])[] =>
    amounts(output)
      .filter(([each]) => each === unit)
      .map(([, quantity]) => [formatAddress(output.address), quantity]);
}

function unitOf({ policy, name }: AssetId): string {
  return hexOf(policy) + hexOf(name);
}

function nobodyHolds(id: AssetId): UnspentError {
  return notFound(`nobody holds ${unitOf(id)}`);
}

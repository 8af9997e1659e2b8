/**
 * What the node that is followed says of stake, as Ogmios writes it: accounts and
 * the pots that rewards come from. The store knows nothing of either.
 */
import { poolIdOfHash } from '../../../ledgers/cardano/bech32-ids.ts';
import { type Credential, parseCredential } from '../../../ledgers/cardano/index.ts';
import type { StakeAccount } from '../../../ledgers/cardano/stake-accounts.ts';
import { hexOf } from '../../../query/dialect.ts';
import { UnspentError } from '../../../util/errors.ts';
import { OGMIOS_ACCOUNTS_MAX } from '../../../util/limits.ts';
import type { ServerContext } from '../../context.ts';
import { askPots, askStakeAccounts } from '../stake-accounts.ts';
import { drepJson } from './certificates-json.ts';
import type { JsonValue } from './json-text.ts';
import { ada } from './parameters-json.ts';
import type { RpcMethod } from './rpc.ts';

export function stakeMethods(context: ServerContext): [name: string, method: RpcMethod][] {
  return [
    ['queryLedgerState/rewardAccountSummaries', ({ keys, scripts }) => accountSummaries(context, keys, scripts)],
    ['queryLedgerState/treasuryAndReserves', () => treasuryAndReserves(context)],
  ];
}

/** Of accounts that are registered. Throws USAGE, UNSUPPORTED. */
async function accountSummaries(context: ServerContext, keys: unknown = [], scripts: unknown = []): Promise<JsonValue> {
  const asked = [...credentialsOf(keys, 'key'), ...credentialsOf(scripts, 'script')];
  if (asked.length > OGMIOS_ACCOUNTS_MAX) throw new UnspentError('USAGE', `more than ${OGMIOS_ACCOUNTS_MAX} accounts`);
  if (asked.length === 0) return [];
  return (await askStakeAccounts(context, asked)).map(summaryJson);
}

async function treasuryAndReserves(context: ServerContext): Promise<JsonValue> {
  const { treasury, reserves } = await askPots(context);
  return { treasury: ada(treasury), reserves: ada(reserves) };
}

/** Hex does not say whether it is of a key or a script, the list does. */
function credentialsOf(list: unknown, kind: Credential['kind']): Credential[] {
  if (!Array.isArray(list)) throw new UnspentError('USAGE', 'keys and scripts are lists of stake credentials or stake addresses');
  return list.map((text) => {
    const credential = parseCredential(String(text));
    return { hash: credential.hash, kind: credential.kind ?? kind };
  });
}

/** Lucid 0.1.94 takes `key` and `script` for `from`, where Ogmios says `verificationKey`: of keys it is left out, which both take. */
function summaryJson({ credential: { kind, hash }, pool, drep, rewards, deposit }: StakeAccount): JsonValue {
  return {
    from: kind === 'script' ? 'script' : undefined,
    credential: hexOf(hash),
    stakePool: pool === null ? undefined : { id: poolIdOfHash(pool) },
    delegateRepresentative: drep === null ? undefined : drepJson(drep),
    rewards: ada(rewards),
    deposit: ada(deposit),
  };
}

/**
 * A payment: coins are chosen and leased in one database transaction, and a
 * partially signed transaction is made of them, for whoever has the keys. The
 * wallet records nothing else before the signed transaction comes back
 * (broadcast.ts); what is not sent is free again when the lease ends.
 */
import { randomBytes } from 'node:crypto';
import type { Outpoint } from '../../../ledgers/outpoint.ts';
import { toHex } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import type { FreeCoins } from '../../free-coins.ts';
import type { AccountInfo, WalletCoin, WalletInfo } from '../../records.ts';
import { COINBASE_MATURITY } from '../../rules/confirmations.ts';
import { refusal } from '../../rules/failures.ts';
import type { Coin, PaymentOutput, Selection, SelectionRequest } from '../../selection/bitcoin/coin.ts';
import { antiSnipingLocktime } from '../../selection/bitcoin/locktime.ts';
import { selectCoins, selectFromTable } from '../../selection/bitcoin/select.ts';
import { reusingColumns } from '../../selection/columns.ts';
import { systemRandom } from '../../selection/random.ts';
import type { ChooseCoins } from '../../store.ts';
import { nextAddress } from './addresses.ts';
import type { CoinChoice } from './coin-choice.ts';
import { checkFee, checkFeeRate, type FeeAllowance } from './fee-guard.ts';
import { relayPolicyOf } from './relay-policy.ts';
import { Spendables } from './spendable.ts';
import type { WalletContext } from './wallet-context.ts';

export interface PaymentRequest extends FeeAllowance, CoinChoice {
  readonly outputs: readonly PaymentOutput[];
  /** In sat/kvB. */
  readonly rate: number;
  /** Only coins of this account are spent, and change goes to it; default: all, and the first. */
  readonly account?: string | undefined;
  /** These coins and no others. */
  readonly coins?: readonly Outpoint[] | undefined;
  /** These coins, and others as needed. */
  readonly include?: readonly Outpoint[] | undefined;
  /** Where change goes; default: to the account. */
  readonly change?: { readonly account?: string | undefined; readonly script?: Uint8Array | undefined } | undefined;
  readonly leaseMs: number;
}

/** Coins that were chosen and are leased. */
export interface LeasedSelection {
  readonly selection: Selection;
  /** To release the coins, or to lease them for longer. */
  readonly leaseId: Uint8Array;
  readonly expiresAt: number;
}

export interface PreparedPayment extends LeasedSelection {
  readonly psbt: Uint8Array;
  /** Null: there is no change. */
  readonly changeScript: Uint8Array | null;
}

/** Throws as `selectPayment`, and PSBT_INVALID. */
export async function preparePayment(context: WalletContext, wallet: WalletInfo, request: PaymentRequest): Promise<PreparedPayment> {
  const spendables = await Spendables.read(context, wallet, request.rate);
  const leased = await selectWith(context, wallet, spendables, request);
  return finishPayment(context, wallet, spendables, leased, changeAccountOf(spendables, request), request.change?.script);
}

/**
 * Chooses coins for a payment and leases them. Throws FUNDS_INSUFFICIENT, TX_TOO_LARGE, OUTPUT_DUST, ACCOUNT_UNKNOWN,
 * UTXO_UNKNOWN for a coin that is none, or is leased, FEE_TOO_HIGH, USAGE.
 */
export async function selectPayment(context: WalletContext, wallet: WalletInfo, request: PaymentRequest): Promise<LeasedSelection> {
  return selectWith(context, wallet, await Spendables.read(context, wallet, request.rate), request);
}

async function selectWith(
  context: WalletContext,
  wallet: WalletInfo,
  spendables: Spendables,
  request: PaymentRequest,
): Promise<LeasedSelection> {
  const { account: name, coins, include = [] } = request;
  if (coins !== undefined && include.length > 0)
    throw new UnspentError('USAGE', 'name all coins that are spent, or some to which others are added, and not both');
  const account = spendables.accountNamed(name);
  const terms = selectionTerms(context, spendables, changeAccountOf(spendables, request), request);
  return chooseAndLease(context, wallet, request, (free) => {
    const preset = spendables.coins((coins ?? include).map((outpoint) => coinAt(free, outpoint)));
    if (coins !== undefined) return selectCoins([], { ...terms, preset, presetOnly: true });
    const choice = { ...request, accountId: name === undefined ? undefined : account.id };
    return reusingColumns(() => selectFromTable(spendables.table(free, choice), { ...terms, preset }));
  });
}

function changeAccountOf(spendables: Spendables, { account, change }: PaymentRequest): AccountInfo {
  return spendables.accountNamed(change?.account ?? account);
}

/** `choose` gets the coins that nobody has leased; those it chooses that are not `held` already are leased, in the same transaction. */
export async function chooseAndLease(
  context: WalletContext,
  { id }: WalletInfo,
  request: FeeAllowance & Pick<PaymentRequest, 'rate' | 'leaseMs'>,
  choose: ChooseCoins<Selection>,
  held: readonly Coin[] = [],
): Promise<LeasedSelection> {
  const { store, now } = context;
  const { rate, leaseMs } = request;
  checkFeeRate(context, rate, request);
  const [leaseId, time] = [randomBytes(32), now()];
  const { selection } = await store.selectAndLease(
    id,
    { now: time, coinbaseMaturity: COINBASE_MATURITY },
    (free) => {
      const selection = choose(free);
      checkFee(context, selection.fee, request);
      return { selection, coins: selection.inputs.filter((coin) => !held.includes(coin)) };
    },
    { id: leaseId, now: time, durationMs: leaseMs },
  );
  return { selection, leaseId, expiresAt: time + leaseMs };
}

/** The terms of a selection, with change that goes to the account. Its address is decided on only when there is change. */
export function selectionTerms(
  context: WalletContext,
  spendables: Spendables,
  account: AccountInfo,
  {
    outputs,
    rate,
    change,
    policy,
    changeIndex,
    longTermRate,
    discardRate,
  }: Pick<PaymentRequest, 'outputs' | 'rate' | 'change' | keyof CoinChoice>,
): SelectionRequest {
  const branch = context.account(account).change === null ? 0 : 1;
  const spendWeight = spendables.weightOf(account.id);
  if (spendWeight === null)
    throw new UnspentError(
      'UNSUPPORTED',
      `outputs of account '${account.name}' are only watched: it has no keys, or scripts that are not signed here`,
    );
  const script = change?.script ?? context.sampleScript(account, branch).script;
  const { rates } = relayPolicyOf(context.network);
  return {
    outputs,
    change: { script, spendWeight },
    rates: { ...rates, longTerm: longTermRate ?? rates.longTerm, discard: discardRate ?? rates.discard, target: rate },
    ...(changeIndex === undefined ? {} : { changeIndex }),
    ...(policy === undefined ? {} : { policy }),
    combinedBumpFee: (coins) => spendables.combinedBumpFee(coins),
  };
}

/** From a selection to the transaction, with change that goes to the account, or to the script where one is given. If that fails, the coins are given back. */
export async function finishPayment(
  context: WalletContext,
  wallet: WalletInfo,
  spendables: Spendables,
  leased: LeasedSelection,
  account: AccountInfo,
  script?: Uint8Array,
): Promise<PreparedPayment> {
  const { selection, leaseId } = leased;
  try {
    const ownScript = async () => (await nextAddress(context, wallet, account, 1, true)).script;
    const changeScript = selection.changeIndex === null ? null : (script ?? (await ownScript()));
    const psbt = await psbtOf(context, wallet, spendables, selection, changeScript);
    return { ...leased, psbt, changeScript };
  } catch (error) {
    for (const coin of selection.inputs) {
      // A coin that was never leased has nothing to release; what went wrong first is what the caller has to know.
      await context.store.releaseCoin(wallet.id, coin, leaseId, context.now()).catch(() => {});
    }
    throw error;
  }
}

async function psbtOf(
  context: WalletContext,
  wallet: WalletInfo,
  spendables: Spendables,
  selection: Selection,
  changeScript: Uint8Array | null,
): Promise<Uint8Array> {
  const { store, keys, network, now } = context;
  const { inputs, changeIndex, change } = selection;
  const previous = await Promise.all(inputs.map(({ txId }) => store.getTx(wallet.id, txId)));
  const spent = inputs.map(({ index }, i) => previous[i].tx.outputs[index]);
  const owners = await spendables.owners([...spent.map(({ script }) => script), ...(changeScript === null ? [] : [changeScript])]);
  const outputs = selection.outputs.map(({ script, value }) => ({ script, amount: value }));
  if (changeScript !== null) {
    assert(changeIndex !== null, 'change has its place');
    const owner = owners.get(toHex(changeScript));
    outputs.splice(changeIndex, 0, { script: changeScript, amount: change, ...(owner === undefined ? {} : { owner }) });
  }
  const { syncedTo } = wallet;
  return keys.createPsbt({
    network,
    inputs: inputs.map(({ txId, index, value }, i) => {
      const owner = owners.get(toHex(spent[i].script));
      if (owner === undefined) throw refusal.addressUnknown(spent[i].script);
      return { txid: txId, index, amount: value, owner, previousTx: previous[i].tx.raw };
    }),
    outputs,
    lockTime:
      syncedTo === null
        ? 0
        : antiSnipingLocktime({ height: syncedTo.height, timeSeconds: syncedTo.timestamp }, Math.floor(now() / 1000), systemRandom()),
  });
}

function coinAt(coins: FreeCoins, outpoint: Outpoint): WalletCoin {
  const found = coins.find(outpoint);
  if (found === undefined) throw refusal.coinUnknown(outpoint);
  return found;
}

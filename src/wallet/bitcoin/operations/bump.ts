/**
 * A transaction that waits is helped on: by one that takes its place and pays
 * more (BIP125), or by a child that pays for both. Either is a partially signed
 * transaction, to be signed and broadcast as any other.
 */
import { decodeTx, describeTx } from '../../../ledgers/bitcoin/index.ts';
import { equalBytes, toHex } from '../../../util/bytes.ts';
import { assert, UnspentError } from '../../../util/errors.ts';
import { UNMINED } from '../../coin-columns.ts';
import type { FreeCoins } from '../../free-coins.ts';
import type { AccountId, AccountInfo, TxDetail, WalletCoin, WalletInfo, WalletTx } from '../../records.ts';
import { refusal } from '../../rules/failures.ts';
import { isLive } from '../../rules/status.ts';
import type { Coin, PaymentOutput } from '../../selection/bitcoin/coin.ts';
import { REPLACEABLE_SEQUENCE, selectReplacement, type Victim } from '../../selection/bitcoin/fee-bump.ts';
import { feeOf } from '../../selection/bitcoin/fee-rate.ts';
import { selectCoins } from '../../selection/bitcoin/select.ts';
import type { CoinChoice, CoinLimits } from './coin-choice.ts';
import type { FeeAllowance } from './fee-guard.ts';
import { chooseAndLease, finishPayment, type PreparedPayment, selectionTerms } from './payment.ts';
import { relayPolicyOf } from './relay-policy.ts';
import { Spendables } from './spendable.ts';
import { feeOfTx, vsizeOfTx } from './unconfirmed.ts';
import type { WalletContext } from './wallet-context.ts';

export interface BumpRequest extends FeeAllowance, CoinChoice {
  readonly txId: Uint8Array;
  /** In sat/kvB. */
  readonly rate: number;
  readonly leaseMs: number;
  /** Only one that says that it may be replaced (BIP125) is: for nodes that do not replace others. Default false. */
  readonly needsSignal?: boolean | undefined;
}

export interface ChildRequest extends BumpRequest {
  /** What the parent pays, where the wallet cannot know: not all its inputs are its own. */
  readonly parentFee?: bigint | undefined;
}

/**
 * The same payments with a higher fee: change pays it, and more coins where that does not suffice. Throws TX_UNKNOWN,
 * TX_NOT_UNMINED, REPLACEMENT_REFUSED, FEE_TOO_HIGH, FUNDS_INSUFFICIENT, INVALID_PARAM where the transaction is not all the wallet's own.
 */
export async function prepareReplacement(context: WalletContext, wallet: WalletInfo, request: BumpRequest): Promise<PreparedPayment> {
  const { txId, rate } = request;
  const victim = await waiting(context, wallet, txId);
  const before = await Spendables.read(context, wallet, rate);
  const victims = victimsOf(context, before, victim);
  const spendables = before.without(before.unconfirmed.descendants(toHex(victim.tx.id)));
  const { preset, accounts: spent } = await spentCoins(context, wallet, spendables, victim);
  const { outputs, change } = await paymentsOf(context, wallet, spendables, victim);
  // More coins come from where the others came from: what is in other accounts is not this payment's.
  const accounts = new Set([...change, ...spent]);
  const account = accountOf(spendables, accounts);
  const { replacement } = relayPolicyOf(context.network);
  const terms = { ...selectionTerms(context, spendables, account, { ...request, outputs }), preset };
  const leased = await chooseAndLease(
    context,
    wallet,
    request,
    (free) =>
      selectReplacement(
        spendables.coins(allowedCoins(free, spendables.limits(request, free)).filter((coin) => isOf(coin, accounts))),
        terms,
        victims,
        { ...replacement, fullRbf: replacement.fullRbf && request.needsSignal !== true },
      ),
    preset,
  );
  return finishPayment(context, wallet, spendables, leased, account);
}

/** A child that spends the wallet's largest output of the transaction to itself. Throws as `prepareReplacement`. */
export async function prepareChild(context: WalletContext, wallet: WalletInfo, request: ChildRequest): Promise<PreparedPayment> {
  const { txId, rate, parentFee } = request;
  const parent = await waiting(context, wallet, txId);
  const spendables = await Spendables.read(context, wallet, rate);
  let account = spendables.accountNamed(undefined);
  const fee = feeOfTx(parent);
  if (fee === null && parentFee === undefined) {
    throw refusal.invalid("what the parent pays is not known, because not all its inputs are the wallet's own: say its fee");
  }
  const leased = await chooseAndLease(context, wallet, request, (free) => {
    const own = [...free].filter((coin) => equalBytes(coin.outpoint.txId, txId) && spendables.coin(coin) !== null);
    const found = own.reduce<WalletCoin | undefined>((best, coin) => (best && best.amount >= coin.amount ? best : coin), undefined);
    const largest = found && spendables.coin(found);
    if (!found?.account || !largest) throw refusal.invalid('the wallet has no output of that transaction that is free to spend');
    account = accountOf(spendables, [found.account.id]);
    const terms = selectionTerms(context, spendables, account, { ...request, outputs: [] });
    const owed = fee === null ? shortfall(context, parent, parentFee ?? 0n, rate) : largest.bumpFee;
    return selectCoins([], {
      ...terms,
      combinedBumpFee: () => owed,
      preset: [withBumpFee(largest, owed)],
      presetOnly: true,
    });
  });
  return finishPayment(context, wallet, spendables, leased, account);
}

function allowedCoins(free: FreeCoins, limits: CoinLimits): WalletCoin[] {
  return [...free].filter(({ height, amount, outpoint }) => limits.allows(height ?? UNMINED, Number(amount), () => outpoint));
}

function isOf({ account }: WalletCoin, accounts: ReadonlySet<AccountId>): boolean {
  return account !== null && accounts.has(account.id);
}

/** The first of them. */
function accountOf(spendables: Spendables, [id]: Iterable<AccountId>): AccountInfo {
  const account = spendables.account(id);
  assert(account !== undefined, 'a coin that can be spent is of an account');
  return account;
}

function withBumpFee(coin: Coin, bumpFee: bigint): Coin {
  const { txId, index, value, weight, type, script, confirmations, own, ancestors, descendants } = coin;
  return { txId, index, value, weight, type, script, confirmations, own, ancestors, descendants, bumpFee };
}

/** What a parent whose fee the caller knows pays too little. */
function shortfall({ network }: WalletContext, parent: TxDetail, fee: bigint, rate: number): bigint {
  const missing = BigInt(feeOf(rate, vsizeOfTx(network, parent))) - fee;
  return missing > 0n ? missing : 0n;
}

async function waiting({ store }: WalletContext, { id }: WalletInfo, txId: Uint8Array): Promise<TxDetail> {
  const detail = await store.getTxDetail(id, txId);
  if (isLive(detail.status) && detail.block === null) return detail;
  throw refusal.txNotUnmined(txId, detail.status, detail.block !== null);
}

/** The coins that it spends, as if they were free, and whose they are. */
async function spentCoins(
  { store }: WalletContext,
  { id }: WalletInfo,
  spendables: Spendables,
  { tx, ownedInputs }: TxDetail,
): Promise<{ readonly preset: Coin[]; readonly accounts: readonly AccountId[] }> {
  if (ownedInputs.length < tx.inputs.length)
    throw refusal.invalid("not all inputs of the transaction are the wallet's own, so that it cannot replace it");
  const preset: Coin[] = [];
  const accounts: AccountId[] = [];
  for (const { txId, index } of tx.inputs) {
    const parent = await store.getTx(id, txId);
    const { script, amount } = parent.tx.outputs[index];
    const address = (await store.resolveOwned(id, [script])).get(toHex(script));
    const accountId = address?.derivation?.accountId;
    const coin = spendables.coin({
      outpoint: { txId, index },
      amount,
      script,
      kind: address?.kind ?? 'p2wpkh',
      account: accountId === undefined ? null : { id: accountId },
      height: parent.block?.height ?? null,
      isOwnChange: true,
    });
    if (coin === null || accountId === undefined)
      throw new UnspentError('UNSUPPORTED', 'how an input of the transaction is spent is not known: its address has no keys');
    preset.push(coin);
    accounts.push(accountId);
  }
  return { preset, accounts };
}

/** It, and what depends on it. A descendant whose fee is not known is counted with none: nodes may ask for more then. */
function victimsOf({ network }: WalletContext, { unconfirmed }: Spendables, victim: TxDetail): Victim[] {
  const id = toHex(victim.tx.id);
  return [...unconfirmed.descendants(id)].flatMap((each) => {
    const detail = unconfirmed.get(each);
    if (detail === undefined) return [];
    const { inputs } = describeTx(decodeTx(detail.tx.raw, network.mweb));
    const replaceable = inputs.some(({ sequence }) => sequence <= REPLACEABLE_SEQUENCE);
    return [{ fee: feeOfTx(detail) ?? 0n, vsize: vsizeOfTx(network, detail), direct: each === id, replaceable }];
  });
}

/**
 * All its outputs but its change; none: it pays only the wallet itself, and so will the new one. Change went to an address
 * that was given out for that. Where nobody said what an address is for, as of transactions that another program made,
 * those of the second branch are, and the only one of an account that has no other.
 */
async function paymentsOf(
  context: WalletContext,
  { id }: WalletInfo,
  spendables: Spendables,
  { tx }: TxDetail,
): Promise<{ readonly outputs: PaymentOutput[]; readonly change: readonly AccountId[] }> {
  const scripts = tx.outputs.map(({ script }) => script);
  const owned = await context.store.resolveOwned(id, scripts);
  const given = await context.store.givenForChange(id, scripts);
  const isChange = ({ script }: WalletTx['outputs'][number]): boolean => {
    const derivation = owned.get(toHex(script))?.derivation;
    const info = derivation ? spendables.account(derivation.accountId) : undefined;
    if (!derivation || info === undefined) return false;
    const { branch } = derivation;
    return given.get(toHex(script)) ?? (branch === 1 || !context.account(info).descriptor(branch).isRanged);
  };
  return {
    outputs: tx.outputs.filter((output) => !isChange(output)).map(({ script, amount }) => ({ script, value: amount })),
    change: tx.outputs.filter(isChange).flatMap(({ script }) => owned.get(toHex(script))?.derivation?.accountId ?? []),
  };
}

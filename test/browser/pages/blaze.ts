/**
 * Runs in a page: a wallet made with Blaze, which reads its coins and parameters
 * from a provider, pays itself with the first coin, submits, and reads again.
 * `bundle.ts` makes one script of this and of all that it needs.
 */
import {
  addressFromBech32,
  derivePublicKey,
  Ed25519PrivateNormalKeyHex,
  HexBlob,
  signMessage,
  Transaction,
  TransactionBody,
  TransactionId,
  TransactionWitnessSet,
} from '@blaze-cardano/core';
import { Blockfrost, type Kupmios } from '@blaze-cardano/query';

export interface PageWallet {
  /** Of the Blockfrost API. */
  readonly url: string;
  readonly address: string;
  /** The signing key, in hex. */
  readonly key: string;
}

/** What the page found, and did. */
export interface PagePayment {
  readonly coins: readonly string[];
  readonly feePerByte: number;
  readonly id: string;
}

const FEE = 200_000n;

function providerOf({
  url,
}: PageWallet): Pick<Kupmios, 'getParameters' | 'getUnspentOutputs' | 'postTransactionToChain' | 'awaitTransactionConfirmation'> {
  const provider = new Blockfrost({ network: 'cardano-preview', projectId: 'none' });
  provider.url = url;
  return provider;
}

async function coinsOf(wallet: PageWallet) {
  return await providerOf(wallet).getUnspentOutputs(addressFromBech32(wallet.address));
}

const page = {
  async coins(wallet: PageWallet): Promise<string[]> {
    return (await coinsOf(wallet)).map((coin) => `${coin.input().transactionId()}#${coin.input().index()}`);
  },

  async pay(wallet: PageWallet): Promise<PagePayment> {
    const provider = providerOf(wallet);
    const { minFeeCoefficient } = await provider.getParameters();
    const coins = await page.coins(wallet);
    const [coin] = await coinsOf(wallet);
    const address = addressFromBech32(wallet.address).toBech32();
    const outputs = [{ address, value: { coins: coin.output().amount().coin() - FEE } }];
    const inputs = [{ txId: coin.input().transactionId(), index: Number(coin.input().index()) }];
    const body = TransactionBody.fromCore({ inputs, outputs, fee: FEE });
    const key = Ed25519PrivateNormalKeyHex(wallet.key);
    const signature = signMessage(HexBlob(body.hash()), key);
    const witnesses = TransactionWitnessSet.fromCore({ signatures: new Map([[derivePublicKey(key), signature]]) });
    const id = await provider.postTransactionToChain(new Transaction(body, witnesses));
    return { coins, feePerByte: minFeeCoefficient, id };
  },

  /** Whether the provider has the transaction within a few seconds. */
  async isConfirmed(wallet: PageWallet, id: string): Promise<boolean> {
    return await providerOf(wallet).awaitTransactionConfirmation(TransactionId(id), 5_000);
  },
};

Object.assign(globalThis, { page });

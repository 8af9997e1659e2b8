/**
 * A regtest chain of this process, and an account whose keys are at hand: its
 * addresses can be paid there, and its signatures are checked there.
 */
import assert from 'node:assert/strict';
import { RegtestDevnet } from '../../src/chains/bitcoin/regtest/index.ts';
import { formatAddress } from '../../src/ledgers/bitcoin/index.ts';
import type { OpenStore } from '../../src/store/store.ts';
import * as keys from '../../src/wallet/bitcoin/keys/index.ts';

export const CLOCK_SECONDS = 1_700_000_000;
export const MNEMONIC = 'abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about';

export class RegtestAccount {
  readonly chain: RegtestDevnet;
  readonly descriptor: string;
  readonly #account: keys.Account;
  readonly #secret = keys.parseMnemonic(MNEMONIC);

  constructor(seed: number) {
    this.chain = new RegtestDevnet({ seed, clock: () => CLOCK_SECONDS });
    this.descriptor = this.accountDescriptor(0);
    this.#account = keys.parseAccount(this.chain.network, this.descriptor);
  }

  /** Of another account below the same master key. */
  accountDescriptor(account: number): string {
    const master = keys.masterOf(this.chain.network, this.#secret);
    assert.ok(master);
    return keys.accountDescriptor(this.chain.network, master, { purpose: 84, account });
  }

  /** Of an address of the account, whether anybody was given it or not. */
  script(branch: 0 | 1, index: number): Uint8Array {
    return this.#account.derive(branch, index)[0].script;
  }

  address(branch: 0 | 1, index: number): string {
    return formatAddress(this.chain.network, this.script(branch, index)) ?? assert.fail('it has an address');
  }

  sign(psbt: Uint8Array): Uint8Array {
    const signed = keys.signPsbt(psbt, keys.openKeyRing(this.chain.network, this.#secret));
    return keys.extractTx(signed.psbt).raw;
  }

  /** The store becomes what the chain is. */
  apply(store: OpenStore): void {
    const { fold, network } = store;
    while (fold.head !== null && this.chain.heightOf(fold.head.hash) === null) {
      const { height } = fold.head;
      store.rollback(store.locate(`height:${height - 1}`));
    }
    for (let height = (fold.head?.height ?? -1) + 1; height <= this.chain.height; height++) {
      fold.apply([network.ledger.decode(this.chain.block(this.chain.hashAt(height)!)!, height)]);
    }
  }
}

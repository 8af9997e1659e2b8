/**
 * The stake accounts of a devnet, from the certificates of transactions that
 * others put into it, and its pots. Nobody earns rewards here; the treasury has
 * what was donated, the reserves what genesis did not hand out.
 */
import { readCertificate } from '../../../ledgers/cardano/certificates.ts';
import { genesisUtxos } from '../../../ledgers/cardano/genesis.ts';
import { decodeProtocolParameters } from '../../../ledgers/cardano/protocol-parameters.ts';
import { credentialKey, type LedgerPots, type StakeAccount } from '../../../ledgers/cardano/stake-accounts.ts';
import type { DescribedTx } from '../../../ledgers/cardano/transaction.ts';
import { encodeConwayParameters } from './parameters.ts';

/** What transactions did to accounts, in the order of the chain: those that are registered then, by `credentialKey`. */
export function accountsAfter(txs: Iterable<DescribedTx>): ReadonlyMap<string, StakeAccount> {
  const accounts = new Map<string, StakeAccount>();
  const { stakeKeyDeposit } = decodeProtocolParameters(encodeConwayParameters());
  for (const { valid, certificates } of txs) {
    if (!valid) continue;
    for (const certificate of certificates.map(readCertificate)) {
      if (certificate.kind !== 'registration' && certificate.kind !== 'deregistration' && certificate.kind !== 'delegation') continue;
      const { credential, deposit } = certificate;
      const key = credentialKey(credential);
      if (certificate.kind === 'deregistration') accounts.delete(key);
      if (certificate.kind === 'registration' || (certificate.kind === 'delegation' && deposit !== null))
        accounts.set(key, { credential, pool: null, drep: null, rewards: 0n, deposit: deposit ?? stakeKeyDeposit });
      const account = accounts.get(key);
      if (certificate.kind !== 'delegation' || account === undefined) continue;
      accounts.set(key, { ...account, pool: certificate.pool ?? account.pool, drep: certificate.drep ?? account.drep });
    }
  }
  return accounts;
}

export function potsAfter(genesis: { readonly byron: string; readonly shelley: string }, txs: Iterable<DescribedTx>): LedgerPots {
  const { byron, shelley } = genesisUtxos(genesis.byron, genesis.shelley);
  let reserves = BigInt((JSON.parse(genesis.shelley) as { readonly maxLovelaceSupply: number }).maxLovelaceSupply);
  for (const { create } of [...byron, ...shelley]) reserves -= (BigInt(create.valueHi) << 32n) | BigInt(create.valueLo);
  let treasury = 0n;
  for (const { valid, donation } of txs) if (valid) treasury += donation;
  return { treasury, reserves };
}

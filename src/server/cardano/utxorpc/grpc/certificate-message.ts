/** Certificates as UTxO RPC writes them. */
import type { cardano } from '@utxorpc/spec/lib/index.mjs';
import type { Anchor, Certificate, DrepChoice, PoolRegistration, PoolRelay } from '../../../../ledgers/cardano/certificates.ts';
import type { Credential } from '../../../../ledgers/cardano/index.ts';
import type { MessageInit } from './message-init.ts';
import { roundedFraction } from './numbers.ts';

type Chosen = MessageInit<cardano.Certificate>['certificate'];
type StakeDelegation = Extract<Certificate, { kind: 'delegation' }>;

/** As in the enumeration `MirSource`. */
const MIR_SOURCE = { reserves: 1, treasury: 2 } as const;

export function certificateMessage(certificate: Certificate): Chosen {
  switch (certificate.kind) {
    case 'registration': {
      const { deposit } = certificate;
      const stakeCredential = credentialMessage(certificate.credential);
      if (deposit === null) return { case: 'stakeRegistration', value: stakeCredential };
      return { case: 'regCert', value: { stakeCredential, coin: deposit } };
    }
    case 'deregistration': {
      const { deposit } = certificate;
      const stakeCredential = credentialMessage(certificate.credential);
      if (deposit === null) return { case: 'stakeDeregistration', value: stakeCredential };
      return { case: 'unregCert', value: { stakeCredential, coin: deposit } };
    }
    case 'delegation':
      return delegationMessage(certificate);
    case 'poolRegistration':
      return { case: 'poolRegistration', value: poolMessage(certificate.registration) };
    case 'poolRetirement':
      return { case: 'poolRetirement', value: { poolKeyhash: certificate.pool, epoch: BigInt(certificate.epoch) } };
    default:
      return governanceMessage(certificate);
  }
}

function delegationMessage({ credential, pool, drep, deposit }: StakeDelegation): Chosen {
  const stakeCredential = credentialMessage(credential);
  const [poolKeyhash, drepOf] = [pool ?? undefined, drep === null ? undefined : drepMessage(drep)];
  const coin = deposit ?? undefined;
  if (coin === undefined) {
    if (drepOf === undefined) return { case: 'stakeDelegation', value: { stakeCredential, poolKeyhash } };
    if (poolKeyhash === undefined) return { case: 'voteDelegCert', value: { stakeCredential, drep: drepOf } };
    return { case: 'stakeVoteDelegCert', value: { stakeCredential, poolKeyhash, drep: drepOf } };
  }
  if (drepOf === undefined) return { case: 'stakeRegDelegCert', value: { stakeCredential, poolKeyhash, coin } };
  if (poolKeyhash === undefined) return { case: 'voteRegDelegCert', value: { stakeCredential, drep: drepOf, coin } };
  return { case: 'stakeVoteRegDelegCert', value: { stakeCredential, poolKeyhash, drep: drepOf, coin } };
}

type Governance = Exclude<Certificate, { kind: 'registration' | 'deregistration' | 'delegation' | 'poolRegistration' | 'poolRetirement' }>;

function governanceMessage(certificate: Governance): Chosen {
  switch (certificate.kind) {
    case 'genesisDelegation': {
      const { genesis, delegate, vrfKeyHash } = certificate;
      return { case: 'genesisKeyDelegation', value: { genesisHash: genesis, genesisDelegateHash: delegate, vrfKeyhash: vrfKeyHash } };
    }
    case 'instantRewards': {
      const { from, rewards, otherPot } = certificate;
      const to = rewards.map(({ credential, lovelace }) => ({ stakeCredential: credentialMessage(credential), deltaCoin: lovelace }));
      return { case: 'mirCert', value: { from: MIR_SOURCE[from], to, otherPot } };
    }
    case 'committeeDelegation': {
      const [committeeColdCredential, committeeHotCredential] = [certificate.cold, certificate.hot].map(credentialMessage);
      return { case: 'authCommitteeHotCert', value: { committeeColdCredential, committeeHotCredential } };
    }
    case 'committeeRetirement': {
      const committeeColdCredential = credentialMessage(certificate.cold);
      return { case: 'resignCommitteeColdCert', value: { committeeColdCredential, anchor: anchorMessage(certificate.metadata) } };
    }
    default:
      return representativeMessage(certificate);
  }
}

function representativeMessage(certificate: Extract<Governance, { kind: 'drepRegistration' | 'drepRetirement' | 'drepUpdate' }>): Chosen {
  const drepCredential = credentialMessage(certificate.credential);
  if (certificate.kind === 'drepRetirement') return { case: 'unregDrepCert', value: { drepCredential, coin: certificate.deposit } };
  const anchor = anchorMessage(certificate.metadata);
  if (certificate.kind === 'drepUpdate') return { case: 'updateDrepCert', value: { drepCredential, anchor } };
  return { case: 'regDrepCert', value: { drepCredential, coin: certificate.deposit, anchor } };
}

export function credentialMessage({ kind, hash }: Credential): MessageInit<cardano.StakeCredential> {
  return { stakeCredential: kind === 'key' ? { case: 'addrKeyHash', value: hash } : { case: 'scriptHash', value: hash } };
}

function drepMessage(choice: DrepChoice): MessageInit<cardano.DRep> {
  if (choice.kind === 'registered') {
    const { kind, hash } = choice.credential;
    return { drep: kind === 'key' ? { case: 'addrKeyHash', value: hash } : { case: 'scriptHash', value: hash } };
  }
  return { drep: choice.kind === 'abstain' ? { case: 'abstain', value: true } : { case: 'noConfidence', value: true } };
}

export function anchorMessage(anchor: Anchor | null): MessageInit<cardano.Anchor> | undefined {
  return anchor === null ? undefined : { url: anchor.url, contentHash: anchor.hash };
}

function poolMessage(pool: PoolRegistration): MessageInit<cardano.PoolRegistrationCert> {
  return {
    operator: pool.pool,
    vrfKeyhash: pool.vrfKeyHash,
    pledge: pool.pledge,
    cost: pool.cost,
    margin: roundedFraction(pool.margin),
    rewardAccount: pool.rewardAccount,
    poolOwners: pool.owners,
    relays: pool.relays.map(relayMessage),
    poolMetadata: pool.metadata === null ? undefined : { url: pool.metadata.url, hash: pool.metadata.hash },
  };
}

function relayMessage(relay: PoolRelay): MessageInit<cardano.Relay> {
  const port = relay.port ?? undefined;
  return relay.kind === 'name' ? { dnsName: relay.name, port } : { ipV4: relay.ipv4 ?? undefined, ipV6: relay.ipv6 ?? undefined, port };
}

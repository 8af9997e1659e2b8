/**
 * Certificates as Ogmios writes them. One that registers a credential and
 * delegates at once is two of its own.
 */
import { poolIdOfHash } from '../../../ledgers/cardano/bech32-ids.ts';
import {
  type Anchor,
  type Certificate,
  type DrepChoice,
  type PoolRegistration,
  type PoolRelay,
  readCertificate,
} from '../../../ledgers/cardano/certificates.ts';
import { type Credential, formatAddress } from '../../../ledgers/cardano/index.ts';
import { hexOf } from '../../../query/dialect.ts';
import type { JsonValue } from './json-text.ts';
import { ada, fraction } from './parameters-json.ts';

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Of the certificates of a transaction, in their order; rewards from reserves or treasury (before Conway) are left out. */
export function certificatesJson(certificates: readonly Uint8Array[]): JsonValue[] {
  return certificates.flatMap((bytes) => certificateJson(readCertificate(bytes)));
}

function certificateJson(certificate: Certificate): JsonValue[] {
  switch (certificate.kind) {
    case 'registration':
    case 'deregistration':
    case 'delegation':
      return stakeJson(certificate);
    case 'poolRegistration':
      return [{ type: 'stakePoolRegistration', stakePool: poolJson(certificate.registration) }];
    case 'poolRetirement':
      return [{ type: 'stakePoolRetirement', stakePool: { id: poolIdOfHash(certificate.pool), retirementEpoch: certificate.epoch } }];
    case 'instantRewards':
      return [];
    default:
      return [governanceJson(certificate)];
  }
}

function stakeJson(certificate: Extract<Certificate, { kind: 'registration' | 'deregistration' | 'delegation' }>): JsonValue[] {
  const { deposit } = certificate;
  const { id: credential, from } = credentialJson(certificate.credential);
  const paid = deposit === null ? undefined : ada(deposit);
  if (certificate.kind === 'deregistration') return [{ type: 'stakeCredentialDeregistration', from, credential, deposit: paid }];
  const registration = { type: 'stakeCredentialRegistration', from, credential, deposit: paid };
  if (certificate.kind === 'registration') return [registration];
  const { pool, drep } = certificate;
  const delegation = {
    type: 'stakeDelegation',
    from,
    credential,
    stakePool: pool === null ? undefined : { id: poolIdOfHash(pool) },
    delegateRepresentative: drep === null ? undefined : drepJson(drep),
  };
  return deposit === null ? [delegation] : [registration, delegation];
}

type Governance = Extract<
  Certificate,
  { kind: 'genesisDelegation' | 'committeeDelegation' | 'committeeRetirement' | 'drepRegistration' | 'drepRetirement' | 'drepUpdate' }
>;

function governanceJson(certificate: Governance): Fields {
  switch (certificate.kind) {
    case 'genesisDelegation':
      return {
        type: 'genesisDelegation',
        delegate: { id: hexOf(certificate.delegate), vrfVerificationKeyHash: hexOf(certificate.vrfKeyHash) },
        issuer: { id: hexOf(certificate.genesis) },
      };
    case 'committeeDelegation':
      return {
        type: 'constitutionalCommitteeDelegation',
        member: credentialJson(certificate.cold),
        delegate: { status: 'authorized', ...credentialJson(certificate.hot) },
      };
    case 'committeeRetirement':
      return {
        type: 'constitutionalCommitteeRetirement',
        member: credentialJson(certificate.cold),
        metadata: certificate.metadata === null ? undefined : anchorJson(certificate.metadata),
      };
    default:
      return representativeJson(certificate);
  }
}

function representativeJson(certificate: Extract<Governance, { kind: 'drepRegistration' | 'drepRetirement' | 'drepUpdate' }>): Fields {
  const delegateRepresentative = drepJson({ kind: 'registered', credential: certificate.credential });
  if (certificate.kind === 'drepRetirement')
    return { type: 'delegateRepresentativeRetirement', delegateRepresentative, deposit: ada(certificate.deposit) };
  const metadata = certificate.metadata === null ? null : anchorJson(certificate.metadata);
  if (certificate.kind === 'drepUpdate') return { type: 'delegateRepresentativeUpdate', delegateRepresentative, metadata };
  const deposit = ada(certificate.deposit);
  return { type: 'delegateRepresentativeRegistration', delegateRepresentative, deposit, metadata: metadata ?? undefined };
}

export function credentialJson({ kind, hash }: Credential): { readonly id: string; readonly from: string } {
  return { id: hexOf(hash), from: kind === 'key' ? 'verificationKey' : 'script' };
}

export function drepJson(drep: DrepChoice): JsonValue {
  return drep.kind === 'registered' ? { type: 'registered', ...credentialJson(drep.credential) } : { type: drep.kind };
}

export function anchorJson({ url, hash }: Anchor): JsonValue {
  return { hash: hexOf(hash), url };
}

function poolJson(pool: PoolRegistration): JsonValue {
  return {
    id: poolIdOfHash(pool.pool),
    vrfVerificationKeyHash: hexOf(pool.vrfKeyHash),
    owners: pool.owners.map(hexOf),
    cost: ada(pool.cost),
    margin: fraction(pool.margin),
    pledge: ada(pool.pledge),
    rewardAccount: formatAddress(pool.rewardAccount),
    metadata: pool.metadata === null ? undefined : anchorJson(pool.metadata),
    relays: pool.relays.map(relayJson),
  };
}

function relayJson(relay: PoolRelay): JsonValue {
  const port = relay.port ?? undefined;
  if (relay.kind === 'name') return { type: 'hostname', hostname: relay.name, port };
  return {
    type: 'ipAddress',
    ipv4: relay.ipv4 === null ? undefined : relay.ipv4.join('.'),
    ipv6: relay.ipv6 === null ? undefined : ipv6Text(relay.ipv6),
    port,
  };
}

/** The ledger writes an address as four words of 32 bits, each with its lowest byte first (`ipv6ToBytes`). */
function ipv6Text(bytes: Uint8Array): string {
  const inOrder = Array.from(bytes, (_, i) => bytes[(i & ~3) + 3 - (i & 3)]);
  return Array.from({ length: inOrder.length >> 1 }, (_, i) => ((inOrder[2 * i] << 8) | inOrder[2 * i + 1]).toString(16)).join(':');
}

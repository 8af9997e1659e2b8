/**
 * Keys without secrets: descriptors, accounts, discovery, and partially signed
 * transactions; and, for wallets that sign, secrets in a box. It stands on
 * packages that only wallets need, so others load it through `load-keys.ts`.
 */
export {
  Account,
  type AccountPath,
  type AccountPurpose,
  accountDescriptor,
  type NamedAccount,
  parseAccount,
  splitCombo,
} from './account.ts';
export type { DerivedScript, ScriptKey, SpendScripts, TaprootLeaf, TaprootSpend } from './derived-script.ts';
export { scriptKind } from './derived-script.ts';
export { Descriptor, type DescriptorOptions, parseDescriptor } from './descriptor.ts';
export type { DerivedKey } from './descriptor-key.ts';
export {
  addressesOf,
  type BranchHorizon,
  type DiscoveryOptions,
  deriveIfAny,
  discover,
  type FindUsedScripts,
  firstIndex,
} from './discovery.ts';
export { formatFingerprint, formatPath, type KeyOrigin, parsePath } from './key-path.ts';
export type { KeyRing } from './key-ring.ts';
export { formatPsbt, parsePsbt } from './psbt-codec.ts';
export {
  createPsbt,
  type OwnedScript,
  type PsbtDraft,
  type PsbtInput,
  type PsbtKnowledge,
  type PsbtOutput,
  updatePsbt,
} from './psbt-create.ts';
export type { PsbtSigner, SigningPath } from './psbt-input.ts';
export { type InspectedInput, type InspectedOutput, type InspectedPsbt, inspectPsbt } from './psbt-inspect.ts';
export {
  combinePsbts,
  type ExtractedTx,
  extractTx,
  type FinalisedPsbt,
  finalisePsbt,
  type SignedPsbt,
  type SignOptions,
  signPsbt,
} from './psbt-sign.ts';
export { spendForm } from './spend-form.ts';
export {
  decodeSecret,
  encodeSecret,
  masterOf,
  openKeyRing,
  parseMnemonic,
  secretAccount,
  secretText,
  type WalletSecret,
  wipeSecret,
} from './wallet-secret.ts';

/**
 * The shapes of roots and proof documents, as the OpenAPI document has them.
 * What they mean, and how they are checked: docs/proofs.md.
 */
import Type, { type TSchema } from 'typebox';
import { FAMILY_NAMES } from '../../proofs/index.ts';

const closed = { additionalProperties: false } as const;
const hash = (description: string) => Type.String({ pattern: '^[0-9a-f]{64}$', description });
const hex = (description: string) => Type.String({ pattern: '^([0-9a-f]{2})*$', description });
const bits = (description: string) => Type.String({ pattern: '^[01]*$', maxLength: 1024, description });
const count = (description: string) => Type.Integer({ minimum: 0, description });
const decimal = (description: string) => Type.String({ pattern: '^(0|[1-9][0-9]*)$', description });
const orNull = (schema: TSchema, description: string) => Type.Union([schema, Type.Null()], { description });

const treeRoot = orNull(hash('32 bytes.'), 'The root; null: of a tree in which nothing is.');
export const POINT = { point: orNull(Type.Ref('Point#'), 'The block it holds at; null: before the first one.') };

const OUTPOINT = { tx_hash: hash('The transaction that made the output.'), output_index: count('Its number there.') };
const OUTPUT = {
  ...OUTPOINT,
  output: hex('The bytes that its leaf stands for. Cardano: the output as it stood in its block. Bitcoin family: CBOR `[value, script]`.'),
};
const OWNER = {
  owner: hash('The hash of the owner. Cardano: BLAKE2b-256 of the raw address. Bitcoin family: SHA-256 of the script.'),
  address: Type.Optional(hex('The raw address, or the script, that it is a hash of; absent where it was asked for by its hash.')),
};

const Roots = Type.Object(
  {
    ...POINT,
    mmr: Type.Optional(hash('The merged root of the mountain range over all outputs.')),
    csmt: Type.Optional(treeRoot),
    setHash: Type.Optional(hash('The hash of the unspent set, as people of this chain write hashes.')),
    mmrDetails: Type.Optional(
      Type.Object({ size: count('Nodes of the range.'), root: hash('Of the range.'), bitmap: hash('Of what is unspent.') }, closed),
    ),
  },
  { ...closed, description: 'Of each structure that is on and ready.' },
);

const Step = Type.Object(
  {
    consumed: Type.Integer({ minimum: 1, description: 'Bits of the key.' }),
    siblingJump: bits('The path skipped below the sibling.'),
    siblingValue: hash('Its value.'),
  },
  closed,
);
const steps = Type.Array(Step, { description: 'From the leaf up to the root.' });

const TreeProof = Type.Object(
  {
    key: bits('Of the leaf: the owner, then the input in CBOR.'),
    value: hash('Of the leaf.'),
    rootJump: bits('The path skipped below the root.'),
    steps,
  },
  { ...closed, description: 'A leaf stands in the tree.' },
);
const empty = { type: Type.Literal('empty') };
const AbsenceProof = Type.Union(
  [
    Type.Object({ type: Type.Literal('witness'), target: bits('The key that is not there.'), witness: Type.Ref('TreeProof#') }, closed),
    Type.Object(empty, closed),
  ],
  { description: 'A leaf that leaves the path of the key where nothing branches off; or the tree is empty.' },
);
const merge = Type.Array(count('A leaf.'), { minItems: 2, maxItems: 2 });
const CompleteProof = Type.Union(
  [
    Type.Object(
      { type: Type.Literal('witness'), merges: Type.Array(merge, { description: 'Leaves to join, two by two.' }), steps },
      closed,
    ),
    Type.Object({ ...empty, exclusion: Type.Ref('AbsenceProof#') }, closed),
  ],
  { description: 'How the leaves join into one node, and that into the root; or that nothing begins with this owner.' },
);
const LeafProof = Type.Object(
  {
    mmrSize: decimal('Nodes of the range.'),
    leafIndex: decimal('Which leaf.'),
    path: Type.Array(hash('A hash.'), { description: 'Siblings up to the peak, peaks to the right bagged, peaks to the left.' }),
  },
  { ...closed, description: 'A leaf stands in a mountain range.' },
);
const RangeProof = Type.Object(
  {
    leaf: Type.Ref('LeafProof#'),
    bits: orNull(
      Type.Object({ chunk: hex('1,024 bits, one a leaf: set while it is unspent.'), proof: Type.Ref('LeafProof#') }, closed),
      'Null: nothing is unspent.',
    ),
  },
  closed,
);

function documentOf(kinds: readonly string[], claim: TSchema, proof: TSchema, root: TSchema, cbor: boolean, description: string): TSchema {
  return Type.Object(
    {
      kind: Type.Union(kinds.map((kind) => Type.Literal(kind))),
      network: Type.String({ description: 'Its name. No root commits to it, nor to the point.' }),
      family: Type.Union(FAMILY_NAMES.map((name) => Type.Literal(name))),
      ...POINT,
      root,
      claim,
      proof,
      ...(cbor ? { cbor: hex('The same proof in CBOR.') } : {}),
    },
    { ...closed, description },
  );
}

const InclusionDocument = documentOf(
  ['csmt-inclusion'],
  Type.Object({ ...OUTPUT, owner: OWNER.owner }, closed),
  Type.Ref('TreeProof#'),
  treeRoot,
  true,
  'The output is unspent.',
);
const AbsenceDocument = documentOf(
  ['csmt-absent'],
  Type.Object({ ...OWNER, ...OUTPOINT }, closed),
  Type.Ref('AbsenceProof#'),
  treeRoot,
  true,
  'The owner has no such unspent output.',
);
const CompleteDocument = documentOf(
  ['csmt-complete'],
  Type.Object({ ...OWNER, outputs: Type.Array(Type.Object(OUTPUT, closed)) }, closed),
  Type.Ref('CompleteProof#'),
  treeRoot,
  true,
  'These are all unspent outputs of the owner.',
);
const RangeDocument = documentOf(
  ['mmr-unspent', 'mmr-spent'],
  Type.Object(OUTPUT, closed),
  Type.Ref('RangeProof#'),
  hash('The merged root.'),
  false,
  'The output was created, and is unspent; or is spent.',
);

/** By name, as routes refer to them. */
export const PROOF_COMPONENTS: Readonly<Record<string, TSchema>> = {
  Roots,
  TreeProof,
  AbsenceProof,
  CompleteProof,
  LeafProof,
  RangeProof,
  InclusionDocument,
  AbsenceDocument,
  CompleteDocument,
  RangeDocument,
};

/** Of one structure. */
export const TreeRoot = Type.Object({ ...POINT, root: treeRoot }, closed);
export const RangeRoot = Type.Object(
  {
    ...POINT,
    root: hash('The merged root: of the size and of both that follow.'),
    range_root: hash('Of every output ever created.'),
    bitmap_root: hash('Of what is unspent.'),
    size: count('Nodes of the range.'),
  },
  closed,
);
export const LeafIndex = Type.Object({ ...POINT, ...OUTPOINT, leaf_index: count('Outputs that were created before it.') }, closed);

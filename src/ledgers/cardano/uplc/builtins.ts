/**
 * Names of the builtin functions, by their tags.
 *
 * Source: the Plutus Core specification, the batches of builtins up to Plomin.
 */
const NAMES = `addInteger subtractInteger multiplyInteger divideInteger quotientInteger remainderInteger modInteger equalsInteger
lessThanInteger lessThanEqualsInteger appendByteString consByteString sliceByteString lengthOfByteString indexByteString
equalsByteString lessThanByteString lessThanEqualsByteString sha2_256 sha3_256 blake2b_256 verifyEd25519Signature
appendString equalsString encodeUtf8 decodeUtf8 ifThenElse chooseUnit trace fstPair sndPair chooseList mkCons headList
tailList nullList chooseData constrData mapData listData iData bData unConstrData unMapData unListData unIData unBData
equalsData mkPairData mkNilData mkNilPairData serialiseData verifyEcdsaSecp256k1Signature
verifySchnorrSecp256k1Signature bls12_381_G1_add bls12_381_G1_neg bls12_381_G1_scalarMul bls12_381_G1_equal
bls12_381_G1_compress bls12_381_G1_uncompress bls12_381_G1_hashToGroup bls12_381_G2_add bls12_381_G2_neg
bls12_381_G2_scalarMul bls12_381_G2_equal bls12_381_G2_compress bls12_381_G2_uncompress bls12_381_G2_hashToGroup
bls12_381_millerLoop bls12_381_mulMlResult bls12_381_finalVerify keccak_256 blake2b_224 integerToByteString
byteStringToInteger andByteString orByteString xorByteString complementByteString readBit writeBits replicateByte
shiftByteString rotateByteString countSetBits findFirstSetBit ripemd_160`.split(/\s+/);

/** One that came later is named by its number. */
export function builtinName(tag: number): string {
  return NAMES[tag] ?? `builtin#${tag}`;
}

/**
 * The first block of each network, built from the few things that tell them
 * apart. Nodes have it built in too, and some sources never hand it over.
 */

import { sha256d } from '../../crypto/sha256.ts';
import { concatBytes, fromHex, utf8, writeU32LE } from '../../util/bytes.ts';
import { assert } from '../../util/errors.ts';
import { compactBytes } from './cursor.ts';
import { formatId } from './ids.ts';
import type { BitcoinNetwork, GenesisFacts } from './networks.ts';

/** What the coinbase says, and the key it pays to. */
const COINBASES: Readonly<Record<GenesisFacts['coinbase'], { readonly text: string; readonly key: string }>> = {
  bitcoin: {
    text: 'The Times 03/Jan/2009 Chancellor on brink of second bailout for banks',
    key: '04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5f',
  },
  testnet4: {
    text: '03/May/2024 000000000000000000001ebd58c244970b3aa9d783bb001011fbe8ea8e98e00e',
    key: '00'.repeat(33),
  },
  litecoin: {
    text: 'NY Times 05/Oct/2011 Steve Jobs, Apple\u2019s Visionary, Dies at 56',
    key: '040184710fa689ad5023690c80f3a49c8f13f8d45b8c857fbcbc8bc4a8e4d3eb4b10f4d4604fa08dce601aaf0f470216fe1b51850b4acf21b179c45070ac7b03a9',
  },
};

const OP_PUSHDATA1 = 0x4c;
const PUSH_MAX = 75;

/** The bytes of the first block, whose hash is the network's. */
export function genesisBlock({ genesis, genesisHash, name }: BitcoinNetwork): Uint8Array {
  const coinbase = genesisCoinbase(genesis.coinbase);
  const header = concatBytes(u32(1), new Uint8Array(32), sha256d(coinbase), u32(genesis.time), u32(genesis.bits), u32(genesis.nonce));
  assert(formatId(sha256d(header)) === genesisHash, `the first block of ${name} hashes to what its table says`);
  return concatBytes(header, Uint8Array.of(1), coinbase);
}

function genesisCoinbase(kind: GenesisFacts['coinbase']): Uint8Array {
  const { text, key } = COINBASES[kind];
  // 486604799 and 4 stand before the text, as pushes of numbers.
  const input = concatBytes(fromHex('04ffff001d0104'), push(utf8(text)));
  const output = concatBytes(push(fromHex(key)), Uint8Array.of(0xac));
  return concatBytes(
    u32(1),
    Uint8Array.of(1),
    new Uint8Array(32),
    u32(0xffff_ffff),
    compactBytes(input.length),
    input,
    u32(0xffff_ffff),
    Uint8Array.of(1),
    fromHex('00f2052a01000000'),
    compactBytes(output.length),
    output,
    u32(0),
  );
}

function push(bytes: Uint8Array): Uint8Array {
  const head = bytes.length <= PUSH_MAX ? [bytes.length] : [OP_PUSHDATA1, bytes.length];
  return concatBytes(Uint8Array.from(head), bytes);
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  writeU32LE(bytes, 0, value);
  return bytes;
}

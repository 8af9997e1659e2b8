/** Descriptors of scripts, as Bitcoin Core 31 gives them (`decodescript`, regtest). */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { descriptorOf } from '../../../src/ledgers/bitcoin/index.ts';
import { fromHex } from '../../../src/util/bytes.ts';
import { regtest } from './samples.ts';

const X = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';
const Y = '483ada7726a3c4655da4fbfc0e1108a8fd17b448a68554199c47d08ffb10d4b8';

/** What the case is, the script, and its descriptor. */
const CASES: readonly (readonly [string, string, string])[] = [
  ['nothing', '', 'raw()#58lrscpx'],
  ['no known kind', 'deadbeef', 'raw(deadbeef)#89f8spxm'],
  ['data', '6a0568656c6c6f', 'raw(6a0568656c6c6f)#yktqjuxu'],
  ['a key', `2102${X}ac`, `pk(02${X})#gn28ywm7`],
  ['an uncompressed key', `4104${X}${Y}ac`, `pk(04${X}${Y})#fsjyjr2x`],
  ['a hybrid key, which no descriptor may have', `4106${X}${Y}ac`, `raw(4106${X}${Y}ac)#qhj9gd8d`],
  ['several keys', `512102${X}2103${X}52ae`, `multi(1,02${X},03${X})#58qsylcr`],
  ['a hybrid key among several', `514106${X}${Y}51ae`, `raw(514106${X}${Y}51ae)#q4j8lzl0`],
  ['taproot', `5120${X}`, `rawtr(${X})#xsjqcczm`],
  ['taproot of no point', `5120${'00'.repeat(32)}`, 'addr(bcrt1pqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqm3usuw)#h0u3564j'],
  ['taproot beyond the field', `5120${'ff'.repeat(32)}`, 'addr(bcrt1plllllllllllllllllllllllllllllllllllllllllllllllllllse0lp4e)#f6jd6wfe'],
  ['an anchor', '51024e73', 'addr(bcrt1pfeesnyr2tx)#swxgse0y'],
  ['a program of a version to come', `6010${'ab'.repeat(16)}`, 'addr(bcrt1s4w46h2at4w46h2at4w46h2at4vyze0vj)#85rr7rp9'],
];

for (const [what, script, descriptor] of CASES) {
  test(`the descriptor of ${what}`, () => assert.equal(descriptorOf(regtest, fromHex(script)), descriptor));
}

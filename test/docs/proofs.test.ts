/**
 * The worked example of docs/proofs.md: every value of it is made again from the
 * rules as the page states them, with nothing of the proofs' own code, and its
 * documents hold.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { blake2b } from '@noble/hashes/blake2.js';
import { documentFromText, documentToJson, type ProofDocument, verifyDocument } from '../../src/proofs/index.ts';

const PAGE = join(import.meta.dirname, '../../docs/proofs.md');
const H = (...parts: Buffer[]): Buffer => Buffer.from(blake2b(Buffer.concat(parts), { dkLen: 32 }));
const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex');
const u16 = (n: number): Buffer => Buffer.from([n >> 8, n & 0xff]);
const u64 = (n: number): Buffer => Buffer.from(n.toString(16).padStart(16, '0'), 'hex');
const bitsOf = (bytes: Buffer): string => [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
const packed = (bits: string): Buffer => Buffer.from((bits.match(/.{1,8}/g) ?? []).map((byte) => Number.parseInt(byte.padEnd(8, '0'), 2)));
const ref = (path: string, value: Buffer): Buffer => Buffer.concat([u16(path.length), packed(path), u16(32), value]);

/** By name, in the order of the page. */
function exampleValues(): Record<string, Buffer> {
  const address = hex(`60${'11'.repeat(28)}`);
  const owner = H(address);
  const [txIn1, txIn2] = [hex(`825820${'aa'.repeat(32)}00`), hex(`825820${'bb'.repeat(32)}01`)];
  const [output1, output2] = [
    Buffer.concat([hex('82581d'), address, hex('1a000f4240')]),
    Buffer.concat([hex('82581d'), address, hex('1a001e8480')]),
  ];
  const [key1, key2] = [Buffer.concat([owner, txIn1]), Buffer.concat([owner, txIn2])];
  const [value1, value2] = [H(output1), H(output2)];
  const [left, right] = [ref(bitsOf(key1).slice(284), value1), ref(bitsOf(key2).slice(284), value2)];
  const branch = H(left, right);
  const top = ref(bitsOf(key1).slice(0, 283), branch);
  const [content0, content1] = [H(txIn1, output1), H(txIn2, output2)];
  const [leaf0, leaf1] = [H(u64(0), content0), H(u64(1), content1)];
  const rangeRoot = H(u64(2), leaf0, leaf1);
  const chunk = Buffer.alloc(128);
  chunk[0] = 0x40;
  const bitmapRoot = H(u64(0), chunk);
  return {
    address,
    owner,
    'txIn 1': txIn1,
    'txIn 2': txIn2,
    'output 1': output1,
    'output 2': output2,
    'key 1': key1,
    'key 2': key2,
    'value 1': value1,
    'value 2': value2,
    'ref of leaf 1': left,
    'ref of leaf 2': right,
    branch,
    'ref of the top': top,
    'csmt root': H(top),
    'content 0': content0,
    'content 1': content1,
    'leaf 0': leaf0,
    'leaf 1': leaf1,
    'range root': rangeRoot,
    'bitmap root': bitmapRoot,
    'merged root': H(u64(3), rangeRoot, bitmapRoot),
  };
}

function valuesText(values: Record<string, Buffer>): string {
  const lines = Object.entries(values).map(([name, bytes]) => `${name.padEnd(16)}${bytes.toString('hex')}`);
  return lines.join('\n');
}

const POINT = { height: 1504, slot: 30080, hash: 'cc'.repeat(32) };

function exampleDocuments(values: Record<string, Buffer>): { readonly inclusion: object; readonly spent: object } {
  const at = (name: string): string => values[name].toString('hex');
  const claim = { tx_hash: 'aa'.repeat(32), output_index: 0, output: at('output 1') };
  const head = { network: 'preview', family: 'cardano', point: POINT };
  const [key1, key2] = [bitsOf(values['key 1']), bitsOf(values['key 2'])];
  const step = { consumed: 261, siblingJump: key2.slice(284), siblingValue: at('value 2') };
  const chunk = `40${'00'.repeat(127)}`;
  return {
    inclusion: {
      kind: 'csmt-inclusion',
      ...head,
      root: at('csmt root'),
      claim: { ...claim, owner: at('owner') },
      proof: { key: key1, value: at('value 1'), rootJump: key1.slice(0, 283), steps: [step] },
    },
    spent: {
      kind: 'mmr-spent',
      ...head,
      root: at('merged root'),
      claim,
      proof: {
        leaf: { mmrSize: '3', leafIndex: '0', path: [at('leaf 1')] },
        bits: { chunk, proof: { mmrSize: '1', leafIndex: '0', path: [] } },
      },
    },
  };
}

/** The fenced block behind a mark. */
function blockBehind(page: string, mark: string): string {
  const found = new RegExp(`<!-- ${mark}[^>]*-->\\n\`\`\`(?:json[^\\n]*)?\\n([^\`]*)\`\`\``).exec(page);
  return found?.[1] ?? assert.fail(`docs/proofs.md has no ${mark}`);
}

test('the worked example of docs/proofs.md is what its rules give', () => {
  const values = exampleValues();
  const documents = exampleDocuments(values);
  const blocks = {
    'example values': `${valuesText(values)}\n`,
    'example inclusion': `${JSON.stringify(documents.inclusion, null, 1)}\n`,
    'example spent': `${JSON.stringify(documents.spent, null, 1)}\n`,
  };
  if (process.env['UNSPENT_TEST_UPDATE'] !== undefined) {
    let page = readFileSync(PAGE, 'utf8');
    for (const [mark, text] of Object.entries(blocks)) page = page.replace(blockBehind(page, mark), () => text);
    writeFileSync(PAGE, page);
  }
  const page = readFileSync(PAGE, 'utf8');
  for (const [mark, text] of Object.entries(blocks)) assert.equal(blockBehind(page, mark), text);
});

test('its documents hold, and are written as we write them', () => {
  const page = readFileSync(PAGE, 'utf8');
  const roots = exampleValues();
  for (const [mark, root] of [
    ['example inclusion', roots['csmt root']],
    ['example spent', roots['merged root']],
  ] as const) {
    const text = blockBehind(page, mark);
    const document: ProofDocument = documentFromText(text);
    assert.ok(verifyDocument(document, { root, network: 'preview', family: 'cardano' }).ok);
    const { cbor: _, ...json } = documentToJson(document);
    const { claim, proof } = JSON.parse(text) as { claim: object; proof: object };
    assert.deepEqual([json.claim, json.proof], [claim, proof]);
  }
});

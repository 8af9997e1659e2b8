/**
 * Scripts of cages: parameters applied to a program, byte by byte for programs
 * small enough to be encoded by hand, and blueprints.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { applyParameters } from '../../../../src/ledgers/cardano/cage/flat.ts';
import { cageFromBlueprint, parseCageDeployment, plutusV3Hash, requestScriptHash } from '../../../../src/ledgers/cardano/cage/index.ts';
import { fromHex, toHex } from '../../../../src/util/bytes.ts';
import { assertCode } from '../../../support/harness.ts';

/** Bits as text, spaces left out, to hex. */
function packed(bits: string): string {
  const plain = bits.replaceAll(/\s/g, '');
  assert.equal(plain.length % 8, 0, 'whole bytes');
  return toHex(Uint8Array.from(plain.match(/.{8}/g)!, (byte) => Number.parseInt(byte, 2)));
}

const VERSION = '00000001 00000001 00000000';
const LAMBDA = '0010';
const VARIABLE_1 = '0000 00000001';
const APPLY = '0011';
/** A constant of type data: tag, one type in a list, padding, one chunk, no more chunks. */
const data = (padding: string, ...bytes: string[]) =>
  `0100 1 1000 0 ${padding} ${bytes.length.toString(2).padStart(8, '0')} ${bytes.join('')} 00000000`;

describe('parameters of a program', () => {
  test('stand behind its term, each a constant of type data', () => {
    const identity = packed(`${VERSION} ${LAMBDA} ${VARIABLE_1} 00000001`);
    const one = packed(`${VERSION} ${APPLY} ${LAMBDA} ${VARIABLE_1} ${data('01', '00000111')} 00000001`);
    // apply and lambda, then four bits and eight of the variable: the constant begins in the middle of a byte.
    assert.equal(toHex(applyParameters(fromHex(identity), [fromHex('07')])), one);
    const two = packed(
      `${VERSION} ${APPLY} ${APPLY} ${LAMBDA} ${VARIABLE_1} ${data('000001', '01000001', '11111111')} ${data('000001', '00000010')} 00000001`,
    );
    assert.equal(toHex(applyParameters(fromHex(identity), [fromHex('41ff'), fromHex('02')])), two);
  });

  test('move strings inside the term to whole bytes again', () => {
    const string = (padding: string) => `0100 1 0001 0 ${padding} 00000010 10101010 10111011 00000000`;
    const program = packed(`${VERSION} ${LAMBDA} ${string('01')} 00000001`);
    const applied = packed(`${VERSION} ${APPLY} ${LAMBDA} ${string('000001')} ${data('000001', '00000111')} 00000001`);
    assert.equal(toHex(applyParameters(fromHex(program), [fromHex('07')])), applied);
  });

  test('of every kind of term and constant: with none applied the program is itself', () => {
    const integers = '0100 1 0111 1 0101 1 0000 0  1 00000010 1 00000100 0';
    const pair = '0100 1 0111 1 0111 1 0110 1 0100 1 0011 0  1';
    const terms = [
      integers,
      pair,
      '0111 0101010',
      '0110',
      '0101 0111 0000001',
      '0001 0110',
      '1000 00000010 1 0110 1 0110 0',
      '1001 0110 1 0110 0',
    ];
    for (const term of terms) {
      const bits = `${VERSION}${LAMBDA}${term}`.replaceAll(/\s/g, '');
      const program = packed(`${bits}${'0'.repeat(7 - (bits.length % 8))}1`);
      assert.equal(toHex(applyParameters(fromHex(program), [])), program, term);
    }
  });

  test('are refused for what is no program', () => {
    const identity = packed(`${VERSION} ${LAMBDA} ${VARIABLE_1} 00000001`);
    for (const wrong of [
      '',
      '0101',
      identity.slice(0, -2),
      `${identity}01`,
      packed(`${VERSION} 1111 0001`),
      packed(`${VERSION} 0100 0 001`),
      'ff'.repeat(70_000),
    ])
      assertCode(() => applyParameters(fromHex(wrong), [fromHex('07')]), 'USAGE');
    const deep = packed(`${VERSION} ${'0001'.repeat(6000)} 0110 0001`);
    assertCode(() => applyParameters(fromHex(deep), []), 'USAGE');
  });
});

const STATE_CODE = `46${packed(`${VERSION} ${LAMBDA} ${VARIABLE_1} 00000001`)}`;
const REQUEST_CODE = `46${packed(`${VERSION} ${LAMBDA} ${LAMBDA} ${VARIABLE_1} 0001`)}`;

function blueprint(change: object = {}): unknown {
  const state = { title: 'state.mint', compiledCode: STATE_CODE, hash: toHex(plutusV3Hash(fromHex(STATE_CODE))) };
  const request = { title: 'request.spend', compiledCode: REQUEST_CODE, parameters: [{ title: 'policy' }, { title: 'token' }] };
  return { preamble: { plutusVersion: 'v3' }, validators: [state, { ...state, title: 'state.spend' }, request], ...change };
}

describe('deployments', () => {
  test('from a blueprint: hashes and request scripts follow from the code', () => {
    const deployment = cageFromBlueprint(blueprint());
    assert.equal(deployment.version, 'v2');
    assert.equal(toHex(deployment.stateScriptHash), toHex(plutusV3Hash(fromHex(STATE_CODE))));
    const [one, other] = ['01', '02'].map((name) => toHex(requestScriptHash(deployment, fromHex(name))!));
    assert.notEqual(one, other);
    const text = `v2:${toHex(deployment.stateScriptHash)}:${REQUEST_CODE}`;
    assert.deepEqual(parseCageDeployment(text), deployment);
  });

  test('of one script: requests sit where states do', () => {
    const deployment = cageFromBlueprint(blueprint(), 'v0');
    assert.equal(deployment.requestProgram, null);
    assert.deepEqual(requestScriptHash(deployment, fromHex('01')), deployment.stateScriptHash);
    assert.equal(requestScriptHash(parseCageDeployment(`v2:${'ab'.repeat(28)}`), fromHex('01')), null);
  });

  test('are refused when they are wrong', () => {
    const validator = (change: object) => blueprint({ validators: [{ title: 'x', compiledCode: STATE_CODE, ...change }] });
    const wrong = [null, {}, { preamble: { plutusVersion: 'v2' } }, blueprint({ validators: 1 }), blueprint({ validators: [] })];
    const more = [validator({ hash: '00'.repeat(28) }), validator({ compiledCode: 'xyz' }), validator({ parameters: [1, 2] })];
    for (const json of [...wrong, ...more]) assertCode(() => cageFromBlueprint(json), 'USAGE');
    const hash = 'ab'.repeat(28);
    for (const text of [
      '',
      'v2',
      'v3:00',
      `v9:${hash}`,
      `v2:${hash}:zz`,
      `v2:${hash}:46`,
      `v0:${hash}:${REQUEST_CODE}`,
      `v2:${hash}:${STATE_CODE}:1`,
    ])
      assertCode(() => parseCageDeployment(text), 'USAGE');
  });
});

/**
 * The walk of BIP174 from creator to extractor, put together from its records, so
 * that a reader sees what each step adds. A record is the length of its key, the
 * key (which begins with its type), the length of its value, and the value.
 */
import { fromHex } from '../../../../src/util/bytes.ts';

const MAGIC = '70736274ff';
const record = (key: string, value: string): string => sized(key) + sized(value);

function sized(hex: string): string {
  const bytes = hex.length / 2;
  const count = Buffer.alloc(bytes < 253 ? 1 : 3, Math.min(bytes, 253));
  if (bytes >= 253) count.writeUInt16LE(bytes, 1);
  return count.toString('hex') + hex;
}

export const KEYS = [
  '029583bf39ae0a609747ad199addd634fa6108559d6c5cd39b4c2183f1ab96e07f',
  '02dab61ff49a14db6a7d02b0cd1fbb78fc4b18312b5b4e54dae4dba2fbfef536d7',
  '03089dc10c7ac6db54f91329af617333db388cead0c231f723379d1b99030b02dc',
  '023add904f3d6dcf59ddb906b0dee23529b7ffb9ed50e5e86151926860221f0e73',
  '03a9a4c37f5996d3aa25dbac6b570af0650394492942460b354753ed9eeca58771',
  '027f6399757d2eff55a136ad02c684b1838b6556e5f1b6b34282a94b6b50051096',
] as const;

/** Of the first four. */
export const PRIVATE_KEYS = [
  'cP53pDbR5WtAD8dYAW9hhTjuvvTVaEiQBdrz9XPrgLBeRFiyCbQr',
  'cT7J9YpCwY3AVRFSjN6ukeEeWY6mhpbJPxRaDaP5QTdygQRxP9Au',
  'cR6SXDoyfQrcp4piaiHE97Rsgta9mNhGTen9XeonVgwsh4iSgw6d',
  'cNBc3SWUip9PPm1GjRoLEJT6T41iNzCYtD7qro84FMnM5zEqeJsE',
] as const;

/** The master key of them all. */
export const MASTER = 'tprv8ZgxMBicQKsPd9TeAdPADNnSyH9SSUUbTVeFszDE23Ki6TBB5nCefAdHkK8Fm3qMQR6sHwA56zqRmKmxnHk37JkiFzvncDqoKmPWubu7hDF';

export const SIGNATURES = [
  '3044022074018ad4180097b873323c0015720b3684cc8123891048e7dbcd9b55ad679c99022073d369b740e3eb53dcefa33823c8070514ca55a7dd9544f157c167913261118c01',
  '3045022100f61038b308dc1da865a34852746f015772934208c6d24454393cd99bdf2217770220056e675a675a6d0a02b85b14e5e29074d8a25a9b5760bea2816f661910a006ea01',
  '3044022062eb7a556107a7c73f45ac4ab5a1dddf6f7075fb1275969a7f383efff784bcb202200c05dbb7470dbf2f08557dd356c7325c1ed30913e996cd3840945db12228da5f01',
  '3044022065f45ba5998b59a27ffe1a7bed016af1f1f90d54b3aa8f7450aa5f56a25103bd02207f724703ad1edb96680b284b56d4ffcb88f7fb759eabbe08aa30f29b851383d201',
] as const;

const OUTPUTS =
  '0270aaf00800000000160014d85c2b71d0060b09c9886aeb815e50991dda124d00e1f5050000000016001400aea9a2e5f0f876a588df5546e8742d1d87008f';
const INPUTS = [
  '58e87a21b56daf0c23be8e7070456c336f7cbaa5c8757924f545887bb2abdd7500000000',
  '838d0427d0ec650a68aa46bb0b098aea4422c071b2ca78352a077959d07cea1d01000000',
];
const UNSIGNED = `0200000002${INPUTS[0]}00ffffffff${INPUTS[1]}00ffffffff${OUTPUTS}00000000`;

/** The transactions that the inputs spend from. */
export const PREVIOUS = [
  '0200000001aad73931018bd25f84ae400b68848be09db706eac2ac18298babee71ab656f8b0000000048473044022058f6fc7c6a33e1b31548d481c826c015bd30135aad42cd67790dab66d2ad243b02204a1ced2604c6735b6393e5b41691dd78b00f0c5942fb9f751856faa938157dba01feffffff0280f0fa020000000017a9140fb9463421696b82c833af241c78c17ddbde493487d0f20a270100000017a91429ca74f8a08f81999428185c97b5d852e4063f618765000000',
  '0200000000010158e87a21b56daf0c23be8e7070456c336f7cbaa5c8757924f545887bb2abdd7501000000171600145f275f436b09a8cc9a2eb2a2f528485c68a56323feffffff02d8231f1b0100000017a914aed962d6654f9a2b36608eb9d64d2b260db4f1118700c2eb0b0000000017a914b7f5faf40e3d40a5a459b1db3535f2b72fa921e88702483045022100a22edcc6e5bc511af4cc4ae0de0fcd75c7e04d8c1c3a8aa9d820ed4b967384ec02200642963597b9b1bc22c75e9f3e117284a962188bf5e8a74c895089046a20ad770121035509a48eb623e10aace8bfd0212fdb8a8e5af3c94b0b133b95e114cab89e4f7965000000',
] as const;

const SPENT = '00c2eb0b0000000017a914b7f5faf40e3d40a5a459b1db3535f2b72fa921e887';
const REDEEM = [`5221${KEYS[0]}21${KEYS[1]}52ae`, '00208c2353173743b595dfb4a07b72ba8e42e3797da74e87fe7d9d7497e3b2028903'];
const WITNESS = `5221${KEYS[2]}21${KEYS[3]}52ae`;

const place = (key: number): string => `d90c6a4f0000008000000080${Buffer.of(key, 0, 0, 0x80).toString('hex')}`;
const signer = (key: number): string => record(`06${KEYS[key]}`, place(key));
const outputs = [4, 5].map((key) => `${record(`02${KEYS[key]}`, place(key))}00`).join('');
const global = `${MAGIC}${record('00', UNSIGNED)}00`;

/** Nothing but the transaction. */
export const CREATED = fromHex(`${global}00000000`);

/** Updated, with the signatures of these keys. They stand in the order of the keys, which means nothing: the BIP has both orders. */
export function signedBy(...keys: readonly number[]): Uint8Array {
  const signatures = (of: readonly number[]): string =>
    of
      .filter((key) => keys.includes(key))
      .map((key) => record(`02${KEYS[key]}`, SIGNATURES[key]))
      .sort()
      .join('');
  const all = record('03', '01000000');
  const first = `${record('00', PREVIOUS[0])}${signatures([0, 1])}${all}${record('04', REDEEM[0])}${signer(0)}${signer(1)}00`;
  const second = `${record('01', SPENT)}${signatures([2, 3])}${all}${record('04', REDEEM[1])}${record('05', WITNESS)}${signer(3)}${signer(2)}00`;
  return fromHex(`${global}${first}${second}${outputs}`);
}

const FINAL_SCRIPT = `0047${SIGNATURES[0]}48${SIGNATURES[1]}47${REDEEM[0]}`;
const FINAL_REDEEM = `22${REDEEM[1]}`;
const FINAL_WITNESS = `040047${SIGNATURES[2]}47${SIGNATURES[3]}47${WITNESS}`;

export const FINALISED = fromHex(
  [
    `${global}${record('00', PREVIOUS[0])}${record('07', FINAL_SCRIPT)}00`,
    `${record('01', SPENT)}${record('07', FINAL_REDEEM)}${record('08', FINAL_WITNESS)}00${outputs}`,
  ].join(''),
);

export const EXTRACTED = fromHex(
  [
    `02000000000102${INPUTS[0]}${sized(FINAL_SCRIPT)}ffffffff${INPUTS[1]}${sized(FINAL_REDEEM)}ffffffff`,
    `${OUTPUTS}00${FINAL_WITNESS}00000000`,
  ].join(''),
);

const unknown = (last: string): string => record(`f00102030405060708${last}`, '0102030405060708090a0b0c0d0e0f');
const opReturn = `0200000001${'ff'.repeat(32)}0000000000ffffffff010000000000000000036a010000000000`;
const withUnknown = (records: string): Uint8Array =>
  fromHex(`${MAGIC}${record('00', opReturn)}${[records, records, records].join('00')}00`);

/** Two with records of unknown types, and the two combined. */
export const UNKNOWN = [withUnknown(unknown('09')), withUnknown(unknown('10')), withUnknown(unknown('09') + unknown('10'))] as const;

/** The small PSBT of BIP370, with more records in its maps. */
function extended(added: { readonly global?: string; readonly input?: string; readonly output?: string }): Uint8Array {
  const tx = `0200000001${TXID}0000000000feffffff02${AMOUNTS[0]}16${TO[0]}${AMOUNTS[1]}16${TO[1]}00000000`;
  return fromHex(`${MAGIC}${record('00', tx)}${added.global ?? ''}00${added.input ?? ''}00${added.output ?? ''}0000`);
}

const TXID = '0b0ad921419c1c8719735d72dc739f9ea9e0638d1fe4c1eef0f9944084815fc8';
const AMOUNTS = ['0008af2f00000000', '8bbdeb0b00000000'];
const TO = ['0014c430f64c4756da310dbd1a085572ef299926272c', '0014a07dac8ab6ca942d379ed795f835ba71c9cc6885'];

/** A PSBT of version 2 with the records that BIP370 asks for, and more. */
export function version2(
  added: { readonly global?: string; readonly input?: string; readonly output?: string } = {},
  without = '',
): Uint8Array {
  const fields = {
    version: record('02', '02000000'),
    inputs: record('04', '01'),
    outputs: record('05', '02'),
    psbt: record('fb', '02000000'),
  };
  const globals = Object.entries(fields).flatMap(([name, field]) => (name === without ? [] : field));
  const input = [without === 'txid' ? '' : record('0e', TXID), without === 'index' ? '' : record('0f', '00000000')].join('');
  const outs = TO.map(
    (script, i) =>
      `${without === 'amount' ? '' : record('03', AMOUNTS[i])}${without === 'script' ? '' : record('04', script)}${added.output ?? ''}00`,
  );
  return fromHex(`${MAGIC}${globals.join('')}${added.global ?? ''}00${input}${added.input ?? ''}00${outs.join('')}`);
}

const TAPROOT_SPENT = record('01', '00f2052a010000002251205a2c2cf5b52cf31f83ad2e8da63ff03183ecd8f609c7510ae8a48e03910a0757');
const TAP_KEY = 'fe349064c98d6e2a853fa3c9b12bd8b304a19c195c60efa7ee2393046d3fa232';
const TAP_PLACE = '00772b2da75600008001000080000000800100000000000000';

/** Why it is refused, and the bytes: BIP174, BIP370 and BIP371. */
export const REFUSED: readonly (readonly [string, Uint8Array])[] = [
  ['a transaction of the network', EXTRACTED],
  ['without outputs', CREATED.subarray(0, -2)],
  ['the same record twice', extended({ input: TAPROOT_SPENT.repeat(2) })],
  ['no transaction', fromHex(`${MAGIC}0000`)],
  ['a previous transaction of another id', extended({ input: record('00', PREVIOUS[0]) })],
  ['the type of a previous transaction with more in its key', extended({ input: record('0000', PREVIOUS[0]) })],
  ['a signature of a key that is cut off', extended({ input: record(`02${KEYS[0].slice(2)}`, SIGNATURES[0]) })],
  ['the sighash with more in its key', extended({ input: record('0300', '01000000') })],
  ['the place of a key that is cut off', extended({ output: record(`02${KEYS[0].slice(2)}`, place(0)) })],
  ...(
    [
      ['version', { global: record('02', '02000000') }],
      ['lock time', { global: record('03', '00000000') }],
      ['count of inputs', { global: record('04', '01') }],
      ['count of outputs', { global: record('05', '02') }],
      ['what may be changed', { global: record('06', '00') }],
      ['id of an input', { input: record('0e', TXID) }],
      ['index of an input', { input: record('0f', '00000000') }],
      ['sequence of an input', { input: record('10', 'ffffffff') }],
      ['time of an input', { input: record('11', '8c8dc462') }],
      ['height of an input', { input: record('12', '10270000') }],
      ['amount of an output', { output: record('03', AMOUNTS[0]) }],
      ['script of an output', { output: record('04', TO[0]) }],
    ] as const
  ).map(([what, added]) => [`version 0 with the ${what} of version 2`, extended(added)] as const),
  ...['version', 'inputs', 'outputs', 'txid', 'index', 'amount', 'script'].map(
    (name) => [`version 2 without ${name}`, version2({}, name)] as const,
  ),
  ['version 2 with a time of before 1985', version2({ input: record('11', 'ff64cd1d') })],
  ['version 2 with a height that is a time', version2({ input: record('12', '0065cd1d') })],
  ['taproot: an internal key of 33 bytes', extended({ input: `${TAPROOT_SPENT}${record('17', `02${TAP_KEY}`)}` })],
  ['taproot: a signature of 63 bytes', extended({ input: `${TAPROOT_SPENT}${record('13', 'ab'.repeat(63))}` })],
  ['taproot: a signature of 66 bytes', extended({ input: `${TAPROOT_SPENT}${record('13', 'ab'.repeat(66))}` })],
  ['taproot: the place of a key of 33 bytes', extended({ input: `${TAPROOT_SPENT}${record(`1602${TAP_KEY}`, TAP_PLACE)}` })],
  ['taproot: an internal key of an output of 33 bytes', extended({ output: record('05', `02${TAP_KEY}`) })],
  ['taproot: a leaf whose control block is too long', extended({ input: record(`15c1${TAP_KEY}${'ab'.repeat(33)}`, '20acc0') })],
];

/** BIP371: a taproot input with its key and place. */
export const TAPROOT = extended({ input: `${TAPROOT_SPENT}${record(`16${TAP_KEY}`, TAP_PLACE)}${record('17', TAP_KEY)}` });

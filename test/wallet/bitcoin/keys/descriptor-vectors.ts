/**
 * Vectors of the BIPs about descriptors. Keys that come again have a name, so
 * that a reader sees what differs.
 */

const WIF = 'L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1';
const WIF_WHOLE = '5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss';
const X = 'a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd';
const KEY = `03${X}`;
const WHOLE = `04${X}5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea235`;
const OTHER = '0260b2003c386519fc9eadf2b5cf124dd8eea4c4e68d5e154050a9346ea98ce600';
/** Nobody has its private key (BIP341). */
const NUMS = '50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0';

const A_PRV = 'xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXzU6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWc';
const A_PUB = 'xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL';
const B_PRV = 'xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L';
const B_PUB = 'xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y';
const C_PRV = 'xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U';
const C_PUB = 'xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB';
const D_PRV = 'xprv9vHkqa6EV4sPZHYqZznhT2NPtPCjKuDKGY38FBWLvgaDx45zo9WQRUT3dKYnjwih2yJD9mkrocEZXo1ex8G81dwSM1fwqWpWkeS3v86pgKt';
const D_PUB = 'xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH';
const E_PRV = 'xprv9s21ZrQH143K3QTDL4LXw2F7HEK3wJUD2nW2nRk4stbPy6cq3jPPqjiChkVvvNKmPGJxWUtg6LnF5kejMRNNU3TGtRBeJgk33yuGBxrMPHi';
const F_PUB = 'xpub661MyMwAqRbcGDZQUKLqmWodYLcoBQnQH33yYkkF3jjxeLvY8qr2wWGEWkiKFaaQfJCoi3HeEq3Dc5DptfbCyjD38fNhSqtKc1UHaP4ba3t';
const G_PUB = 'xpub661MyMwAqRbcF3yVrV2KyYetLMYA5mCbv4BhrKwUrFE9LZM6JRR1AEt8Jq4V4C8LwtTke6YEEdCZqgXp85YRk2j74EfJKhe3QybQ9kcUjs4';
const LEAF_PRV = 'xprvA2JDeKCSNNZky6uBCviVfJSKyQ1mDYahRjijr5idH2WwLsEd4Hsb2Tyh8RfQMuPh7f7RtyzTtdrbdqqsunu5Mm3wDvUAKRHSC34sJ7in334';

const SIXTEEN = [
  '03669b8afcec803a0d323e9a17f3ea8e68e8abe5a278020a929adbec52421adbd0',
  '0260b2003c386519fc9eadf2b5cf124dd8eea4c4e68d5e154050a9346ea98ce600',
  '0362a74e399c39ed5593852a30147f2959b56bb827dfa3e60e464b02ccf87dc5e8',
  '0261345b53de74a4d721ef877c255429961b7e43714171ac06168d7e08c542a8b8',
  '02da72e8b46901a65d4374fe6315538d8f368557dda3a1dcf9ea903f3afe7314c8',
  '0318c82dd0b53fd3a932d16e0ba9e278fcc937c582d5781be626ff16e201f72286',
  '0297ccef1ef99f9d73dec9ad37476ddb232f1238aff877af19e72ba04493361009',
  '02e502cfd5c3f972fe9a3e2a18827820638f96b6f347e54d63deb839011fd5765d',
  '03e687710f0e3ebe81c1037074da939d409c0025f17eb86adb9427d28f0f7ae0e9',
  '02c04d3a5274952acdbc76987f3184b346a483d43be40874624b29e3692c1df5af',
  '02ed06e0f418b5b43a7ec01d1d7d27290fa15f75771cb69b642a51471c29c84acd',
  '036d46073cbb9ffee90473f3da429abc8de7f8751199da44485682a989a4bebb24',
  '02f5d1ff7c9029a80a4e36b9a5497027ef7f3e73384a4a94fbfe7c4e9164eec8bc',
  '02e41deffd1b7cce11cde209a781adcffdabd1b91c0ba0375857a2bfd9302419f3',
  '02d76625f7956a7fc505ab02556c23ee72d832f1bac391bcd2d3abce5710a13d06',
  '0399eb0a5487515802dc14544cf10b3666623762fbed2ec38a3975716e2c29c232',
].join(',');

const TWENTY_WIF = [
  'KzoAz5CanayRKex3fSLQ2BwJpN7U52gZvxMyk78nDMHuqrUxuSJy',
  'KwGNz6YCCQtYvFzMtrC6D3tKTKdBBboMrLTsjr2NYVBwapCkn7Mr',
  'KxogYhiNfwxuswvXV66eFyKcCpm7dZ7TqHVqujHAVUjJxyivxQ9X',
  'L2BUNduTSyZwZjwNHynQTF14mv2uz2NRq5n5sYWTb4FkkmqgEE9f',
  'L1okJGHGn1kFjdXHKxXjwVVtmCMR2JA5QsbKCSpSb7ReQjezKeoD',
  'KxDCNSST75HFPaW5QKpzHtAyaCQC7p9Vo3FYfi2u4dXD1vgMiboK',
  'L5edQjFtnkcf5UWURn6UuuoFrabgDQUHdheKCziwN42aLwS3KizU',
  'KzF8UWFcEC7BYTq8Go1xVimMkDmyNYVmXV5PV7RuDicvAocoPB8i',
  'L3nHUboKG2w4VSJ5jYZ5CBM97oeK6YuKvfZxrefdShECcjEYKMWZ',
  'KyjHo36dWkYhimKmVVmQTq3gERv3pnqA4xFCpvUgbGDJad7eS8WE',
  'KwsfyHKRUTZPQtysN7M3tZ4GXTnuov5XRgjdF2XCG8faAPmFruRF',
  'KzCUbGhN9LJhdeFfL9zQgTJMjqxdBKEekRGZX24hXdgCNCijkkap',
  'KzgpMBwwsDLwkaC5UrmBgCYaBD2WgZ7PBoGYXR8KT7gCA9UTN5a3',
  'KyBXTPy4T7YG4q9tcAM3LkvfRpD1ybHMvcJ2ehaWXaSqeGUxEdkP',
  'KzJDe9iwJRPtKP2F2AoN6zBgzS7uiuAwhWCfGdNeYJ3PC1HNJ8M8',
  'L1xbHrxynrqLKkoYc4qtoQPx6uy5qYXR5ZDYVYBSRmCV5piU3JG9',
  'KzRedjSwMggebB3VufhbzpYJnvHfHe9kPJSjCU5QpJdAW3NSZxYS',
  'Kyjtp5858xL7JfeV4PNRCKy2t6XvgqNNepArGY9F9F1SSPqNEMs3',
  'L2D4RLHPiHBidkHS8ftx11jJk1hGFELvxh8LoxNQheaGT58dKenW',
  'KyLPZdwY4td98bKkXqEXTEBX3vwEYTQo1yyLjX2jKXA63GBpmSjv',
].join(',');

/** A descriptor and its first scripts. */
export const SCRIPTS: readonly (readonly [string, ...string[]])[] = [
  // BIP381
  [`pk(${WIF})`, `21${KEY}ac`],
  [`pk(${KEY})`, `21${KEY}ac`],
  [`pkh([deadbeef/1/2'/3/4']${WIF})`, '76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac'],
  [`pkh([deadbeef/1/2'/3/4']${KEY})`, '76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac'],
  [`pkh([deadbeef/1/2h/3/4h]${KEY})`, '76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac'],
  [`pk(${WIF_WHOLE})`, `41${WHOLE}ac`],
  [`pk(${WHOLE})`, `41${WHOLE}ac`],
  [`pkh(${WIF_WHOLE})`, '76a914b5bd079c4d57cc7fc28ecf8213a6b791625b818388ac'],
  [`pkh(${WHOLE})`, '76a914b5bd079c4d57cc7fc28ecf8213a6b791625b818388ac'],
  [`sh(pk(${WIF}))`, 'a9141857af51a5e516552b3086430fd8ce55f7c1a52487'],
  [`sh(pk(${KEY}))`, 'a9141857af51a5e516552b3086430fd8ce55f7c1a52487'],
  [`sh(pkh(${WIF}))`, 'a9141a31ad23bf49c247dd531a623c2ef57da3c400c587'],
  [`sh(pkh(${KEY}))`, 'a9141a31ad23bf49c247dd531a623c2ef57da3c400c587'],
  [`pkh(${C_PRV}/2147483647'/0)`, '76a914ebdc90806a9c4356c1c88e42216611e1cb4c1c1788ac'],
  [
    'pkh([bd16bee5/2147483647h]xpub69H7F5dQzmVd3vPuLKtcXJziMEQByuDidnX3YdwgtNsecY5HRGtAAQC5mXTt4dsv9RzyjgDjAQs9VGVV6ydYCHnprc9vvaA5YtqWyL6hyds/0)',
    '76a914ebdc90806a9c4356c1c88e42216611e1cb4c1c1788ac',
  ],
  [`pk(${B_PRV}/0)`, '210379e45b3cf75f9c5f9befd8e9506fb962f6a9d185ac87001ec44a8d3df8d4a9e3ac'],
  [`pk(${B_PUB}/0)`, '210379e45b3cf75f9c5f9befd8e9506fb962f6a9d185ac87001ec44a8d3df8d4a9e3ac'],
  // BIP382
  [`wpkh(${WIF})`, '00149a1c78a507689f6f54b847ad1cef1e614ee23f1e'],
  [`wpkh(${KEY})`, '00149a1c78a507689f6f54b847ad1cef1e614ee23f1e'],
  [`wpkh([ffffffff/13']${D_PRV}/1/2/0)`, '0014326b2249e3a25d5dc60935f044ee835d090ba859'],
  [
    `wpkh([ffffffff/13']${D_PUB}/1/2/*)`,
    '0014326b2249e3a25d5dc60935f044ee835d090ba859',
    '0014af0bd98abc2f2cae66e36896a39ffe2d32984fb7',
    '00141fa798efd1cbf95cebf912c031b8a4a6e9fb9f27',
  ],
  [
    `sh(wpkh(${E_PRV}/10/20/30/40/*'))`,
    'a9149a4d9901d6af519b2a23d4a2f51650fcba87ce7b87',
    'a914bed59fc0024fae941d6e20a3b44a109ae740129287',
    'a9148483aa1116eb9c05c482a72bada4b1db24af654387',
  ],
  [`wsh(pkh(${WIF}))`, '0020338e023079b91c58571b20e602d7805fb808c22473cbc391a41b1bd3a192e75b'],
  [`wsh(pk(${KEY}))`, '00202e271faa2325c199d25d22e1ead982e45b64eeb4f31e73dbdf41bd4b5fec23fa'],
  [`sh(wsh(pkh(${WIF})))`, 'a914b61b92e2ca21bac1e72a3ab859a742982bea960a87'],
  // BIP383
  [`multi(1,${WIF},${WIF_WHOLE})`, `5121${KEY}41${WHOLE}52ae`],
  [`multi(1,${KEY},${WHOLE})`, `5121${KEY}41${WHOLE}52ae`],
  [`sortedmulti(1,${WHOLE},${KEY})`, `5121${KEY}41${WHOLE}52ae`],
  [`sh(multi(2,[00000000/111'/222]${A_PRV},${B_PRV}/0))`, 'a91445a9a622a8b0a1269944be477640eedc447bbd8487'],
  [
    `sortedmulti(2,${A_PUB}/*,${B_PUB}/0/0/*)`,
    '5221025d5fc65ebb8d44a5274b53bac21ff8307fec2334a32df05553459f8b1f7fe1b62102fbd47cc8034098f0e6a94c6aeee8528abf0a2153a5d8e46d325b7284c046784652ae',
    '52210264fd4d1f5dea8ded94c61e9641309349b62f27fbffe807291f664e286bfbe6472103f4ece6dfccfa37b211eb3d0af4d0c61dba9ef698622dc17eecdf764beeb005a652ae',
    '5221022ccabda84c30bad578b13c89eb3b9544ce149787e5b538175b1d1ba259cbb83321024d902e1a2fc7a8755ab5b694c575fce742c48d9ff192e63df5193e4c7afe1f9c52ae',
  ],
  [
    `wsh(multi(2,${C_PRV}/2147483647'/0,${D_PRV}/1/2/*,${E_PRV}/10/20/30/40/*'))`,
    '0020b92623201f3bb7c3771d45b2ad1d0351ea8fbf8cfe0a0e570264e1075fa1948f',
    '002036a08bbe4923af41cf4316817c93b8d37e2f635dd25cfff06bd50df6ae7ea203',
    '0020a96e7ab4607ca6b261bfe3245ffda9c746b28d3f59e83d34820ec0e2b36c139c',
  ],
  [`sh(wsh(multi(16,${SIXTEEN})))`, 'a9147fc63e13dc25e8a95a3cee3d9a714ac3afd96f1e87'],
  [`wsh(multi(20,${TWENTY_WIF}))`, '0020376bd8344b8b6ebe504ff85ef743eaa1aa9272178223bcb6887e9378efb341ac'],
  [`sh(wsh(multi(20,${TWENTY_WIF})))`, 'a914c2c9c510e9d7f92fd6131e94803a8d34a8ef675e87'],
  // BIP385
  ['raw(deadbeef)', 'deadbeef'],
  ['addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j)', 'a914eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee87'],
  // BIP386
  [`tr(${X})`, '512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11'],
  [`tr(${WIF})`, '512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11'],
  [
    `tr(${A_PRV}/0/*,pk(${A_PRV}/1/*))`,
    '512078bc707124daa551b65af74de2ec128b7525e10f374dc67b64e00ce0ab8b3e12',
    '512001f0a02a17808c20134b78faab80ef93ffba82261ccef0a2314f5d62b6438f11',
    '512021024954fcec88237a9386fce80ef2ced5f1e91b422b26c59ccfc174c8d1ad25',
  ],
  [
    `tr(${X},pk(669b8afcec803a0d323e9a17f3ea8e68e8abe5a278020a929adbec52421adbd0))`,
    '512017cf18db381d836d8923b1bdb246cfcd818da1a9f0e6e7907f187f0b2f937754',
  ],
  [
    `tr(${X},{pk(${LEAF_PRV}/0),{{pk(${A_PUB}),pk(02df12b7035bdac8e3bab862a3a83d06ea6b17b6753d52edecba9be46f5d09e076)},pk(${WIF})}})`,
    '512071fff39599a7b78bc02623cbe814efebf1a404f5d8ad34ea80f213bd8943f574',
  ],
  // BIP387
  [
    `tr(${WIF},multi_a(1,KzoAz5CanayRKex3fSLQ2BwJpN7U52gZvxMyk78nDMHuqrUxuSJy))`,
    '5120eb5bd3894327d75093891cc3a62506df7d58ec137fcd104cdd285d67816074f3',
  ],
  [`tr(${NUMS},multi_a(2,[00000000/111'/222]${A_PRV},${B_PRV}/0))`, '51202eea93581594a43c0c8423b70dc112e5651df63984d108d4fc8ccd3b63b4eafa'],
  [
    `tr(${NUMS},sortedmulti_a(2,[00000000/111'/222]${A_PRV},${B_PRV}/0))`,
    '512016fa6a6ba7e98c54b5bf43b3144912b78a61b60b02f6a74172b8dcb35b12bc30',
  ],
  [
    `tr(${NUMS},sortedmulti_a(2,${A_PUB}/*,${B_PUB}/0/0/*))`,
    '5120abd47468515223f58a1a18edfde709a7a2aab2b696d59ecf8c34f0ba274ef772',
    '5120fe62e7ed20705bd1d3678e072bc999acb014f07795fa02cb8f25a7aa787e8cbd',
    '51201311093750f459039adaa2a5ed23b0f7a8ae2c2ffb07c5390ea37e2fb1050b41',
  ],
  [
    `tr(${NUMS},multi_a(2,${C_PRV}/2147483647'/0,${D_PRV}/1/2/*,${E_PRV}/10/20/30/40/*'))`,
    '5120e4c8f2b0a7d3a688ac131cb03248c0d4b0a59bbd4f37211c848cfbd22a981192',
    '5120827faedaa21e52fca2ac83b53afd1ab7d4d1e6ce67ff42b19f2723d48b5a19ab',
    '5120647495ed09de61a3a324704f9203c130d655bf3141f9b748df8f7be7e9af55a4',
  ],
];

/** Why it is refused, and the text. */
export const INVALID: readonly (readonly [string, string])[] = [
  // BIP380
  ['children in an origin', `pk([deadbeef/0h/0h/0h/*]${OTHER})`],
  ['a slash at the end of an origin', `pk([deadbeef/0h/0h/0h/]${OTHER})`],
  ['a fingerprint that is too short', `pk([deadbef/0h/0h/0h]${OTHER})`],
  ['a fingerprint that is too long', `pk([deadbeeef/0h/0h/0h]${OTHER})`],
  ['another mark for hardened steps', `pk([deadbeef/0f/0f/0f]${OTHER})`],
  ['a negative step', `pk([deadbeef/-0/-0/-0]${OTHER})`],
  ['a private key with a path', `pk(${WIF}/0)`],
  ['a private key with children', `pk(${WIF}/*)`],
  ['a step that is too large', `pk(${C_PRV}/2147483648)`],
  ['a step that is no number', `pk(${C_PRV}/1aa)`],
  ['two origins', `pk([aaaaaaaa][aaaaaaaa]${C_PRV}/2147483647'/0)`],
  ['an origin that does not begin', `pk(aaaaaaaa]${C_PRV}/2147483647'/0)`],
  ['a fingerprint that is not hex', `pk([gaaaaaaa]${C_PRV}/2147483647'/0)`],
  ['an origin without a key', 'pk([deadbeef])'],
  // BIP381
  ['a script in pk', `pk(pk(${KEY}))`],
  ['a script in pkh', `pkh(pk(${KEY}))`],
  ['a key in sh', `sh(${KEY})`],
  ['sh in sh', `sh(sh(pkh(${KEY})))`],
  // BIP382
  ['a private key that is not compressed in wpkh', `wpkh(${WIF_WHOLE})`],
  ['one in sh and wpkh', `sh(wpkh(${WIF_WHOLE}))`],
  ['a key that is not compressed in wpkh', `wpkh(${WHOLE})`],
  ['one in wsh', `wsh(pk(${WHOLE}))`],
  ['wpkh in wsh', `wsh(wpkh(${KEY}))`],
  ['wsh in wsh', `wsh(wsh(pkh(${KEY})))`],
  ['wsh in wsh in sh', `sh(wsh(wsh(pkh(${KEY}))))`],
  ['a script in wpkh', `wpkh(wsh(pkh(${KEY})))`],
  ['a key in wsh', `wsh(${KEY})`],
  // BIP383
  ['sixteen keys in sh', `sh(multi(16,${SIXTEEN}))`],
  ['keys of more than 520 bytes in sh', `sh(multi(1,${Array(8).fill(WHOLE).join(',')}))`],
  ['four keys in multi alone', `multi(1,${[KEY, KEY, KEY, KEY].join(',')})`],
  ['a letter as the number of signers', `multi(a,${KEY},${WHOLE})`],
  ['no signers', `multi(0,${KEY},${WHOLE})`],
  ['more signers than keys', `multi(3,${WIF},${WIF_WHOLE})`],
  // BIP385
  ['a script that is not hex', 'raw(asdf)'],
  ['an address that is none', 'addr(asdf)'],
  ['raw in sh', 'sh(raw(deadbeef))'],
  ['raw in wsh', 'wsh(raw(deadbeef))'],
  ['addr in sh', 'sh(addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j))'],
  // BIP386
  ['a private key that is not compressed in tr', `tr(${WIF_WHOLE})`],
  ['a key that is not compressed in tr', `tr(${WHOLE})`],
  ['tr in wsh', `wsh(tr(${X}))`],
  ['tr in sh', `sh(tr(${X}))`],
  ['pkh in tr', `tr(${X}, pkh(${WIF}))`],
  // BIP387
  ['multi_a alone', `multi_a(1,${KEY})`],
  ['multi_a in sh', `sh(multi_a(1,${KEY}))`],
  ['multi_a in wsh', `wsh(multi_a(1,${KEY}))`],
  ['a letter in multi_a', `tr(${NUMS},multi_a(a,${KEY}))`],
  ['no signers in multi_a', `tr(${NUMS},multi_a(0,${KEY}))`],
  ['a key that is not compressed in multi_a', `tr(${NUMS},multi_a(1,${WHOLE}))`],
  ['more signers than keys in multi_a', `tr(${NUMS},multi_a(3,${WIF},${KEY}))`],
  // BIP389
  ['two steps of several values', `pkh(${C_PRV}/<0;1>/<2;3>)`],
  ['several values in an origin', `pkh([deadbeef/<0;1>]${C_PUB}/0)`],
  ['four values and three', `tr(${G_PUB}/<6;7;8;9>/*,{pk(${A_PUB}/<1;2;3>/0/*),pk(${F_PUB}/0/0/<3;4;5>/*)})`],
  ['three values and two', `sh(multi(2,${A_PRV}/<1;2;3>/0/*,${B_PRV}/0/*,${C_PRV}/0/0/<3;4>/*))`],
  ['no values', `wpkh(${C_PUB}/<>/*)`],
  ['values that do not begin', `wpkh(${C_PUB}/0>/*)`],
  ['values that do not end', `wpkh(${C_PUB}/<0/*)`],
  ['a value that is missing', `wpkh(${C_PUB}/<0;>/*)`],
  ['the same value twice', `wpkh(${C_PUB}/<0;0>/*)`],
  // What is of no BIP
  ['nothing', ''],
  ['a wallet in miniscript', `wsh(and_v(v:pk(${KEY}),older(144)))`],
  ['more behind it', `pk(${KEY})x`],
  ['no end', `pk(${KEY}`],
  ['a key of no point', `pk(02${'ff'.repeat(32)})`],
  ['a hybrid key', `pk(06${WHOLE.slice(2)})`],
  ['a name of JavaScript', `constructor(${KEY})`],
  ['a star in the middle', `pk(${C_PUB}/*/0)`],
];

/** BIP380: texts whose checksum is wrong, or of the wrong form. */
export const UNCHECKED: readonly string[] = [
  'raw(deadbeef)#',
  'raw(deadbeef)#89f8spxmx',
  'raw(deadbeef)#89f8spx',
  'raw(deedbeef)#89f8spxm',
  'raw(deedbeef)##9f8spxm',
  'raw(Ü)#00000000',
];

/** A descriptor of BIP389 and its branches. */
export const MULTIPATH: readonly (readonly [string, ...string[]])[] = [
  [`pk(${B_PUB}/<0;1>)`, `pk(${B_PUB}/0)`, `pk(${B_PUB}/1)`],
  [`pkh(${C_PRV}/<2147483647h;0>/0)`, `pkh(${C_PRV}/2147483647h/0)`, `pkh(${C_PRV}/0/0)`],
  [`wpkh([ffffffff/13h]${D_PUB}/<1;3>/2/*)`, `wpkh([ffffffff/13h]${D_PUB}/1/2/*)`, `wpkh([ffffffff/13h]${D_PUB}/3/2/*)`],
  [`multi(2,${A_PUB}/<1;2>/*,${B_PUB}/<3;4>/0/*)`, `multi(2,${A_PUB}/1/*,${B_PUB}/3/0/*)`, `multi(2,${A_PUB}/2/*,${B_PUB}/4/0/*)`],
  [`pkh(${C_PUB}/<0;1;2>)`, `pkh(${C_PUB}/0)`, `pkh(${C_PUB}/1)`, `pkh(${C_PUB}/2)`],
  [
    `sh(multi(2,${A_PUB}/<1;2;3>/0/*,${B_PUB}/0/*,${F_PUB}/0/0/<3;4;5>/*))`,
    `sh(multi(2,${A_PUB}/1/0/*,${B_PUB}/0/*,${F_PUB}/0/0/3/*))`,
    `sh(multi(2,${A_PUB}/2/0/*,${B_PUB}/0/*,${F_PUB}/0/0/4/*))`,
    `sh(multi(2,${A_PUB}/3/0/*,${B_PUB}/0/*,${F_PUB}/0/0/5/*))`,
  ],
];

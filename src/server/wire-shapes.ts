/**
 * Every wire shape, one line each. `shapes.ts` says what one is, and reads this
 * list; the descriptors in `families/` say which stores answer in which.
 */
export { electrum } from './bitcoin/electrum/index.ts';
export { esplora } from './bitcoin/esplora/index.ts';
export { mempoolStream } from './bitcoin/mempool-stream/index.ts';
export { scriptHistory } from './bitcoin/script-history/index.ts';
export { blockfrost } from './cardano/blockfrost/index.ts';
export { evaluation } from './cardano/evaluation/index.ts';
export { kupo } from './cardano/kupo/index.ts';
export { mpfs } from './cardano/mpfs/index.ts';
export { ogmios } from './cardano/ogmios/index.ts';
export { utxorpc } from './cardano/utxorpc/index.ts';
export { wallets } from './wallets/index.ts';

/** A process that feeds the wallets of a database from a server, until it is killed: `feed-child.ts URL TOKEN DATABASE NETWORK FEED`. */
import { bitcoinNetwork } from '../../../src/ledgers/bitcoin/index.ts';
import { esploraBodies } from '../../../src/wallet/bitcoin/wallet-tx.ts';
import { HttpFeed } from '../../../src/wallet/feed/http-feed.ts';
import { WalletFeed } from '../../../src/wallet/feed/wallet-feed.ts';
import { openWalletStore } from '../../../src/wallet/open.ts';

const [url, token, database, network, feed] = process.argv.slice(2);
const wallets = await openWalletStore(database, { isDurable: false });
const source = new HttpFeed({ url, token, bodies: esploraBodies(bitcoinNetwork(network)), reconnectMs: [1, 20] });
await new WalletFeed(wallets, { feed, now: Date.now }).follow(source, new AbortController().signal);

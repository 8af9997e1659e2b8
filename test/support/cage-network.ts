/**
 * Everything between a user of cages and the chain, over real sockets: a devnet
 * that answers as a node does, a store that follows it over its local socket and
 * serves HTTP, and the command in a process of its own that follows it over TCP
 * and is asked for nothing but roots.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type CageContext, openCage, type UnsignedTx } from '../../src/cage.ts';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { makeWallet, type Wallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { serveChain } from '../../src/chains/cardano/responder/index.ts';
import { open, type Store } from '../../src/index.ts';
import { DEVNET_CAGE } from '../../src/ledgers/cardano/cage/index.ts';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { cage } from '../../src/proofs/index.ts';
import { fromHex, toHex } from '../../src/util/bytes.ts';
import { temporary } from '../cli/run.ts';
import { Running } from '../cli/running.ts';
import { timeOf } from './cage-node.ts';
import { until } from './patience.ts';
import { signTx } from './sign.ts';

const ADA = 1_000_000n;
const COINS = 8;

type Json = Readonly<Record<string, unknown>>;

async function get(url: URL): Promise<{ readonly status: number; readonly body: Json }> {
  const response = await fetch(url);
  return { status: response.status, body: (await response.json()) as Json };
}

/** Somebody with a key and a cage context of their own. */
export interface CageUser {
  readonly cage: CageContext;
  readonly wallet: Wallet;
  readonly address: string;
  readonly keyHash: string;
}

export class CageNetwork {
  readonly chain: LiveDevnet;
  readonly store: Store;
  /** Of the store that is asked, and of the one that is trusted. */
  private readonly asked: URL;
  private readonly trusted: URL;
  private readonly socket: string;
  private readonly undo: (() => unknown)[];

  private constructor(
    parts: Pick<CageNetwork, 'chain' | 'store'>,
    [asked, trusted]: readonly string[],
    socket: string,
    undo: (() => unknown)[],
  ) {
    ({ chain: this.chain, store: this.store } = parts);
    this.asked = new URL('mpfs/', asked);
    this.trusted = new URL('api/v1/', trusted);
    this.socket = socket;
    this.undo = undo;
  }

  /** `seeds`: of the wallets that have coins from the beginning. */
  static async start(t: TestContext, seed: number, seeds: readonly number[]): Promise<CageNetwork> {
    const folder = temporary();
    const undo: (() => unknown)[] = [];
    t.after(async () => {
      for (const each of undo.reverse()) await each();
    });
    const chain = new LiveDevnet({ seed, addresses: 3, txPerBlock: 1, cages: true });
    for (const wallet of seeds.map(makeWallet)) for (let i = 0; i < COINS; i++) chain.fund(wallet.address, BigInt(40 + i) * ADA);
    chain.mine(20);
    const socket = join(folder, 'node.socket');
    const responder = await serveChain(chain, { port: 0, socket });
    undo.push(() => responder.close());
    const settings = { 'cage.enabled': true, 'cage.deployments': 'devnet', 'proofs.csmt': true, 'engine.memtableBytes': '8MiB' };
    const store = await open({ data: join(folder, 'asked'), network: 'devnet', genesis: chain.genesis, settings });
    undo.push(() => store.close());
    const { url } = await store.serve({ port: 0, follows: true });
    const stop = new AbortController();
    const following = store.follow(`n2c:${socket}`, { stay: true, signal: stop.signal });
    undo.push(() => {
      stop.abort();
      return following;
    });
    const other = await startOther(t, folder, chain, `n2n://127.0.0.1:${responder.port}`);
    return new CageNetwork({ chain, store }, [url, other], socket, undo);
  }

  user(seed: number): CageUser {
    const wallet = makeWallet(seed);
    const context = openCage(this.store, { node: `n2c:${this.socket}`, clock: () => timeOf(this.chain) });
    this.undo.push(() => context.close());
    return { cage: context, wallet, address: formatAddress(wallet.address), keyHash: toHex(wallet.address.subarray(1)) };
  }

  /** Signed by the user, submitted, and in a block that both stores have. */
  async send<T extends UnsignedTx>(user: CageUser, built: Promise<T>): Promise<T> {
    const made = await built;
    assert.equal(await user.cage.submitter.submit(signTx(made.tx, user.wallet)), made.id);
    this.chain.mine();
    await user.cage.indexer.waitForTx(made.id);
    await this.settled();
    return made;
  }

  /** Blocks come until the chain has this time, in POSIX milliseconds. */
  async passTo(ms: number): Promise<void> {
    while (timeOf(this.chain) < ms) this.chain.mine();
    await this.settled();
  }

  /** Both servers answer from the newest block. */
  async settled(): Promise<void> {
    const tip = toHex(this.chain.tip.point!.hash);
    const isAt = async (url: URL, hashIn: (body: Json) => unknown): Promise<boolean> => hashIn((await get(url)).body) === tip;
    await until(() => isAt(new URL('status', this.asked), (body) => body['checkpoint_block_id']), 'the store that is asked at the tip');
    await until(
      () => isAt(new URL('roots', this.trusted), (body) => (body['point'] as Json | null)?.['hash']),
      'the other store at the tip',
    );
  }

  /** An answer below /mpfs, and what the reader trusts: the other store's root of the block that the answer is of. */
  async ask(path: string): Promise<{ readonly answer: Json; readonly trust: cage.CageTrust }> {
    const { status, body } = await get(new URL(path, this.asked));
    assert.equal(status, 200, `${path}: ${JSON.stringify(body)}`);
    const { chainpoint } = body['snapshot'] as { readonly chainpoint: { readonly block_id: string } };
    const roots = await get(new URL(`roots?at=${chainpoint.block_id}`, this.trusted));
    assert.equal(roots.status, 200, JSON.stringify(roots.body));
    return { answer: body, trust: { root: fromHex(roots.body['csmt'] as string), deployment: DEVNET_CAGE, network: 'testnet' } };
  }

  /** The code of the problem document that is the answer. */
  async problem(path: string): Promise<unknown> {
    return (await get(new URL(path, this.asked))).body['code'];
  }
}

/** `unspent start` in a process of its own, without cages: its page is where roots are asked for. */
async function startOther(t: TestContext, folder: string, { genesis }: LiveDevnet, source: string): Promise<string> {
  const files = join(folder, 'genesis');
  mkdirSync(files);
  writeFileSync(join(files, 'byron-genesis.json'), genesis.byron);
  writeFileSync(join(files, 'shelley-genesis.json'), genesis.shelley);
  const flags = ['--network', 'devnet', '--genesis', files, '--source', source, '--data', join(folder, 'trusted'), '--proofs-csmt', 'true'];
  const other = new Running(t, ['start', '--port', '0', ...flags], folder);
  const [, url] = await other.remarks(/open (http:\/\/127\.0\.0\.1:\d+\/)/);
  return url;
}

/** What a reader believes of one token, each part verified with the root of the other store. */
export class CageReader {
  private readonly network: CageNetwork;
  private readonly token: Uint8Array;
  private readonly path: string;

  constructor(network: CageNetwork, id: string) {
    this.network = network;
    this.token = fromHex(id.split('.')[1]);
    this.path = `tokens/${id.replace('.', '')}`;
  }

  async owner(): Promise<string> {
    const { answer, trust } = await this.network.ask(this.path);
    const verdict = shown(cage.verifyStateAnswer(answer, trust, this.token));
    return toHex(verdict.state.owner);
  }

  /** All of them. */
  async facts(): Promise<ReadonlyMap<string, string>> {
    const { answer, trust } = await this.network.ask(`${this.path}/facts`);
    const { facts } = shown(cage.verifyFactsAnswer(answer, trust, this.token));
    return new Map(facts.map(({ key, value }) => [toHex(key), toHex(value)]));
  }

  async fact(key: string): Promise<string> {
    const { answer, trust } = await this.network.ask(`${this.path}/facts/${key}`);
    return toHex(shown(cage.verifyFactAnswer(answer, trust, this.token, fromHex(key))).value);
  }

  /** Verifies that the key is not there; and that the service gives no value of it. */
  async absent(key: string): Promise<void> {
    const { answer, trust } = await this.network.ask(`${this.path}/proofs/${key}`);
    shown(cage.verifyAbsenceAnswer(answer, trust, this.token, fromHex(key)));
    assert.equal(await this.network.problem(`${this.path}/facts/${key}`), 'NOT_FOUND');
  }

  /** `TXID#INDEX` of all of them. */
  async requests(): Promise<readonly string[]> {
    const { answer, trust } = await this.network.ask(`${this.path}/requests`);
    const { requests } = shown(cage.verifyRequestsAnswer(answer, trust, this.token));
    return requests.map(({ txId, index }) => `${toHex(txId)}#${index}`).sort();
  }

  /** Whether it is in the complete list of tokens. */
  async isListed(): Promise<boolean> {
    const { answer, trust } = await this.network.ask('tokens');
    const { tokens } = shown(cage.verifyTokensAnswer(answer, trust));
    return tokens.some(({ token }) => toHex(token) === toHex(this.token));
  }
}

function shown<T extends object>(verdict: cage.Verified<T>): T {
  if (!verdict.ok) assert.fail(verdict.why);
  return verdict;
}

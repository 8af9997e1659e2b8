/**
 * A server over a store that keeps everything that has a root, of either family,
 * and beside it a plain account of the chain: every output in the order it came,
 * who owns it, whether it is unspent. Roots follow from that by the plainest
 * code there is (`test/proofs/reference.ts`), for every block there ever was.
 */
import assert from 'node:assert/strict';
import type { FastifyInstance } from 'fastify';
import { loadConfig } from '../../../src/config/load.ts';
import { blake2b256, sha256 } from '../../../src/crypto/hash.ts';
import { openMemory } from '../../../src/engine/memory.ts';
import { needBitcoin } from '../../../src/families/bitcoin.ts';
import type { Network } from '../../../src/families/family.ts';
import { openNetwork } from '../../../src/families/networks.ts';
import { formatAddress as formatBitcoinAddress } from '../../../src/ledgers/bitcoin/index.ts';
import { formatAddress } from '../../../src/ledgers/cardano/index.ts';
import type { Block, Point } from '../../../src/ledgers/ledger.ts';
import { selectProjections } from '../../../src/projections/registry.ts';
import { bitsOf, bitsToText, encodeTxIn } from '../../../src/proofs/index.ts';
import { buildApp } from '../../../src/server/app.ts';
import { Workload } from '../../../src/server/http/work/workload.ts';
import { EngineReads } from '../../../src/server/reads.ts';
import { NOT_FOLLOWING } from '../../../src/server/thread/live.ts';
import { deltaColumn } from '../../../src/state/delta.ts';
import { Fold } from '../../../src/state/fold.ts';
import { concatBytes, fromHex, toHex } from '../../../src/util/bytes.ts';
import { CborWriter } from '../../../src/util/cbor-write.ts';
import { UnspentError } from '../../../src/util/errors.ts';
import { csmtRoot, mergedRoot } from '../../proofs/reference.ts';
import { PlainChain } from '../../support/bitcoin-chain.ts';
import { CopyMirror, isMirrored } from '../../support/copy/mirror.ts';
import { KEEP_ALL_BITCOIN } from '../../support/forged-chain.ts';
import { Devnet, devnetOptions, KEEP_ALL } from '../../support/harness.ts';
import { leaveOut } from '../../support/keep.ts';
import { OpenApiCheck } from '../../support/openapi-check.ts';

/** An output as the account has it. */
export interface Entry {
  readonly txId: Uint8Array;
  readonly index: number;
  /** As people write it. */
  readonly name: string;
  /** Raw address or script, and the same as people write it. */
  readonly address: Uint8Array;
  readonly addressText: string;
  /** What its leaf stands for. */
  readonly content: Uint8Array;
}

/** One block, and all that was true after it. */
export interface Frozen {
  readonly point: { readonly height: number; readonly slot: number; readonly hash: string };
  /** Every output there ever was, in the order they came. */
  readonly entries: readonly Entry[];
  /** Names. */
  readonly spent: ReadonlySet<string>;
}

interface Account {
  mine(count: number): Block[];
  rollback(depth: number): void;
  readonly blocks: readonly Point[];
  /** After the block of that number. */
  outputs(number: number): { readonly entries: readonly Entry[]; readonly spent: ReadonlySet<string> };
}

export class ProofWorld {
  readonly network: Network;
  readonly account: Account;
  readonly fold: Fold;
  readonly reads: EngineReads;
  readonly projections: readonly string[];
  readonly frozen = new Map<string, Frozen>();
  private readonly app: Promise<FastifyInstance>;
  private readonly mirror: Promise<CopyMirror> | null;
  private readonly roots = new Map<string, { readonly csmt: string | null; readonly mmr: string }>();
  private readonly logged: string[] = [];
  private check: OpenApiCheck | null = null;

  constructor(network: Network, account: Account, keeps: readonly string[]) {
    this.network = network;
    this.account = account;
    const projections = selectProjections(keeps, network.ledger);
    const engine = openMemory([...projections.flatMap(({ columns }) => columns), deltaColumn]);
    const options = { utxo: true, partial: false, selfContained: false, pruneDepth: 2160, rollbackWindow: 4320, fsync: false };
    this.fold = new Fold(engine, network.ledger, projections, options);
    this.reads = new EngineReads(engine, network.ledger);
    this.projections = projections.map(({ name }) => name);
    const context = {
      network,
      config: loadConfig({}).config,
      projections: this.projections,
      reads: this.reads,
      mempool: null,
      live: { status: NOT_FOLLOWING, onTimings: () => () => true },
      workload: new Workload(),
      submit: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
      ledger: () => Promise.reject(new UnspentError('UNSUPPORTED', 'nothing is followed')),
    };
    const log = (line: string): void => void this.logged.push(line);
    this.app = buildApp(context, { log });
    this.mirror = isMirrored ? CopyMirror.open(engine, context, log) : null;
  }

  forward(count: number, group = 1): void {
    const blocks = this.account.mine(count);
    for (let at = 0; at < blocks.length; at += group) this.fold.apply(blocks.slice(at, at + group));
    this.look();
  }

  back(depth: number): void {
    this.fold.rollback(this.account.blocks.at(-1 - depth) ?? null);
    this.account.rollback(depth);
    this.look();
  }

  private look(): void {
    this.reads.moved();
    for (const [number, { height, slot, hash }] of this.account.blocks.entries()) {
      const name = this.network.dialect.formatId(hash);
      if (!this.frozen.has(name)) this.frozen.set(name, { point: { height, slot, hash: name }, ...this.account.outputs(number) });
    }
  }

  get tip(): Frozen {
    return this.below(0);
  }

  below(depth: number): Frozen {
    return this.at(this.network.dialect.formatId(this.account.blocks.at(-1 - depth)!.hash));
  }

  at(hash: string): Frozen {
    return this.frozen.get(hash) ?? assert.fail(`there never was a block ${hash}`);
  }

  ownerOf(address: Uint8Array): Uint8Array {
    return this.network.family.name === 'bitcoin' ? sha256(address) : blake2b256(address);
  }

  /** Built anew from all there was. */
  rootsOf({ point, entries, spent }: Frozen): { readonly csmt: string | null; readonly mmr: string } {
    const known = this.roots.get(point.hash);
    if (known !== undefined) return known;
    const unspent = entries.filter(({ name }) => !spent.has(name));
    const leaves = unspent.map(({ address, txId, index, content }) => {
      const key = bitsToText(bitsOf(concatBytes(this.ownerOf(address), encodeTxIn(txId, index))));
      return [key, blake2b256(content)] as const;
    });
    const contents = entries.map(({ txId, index, content }) => blake2b256(concatBytes(encodeTxIn(txId, index), content)));
    const bits = entries.flatMap(({ name }, i) => (spent.has(name) ? [] : [i]));
    const roots = { csmt: csmtRoot(new Map(leaves)), mmr: mergedRoot(contents, bits) };
    this.roots.set(point.hash, roots);
    return roots;
  }

  /** Below /api/v1; what the OpenAPI document does not allow fails here. */
  async get<T>(path: string): Promise<{ readonly status: number; readonly body: T; readonly at: Frozen | null }> {
    const app = await this.app;
    this.check ??= new OpenApiCheck(app.swagger() as unknown as ConstructorParameters<typeof OpenApiCheck>[0]);
    const url = `/api/v1${path}`;
    const asked = { method: 'GET', url, headers: { host: 'localhost' } } as const;
    const mirror = await this.mirror;
    const moves = mirror?.moves ?? 0;
    const response = await app.inject(asked);
    await mirror?.compare(asked, response, moves);
    const { statusCode: status, headers, payload: text } = response;
    this.check.answer('GET', url, { status, headers: headers as Record<string, string>, text });
    const hash = headers['x-block-hash'];
    return { status, body: JSON.parse(text) as T, at: typeof hash === 'string' ? this.at(hash) : null };
  }

  async close(): Promise<void> {
    await (await this.mirror)?.close();
    await (await this.app).close();
    this.reads.close();
    assert.equal(this.reads.snapshots, 0, 'every lease was released');
    assert.deepEqual(this.logged, []);
  }
}

export function cardanoWorld(seed: number, left: readonly string[] = []): ProofWorld {
  const devnet = new Devnet(devnetOptions(seed, 'conway'));
  const { chain } = devnet;
  const network = openNetwork('devnet', { byron: chain.genesisByron, shelley: chain.genesisShelley });
  const entryOf = ({ txId, index, key, addressHex, output }: (typeof devnet.genesis)[number]): Entry => {
    const address = fromHex(addressHex);
    return { txId, index, name: key, address, addressText: formatAddress(address), content: output };
  };
  const account: Account = {
    mine: (count) => devnet.mine(count),
    rollback: (depth) => chain.rollback(depth),
    get blocks() {
      return chain.blocks;
    },
    outputs(number) {
      const txs = chain.blocks.slice(0, number + 1).flatMap((block) => block.txs);
      return {
        entries: [...devnet.genesis, ...txs.flatMap(({ creates }) => creates)].map(entryOf),
        spent: new Set(txs.flatMap(({ spends }) => spends.map(({ key }) => key))),
      };
    },
  };
  return new ProofWorld(network, account, leaveOut([...KEEP_ALL, 'mmr'], ...left));
}

export function bitcoinWorld(seed: number, left: readonly string[] = []): ProofWorld {
  const network = needBitcoin(openNetwork('bitcoin-regtest', null), 'this');
  const chain = new PlainChain(seed);
  const entryOf = ({ txId, index, value, script }: (typeof chain.blocks)[number]['txs'][number]['creates'][number]): Entry => ({
    txId,
    index,
    name: `${network.dialect.formatId(txId)}#${index}`,
    address: script,
    // Scripts without an address go by their hash.
    addressText: formatBitcoinAddress(network.parameters, script) ?? toHex(sha256(script)),
    content: new CborWriter().array(2).bigUint(value).bytes(script).take(),
  });
  const account: Account = {
    mine: (count) =>
      Array.from({ length: count }, () => {
        const { raw, height } = chain.mine();
        return network.ledger.decode(raw, height);
      }),
    rollback: (depth) => chain.rollback(depth),
    get blocks() {
      return chain.blocks;
    },
    outputs(number) {
      const txs = chain.blocks.slice(0, number + 1).flatMap((block) => block.txs);
      return {
        entries: txs.flatMap(({ creates }) => creates.map(entryOf)),
        spent: new Set(txs.flatMap(({ spends }) => spends.map(({ txId, index }) => `${network.dialect.formatId(txId)}#${index}`))),
      };
    },
  };
  return new ProofWorld(network, account, leaveOut([...KEEP_ALL_BITCOIN, 'mmr'], 'history', ...left));
}

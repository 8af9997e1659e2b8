/**
 * What pages take for granted and a reader has: a node of Cardano, a node of the
 * Bitcoin family, a PostgreSQL server. A block that says `with NAME ...` is run
 * with those of the tests: in its lines the names that a page gives to a reader's
 * own (`/path/to/node.socket`, `postgres://unspent@db.example/chain`, `TXID`)
 * become those that are there. Each is started when the first page needs it.
 */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LiveDevnet } from '../../src/chains/cardano/devnet/live.ts';
import { makeWallet } from '../../src/chains/cardano/devnet/wallet.ts';
import { type Responder, serveChain } from '../../src/chains/cardano/responder/index.ts';
import { formatAddress } from '../../src/ledgers/cardano/index.ts';
import { temporary } from '../cli/run.ts';
import { makeChunkFiles, writeChunkFolder } from '../support/chunk-folder.ts';
import { type CoreNode, startNode } from '../support/core-node.ts';
import { nodeMissing } from '../support/node-kinds.ts';
import { opTrueAddress } from '../support/op-true-chain.ts';
import { PostgresServer, withoutPostgres } from '../support/sql/postgres-server.ts';

/** In this order they are looked for in a line. */
export const STAGE_PARTS = ['cardano', 'bitcoin', 'postgres'] as const;
export type StagePart = (typeof STAGE_PARTS)[number];
/** What stands in the place of what, in a line. */
export type Substitution = readonly [RegExp, string | (() => string)];

const SEED = 12;
const BLOCKS = 60;
const BLOCKS_PER_CHUNK = 20;
/** Until coinbases can be spent. */
const MINED = 110;
const LOVELACE = 50_000_000n;

/** Parts that this machine cannot have, and why. */
export function missingPart(parts: readonly StagePart[]): string | false {
  const why = { cardano: false as const, bitcoin: nodeMissing(), postgres: withoutPostgres };
  return parts.map((part) => why[part]).find((each) => each !== false) ?? false;
}

/** Where the files of the node of Cardano are. */
interface CardanoFiles {
  readonly genesis: string;
  readonly database: string;
}

export class PageStage {
  private files: CardanoFiles | undefined;
  private readonly closing: (() => unknown)[] = [];
  private readonly started = new Map<StagePart, Promise<readonly Substitution[]>>();
  private server: PostgresServer | undefined;
  private readonly urls = new Map<string, string>();

  of(part: StagePart): Promise<readonly Substitution[]> {
    const starting =
      this.started.get(part) ?? { cardano: () => this.cardano(), bitcoin: () => this.bitcoin(), postgres: () => this.postgres() }[part]();
    this.started.set(part, starting);
    return starting;
  }

  async cardanoFiles(): Promise<CardanoFiles> {
    await this.of('cardano');
    assert(this.files !== undefined, 'the node has them since it was started');
    return this.files;
  }

  /** A page finds the database server empty. */
  async beginPage(): Promise<void> {
    this.urls.clear();
    for (const name of this.server === undefined ? [] : ['chain', 'records']) {
      const url = await this.server?.unusedUrl();
      if (url !== undefined) this.urls.set(name, url);
    }
  }

  async close(): Promise<void> {
    for (const close of this.closing.toReversed()) await close();
  }

  /** A devnet, served to other nodes and on a local socket; the folders that a node keeps. */
  private async cardano(): Promise<readonly Substitution[]> {
    const directory = temporary();
    const chain = new LiveDevnet({ seed: SEED });
    const { address } = makeWallet(SEED);
    chain.fund(address, LOVELACE);
    chain.mine(BLOCKS);
    const [genesis, socket, database] = ['config', 'node.socket', 'db'].map((name) => join(directory, name));
    mkdirSync(genesis);
    for (const [name, text] of Object.entries(chain.genesis)) writeFileSync(join(genesis, `${name}-genesis.json`), text);
    const files = makeChunkFiles({ blocks: [...chain.blocks], byronEpochSlots: chain.network.byronEpochSlots }, BLOCKS_PER_CHUNK);
    writeChunkFolder(join(database, 'immutable'), files);
    this.files = { genesis, database };
    const responders: readonly Responder[] = [await serveChain(chain, { port: 0, socket }), await serveChain(chain, { port: 0 })];
    this.closing.push(() => chain.close(), ...responders.map((responder) => () => responder.close()));
    return [
      [/n2n:\/\/127\.0\.0\.1:3001/, `n2n://127.0.0.1:${responders[0].port}`],
      [/n2n:\/\/127\.0\.0\.1:3002/, `n2n://127.0.0.1:${responders[1].port}`],
      [/n2c:\/\S+\/node\.socket/, `n2c:${socket}`],
      [/immutable:\/path\/to\/node\/db/, `immutable:${database}`],
      [/ --genesis \/path\/to\/node\/config/, ''],
      [/--network (mainnet|preprod|preview)/, `--network devnet --genesis ${genesis}`],
      [/addr_test1\.\.\./, formatAddress(address)],
      [/height:\d+/, `height:${BLOCKS - 10}`],
    ];
  }

  /** Litecoin's node, which everybody can install, with a chain of its own; its client speaks to it in a line. */
  private async bitcoin(): Promise<readonly Substitution[]> {
    const node: CoreNode = await startNode();
    this.closing.push(() => node.stop());
    await node.rpc('generatetoaddress', MINED, opTrueAddress('litecoin-regtest'));
    const { username, password, host } = new URL(node.rpcUrl.replace('rpc:', 'http:'));
    const cookie = join(node.dir, 'cookie');
    writeFileSync(cookie, `${username}:${password}`);
    const ask = (method: string): string =>
      `curl -sf -u ${username}:${password} http://${host} -d '{"method":"${method}","params":["'$FILE'"]}'`;
    const [hash, { hash_serialized_2: setHash }] = await Promise.all([node.rpc('getbestblockhash'), node.rpc('gettxoutsetinfo')]);
    const header = await node.rpc('getblockheader', hash, false);
    return [
      [/bitcoin-cli dumptxoutset (\S+) latest/, `FILE=$1; ${ask('dumptxoutset')}`],
      [/--network (bitcoin|litecoin)(?!-)/, '--network litecoin-regtest'],
      [/p2p:\/\/127\.0\.0\.1:\d+/, node.p2pUrl],
      [/rpc:\/\/user:password@127\.0\.0\.1:\d+/, node.rpcUrl],
      [/rpc:\/\/127\.0\.0\.1:\d+\?cookie=[^\s']+/, `rpc://${host}?cookie=${cookie}`],
      [/blk:\/path\/to\/\.bitcoin\/blocks/, `blk:${node.blocksDir}`],
      [/--header [0-9.]+/, `--header ${header}`],
      [/--hash-serialized [0-9a-f.]+/, `--hash-serialized ${setHash}`],
    ];
  }

  private async postgres(): Promise<readonly Substitution[]> {
    this.server = await PostgresServer.start(async () => undefined);
    this.closing.push(() => this.server?.stop());
    await this.beginPage();
    const url = (name: string) => (): string => this.urls.get(name) ?? '';
    return [
      [/'?postgres:\/\/[^\s']*\/chain\?([^\s']*)'?/, () => `'${url('chain')()}&$1'`],
      [/'?postgres:\/\/[^\s']*\/chain(?![\w?])'?/, () => `'${url('chain')()}'`],
      [/postgres:\/\/[^\s']*\/records(?!\w)/, () => `'${url('records')()}'`],
    ];
  }
}

export function substituted(text: string, substitutions: readonly Substitution[]): string {
  return substitutions.reduce(
    (line, [pattern, given]) => line.replaceAll(new RegExp(pattern, 'g'), typeof given === 'string' ? given : given()),
    text,
  );
}

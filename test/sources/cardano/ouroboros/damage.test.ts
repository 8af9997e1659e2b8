/**
 * A wire that lies: bytes from the node are cut off, changed, doubled, left out
 * or replaced by noise at a random place. Every time the reader ends up with the
 * node's very chain, or with a typed error that says why it stopped.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { DevnetChain } from '../../../../src/chains/cardano/devnet/index.ts';
import { Random } from '../../../../src/chains/random.ts';
import { readHeader } from '../../../../src/ledgers/cardano/index.ts';
import { openOuroboros } from '../../../../src/sources/cardano/ouroboros/index.ts';
import { equalBytes, toHex } from '../../../../src/util/bytes.ts';
import { UnspentError } from '../../../../src/util/errors.ts';
import { TestNode } from './node.ts';

type Damage = (bytes: Buffer, at: number, random: Random) => Buffer | null;

const DAMAGES: Readonly<Record<string, Damage>> = {
  cut: (bytes, at) => (at === 0 ? null : bytes.subarray(0, at)),
  flip: (bytes, at, random) => {
    const out = Buffer.from(bytes);
    out[at] ^= 1 << random.int(8);
    return out;
  },
  double: (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes]),
  omit: (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]),
  noise: (bytes, at, random) => Buffer.concat([bytes.subarray(0, at), random.bytes(200)]),
};
/** Where going on would be wrong, or where a lie cannot be told from the truth. */
const STOPS = ['NETWORK_WRONG', 'SOURCE_FORK', 'UNSUPPORTED'];

/** Passes everything on, but spoils the first connection's answers once, `offset` bytes in. */
class LyingWire {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private done = false;

  constructor(target: { port: number }, offset: number, damage: Damage, random: Random) {
    this.server = createServer((client) => {
      const node = connect(target.port, '127.0.0.1');
      let seen = 0;
      for (const socket of [client, node]) {
        this.sockets.add(socket);
        socket.on('error', () => {});
      }
      client.on('data', (bytes) => node.write(bytes));
      node.on('data', (bytes: Buffer) => {
        const at = offset - seen;
        seen += bytes.length;
        if (this.done || at >= bytes.length) return client.write(bytes);
        this.done = true;
        const spoilt = damage(bytes, at, random);
        if (spoilt !== null) client.write(spoilt);
        if (spoilt === null || spoilt.length < bytes.length) client.end();
        return true;
      });
      client.on('close', () => node.destroy());
      node.on('close', () => client.destroy());
    });
  }

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    return `n2n://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }
}

describe('a wire that lies', () => {
  const chain = new DevnetChain({ seed: 11 });
  for (let i = 0; i < 25; i++) chain.mine();
  const node = new TestNode(chain);
  const wanted = chain.blocks.map(({ hash }) => toHex(hash));
  let port = 0;

  before(async () => {
    port = Number(new URL((await node.listen('n2n')).replace('n2n:', 'http:')).port);
  });
  after(() => node.close());

  for (const [name, damage] of Object.entries(DAMAGES)) {
    it(`${name}, at 30 places`, async () => {
      let recovered = 0;
      for (let seed = 0; seed < 30; seed++) {
        const random = new Random(seed, 3);
        // Early places more often: the handshake and the first answers have the most to get wrong.
        const offset = random.int(seed % 2 === 0 ? 400 : 60_000);
        const wire = new LyingWire({ port }, offset, damage, random);
        const source = openOuroboros([await wire.listen()], {
          magic: 42,
          byronEpochSlots: 21_600,
          reconnectMs: [1, 5],
          timeScale: 0.01,
        });
        const hashes: string[] = [];
        try {
          for await (const run of source.runs({ from: [], follow: false, signal: new AbortController().signal })) {
            for (const event of run.events) {
              if (event.kind === 'back') {
                // A doubled rollback is a rollback.
                hashes.length = event.point === null ? 0 : hashes.indexOf(toHex(event.point.hash)) + 1;
                continue;
              }
              const { hash } = readHeader(event.raw, 21_600);
              assert.ok(equalBytes(event.raw, chain.blocks[hashes.length].raw), 'byte for byte');
              hashes.push(toHex(hash));
            }
          }
          assert.deepEqual(hashes, wanted, `seed ${seed}`);
          recovered++;
        } catch (error) {
          assert.ok(error instanceof UnspentError && STOPS.includes(error.code), `seed ${seed}: ${error}`);
        } finally {
          await wire.close();
        }
      }
      assert.ok(recovered >= 20, `${recovered} of 30 went on unaided`);
    });
  }
});

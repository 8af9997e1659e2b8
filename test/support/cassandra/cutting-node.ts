/**
 * Speaks as much of Cassandra's protocol as the driver needs to connect, to
 * prepare a statement and to get no rows for it, and cuts connections when it is
 * told to. Nothing is in it: what a real node answers is tested on a real node.
 */
import { createServer, type Server, type Socket } from 'node:net';

const HEADER_BYTES = 9;
const RESPONSE = 0x84;
const [READY, SUPPORTED, RESULT] = [2, 6, 8];
const [OPTIONS, QUERY, PREPARE, EXECUTE] = [5, 7, 9, 10];
const [ROWS, PREPARED] = [2, 4];
const [VARCHAR, INET] = [13, 16];

const LOCAL: readonly (readonly [name: string, type: number, value: Buffer])[] = [
  ['key', VARCHAR, Buffer.from('local')],
  ['data_center', VARCHAR, Buffer.from('dc1')],
  ['rack', VARCHAR, Buffer.from('r1')],
  ['release_version', VARCHAR, Buffer.from('4.1.0')],
  ['partitioner', VARCHAR, Buffer.from('org.apache.cassandra.dht.Murmur3Partitioner')],
  ['rpc_address', INET, Buffer.from([127, 0, 0, 1])],
];

export class CuttingNode {
  private readonly server: Server;
  private readonly sockets = new Set<Socket>();
  private readonly isCut: () => boolean;
  private isClosed = false;

  private constructor(isCut: () => boolean) {
    this.isCut = isCut;
    this.server = createServer((socket) => this.serve(socket));
  }

  /** `isCut`: asked for each request; true: it is answered by closing the connection. */
  static async open(isCut: () => boolean): Promise<CuttingNode> {
    const node = new CuttingNode(isCut);
    await new Promise<void>((resolve) => node.server.listen(0, '127.0.0.1', resolve));
    return node;
  }

  get port(): number {
    const address = this.server.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  }

  cutAll(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    this.cutAll();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private serve(socket: Socket): void {
    if (this.isClosed) {
      socket.destroy();
      return;
    }
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
    socket.on('error', () => undefined);
    let bytes = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      bytes = Buffer.concat([bytes, chunk]);
      for (let end = 0; bytes.length >= HEADER_BYTES; bytes = bytes.subarray(end)) {
        end = HEADER_BYTES + bytes.readInt32BE(5);
        if (bytes.length < end) return;
        if (this.isCut()) {
          socket.destroy();
          return;
        }
        socket.write(answer(bytes.readUInt16BE(2), bytes[4], bytes.subarray(HEADER_BYTES, end)));
      }
    });
  }
}

function answer(stream: number, opcode: number, body: Buffer): Buffer {
  const [kind, content] = contentOf(opcode, body);
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = RESPONSE;
  header.writeUInt16BE(stream, 2);
  header[4] = kind;
  header.writeInt32BE(content.length, 5);
  return Buffer.concat([header, content]);
}

function contentOf(opcode: number, body: Buffer): readonly [kind: number, content: Buffer] {
  if (opcode === OPTIONS) return [SUPPORTED, short(0)];
  if (opcode === QUERY) return [RESULT, body.includes('system.local') ? rows(LOCAL) : rows([])];
  if (opcode === EXECUTE) return [RESULT, rows([])];
  // No values are bound, and the columns are those of any table.
  if (opcode === PREPARE) return [RESULT, Buffer.concat([int(PREPARED), text('id'), int(0), int(0), int(0), int(0), int(0)])];
  return [READY, Buffer.alloc(0)];
}

/** One row, or none. */
function rows(columns: typeof LOCAL): Buffer {
  const names = columns.map(([name, type]) => Buffer.concat([text(name), short(type)]));
  const values = columns.map(([, , value]) => Buffer.concat([int(value.length), value]));
  return Buffer.concat([
    int(ROWS),
    int(1),
    int(columns.length),
    text('ks'),
    text('t'),
    ...names,
    int(columns.length === 0 ? 0 : 1),
    ...values,
  ]);
}

function int(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function short(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

function text(value: string): Buffer {
  return Buffer.concat([short(value.length), Buffer.from(value)]);
}

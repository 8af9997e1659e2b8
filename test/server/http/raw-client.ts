/**
 * A connection that says exactly what the test wants said: several requests at
 * once, and nothing read unless asked.
 */
import { connect, type Socket } from 'node:net';

export function get(path: string, headers = ''): string {
  return `GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`;
}

export class RawClient {
  readonly socket: Socket;
  text = '';
  closed = false;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.closed = true;
    });
  }

  static async open(port: number): Promise<RawClient> {
    const socket = connect(port, '127.0.0.1');
    const client = new RawClient(socket);
    await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject));
    return client;
  }

  /** Takes what comes from here on. */
  read(): this {
    this.socket.setEncoding('utf8').on('data', (piece) => {
      this.text += piece;
    });
    return this;
  }

  write(text: string): this {
    this.socket.write(text);
    return this;
  }

  /** Statuses of the answers so far. */
  get statuses(): number[] {
    return [...this.text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
  }
}

/**
 * Submitting from the server's thread: the node is followed in another one, so
 * each question is sent there with a number and waits for its answer.
 */
import { UnspentError } from '../../util/errors.ts';
import { errorOf, type Failure } from './failure.ts';

interface Waiting {
  resolve(id: Uint8Array): void;
  reject(error: Error): void;
}

export class ThreadSubmit {
  private readonly send: (number: number, raw: Uint8Array) => void;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(send: (number: number, raw: Uint8Array) => void) {
    this.send = send;
  }

  /** The other side always answers, if only that it took too long. */
  submit(raw: Uint8Array): Promise<Uint8Array> {
    const number = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      // A copy: a view would take along all of the buffer it is of.
      this.send(number, new Uint8Array(raw));
    });
  }

  answered(number: number, answer: Uint8Array | Failure): void {
    const waiting = this.waiting.get(number);
    this.waiting.delete(number);
    if (answer instanceof Uint8Array) waiting?.resolve(answer);
    else waiting?.reject(errorOf(answer));
  }

  close(): void {
    for (const { reject } of this.waiting.values()) reject(new UnspentError('CLOSED', 'the server is being closed'));
    this.waiting.clear();
  }
}

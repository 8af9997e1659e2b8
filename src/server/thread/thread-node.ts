/**
 * The node that is followed, as the server's thread sees it: it is followed in
 * another one, so each question is sent there with a number and waits for its
 * answer.
 */
import type { LedgerAnswers, LedgerQuestion } from '../../sources/source.ts';
import { UnspentError } from '../../util/errors.ts';
import { errorOf, type Failure } from '../../util/failure.ts';
import type { FollowedNode } from './node-link.ts';

/** What is asked. */
export type NodeQuestion =
  | { readonly about: 'submit'; readonly raw: Uint8Array }
  | { readonly about: 'ledger'; readonly question: LedgerQuestion };

/** `value`: the id of a transaction, or the answers of the ledger. */
export type NodeAnswer = { readonly value: Uint8Array | LedgerAnswers } | { readonly failure: Failure };

interface Waiting {
  resolve(value: Uint8Array | LedgerAnswers): void;
  reject(error: Error): void;
}

export class ThreadNode implements FollowedNode {
  private readonly send: (number: number, question: NodeQuestion) => void;
  private readonly waiting = new Map<number, Waiting>();
  private last = 0;

  constructor(send: (number: number, question: NodeQuestion) => void) {
    this.send = send;
  }

  async submit(raw: Uint8Array): Promise<Uint8Array> {
    // A copy: a view would take along all of the buffer it is of.
    return (await this.ask({ about: 'submit', raw: new Uint8Array(raw) })) as Uint8Array;
  }

  async ledger(question: LedgerQuestion = {}): Promise<LedgerAnswers> {
    return (await this.ask({ about: 'ledger', question })) as LedgerAnswers;
  }

  /** The other side always answers, if only that it took too long. */
  private ask(question: NodeQuestion): Promise<Uint8Array | LedgerAnswers> {
    const number = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(number, { resolve, reject });
      this.send(number, question);
    });
  }

  answered(number: number, answer: NodeAnswer): void {
    const waiting = this.waiting.get(number);
    this.waiting.delete(number);
    if ('failure' in answer) waiting?.reject(errorOf(answer.failure));
    else waiting?.resolve(answer.value);
  }

  close(): void {
    for (const { reject } of this.waiting.values()) reject(new UnspentError('CLOSED', 'the server is being closed'));
    this.waiting.clear();
  }
}

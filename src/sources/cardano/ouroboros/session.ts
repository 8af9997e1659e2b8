/**
 * One mini-protocol in progress, seen from one side: every message, ours or the
 * peer's, must be one the state allows. What the peer may not send ends the
 * connection with PROTOCOL; what we may not send is our own mistake.
 *
 * The initiator may run ahead with the one kind the protocol lets it pipeline;
 * the answers then come in order, and the state is that of the oldest question.
 */
import { assert, UnspentError } from '../../../util/errors.ts';
import type { Channel } from './channel.ts';
import type { Mux } from './mux.ts';
import { type Message, type Protocol, type Role, type StateRule, violation } from './protocol.ts';

export class Session<M extends Message, State extends string> {
  readonly protocol: Protocol<M, State>;
  readonly channel: Channel;
  private readonly role: Role;
  private current: State;
  /** Pipelined questions behind the one being answered. */
  private ahead = 0;

  constructor(mux: Mux, protocol: Protocol<M, State>, role: Role) {
    this.protocol = protocol;
    this.role = role;
    this.channel = mux.channel(protocol.number, role);
    this.current = protocol.initial;
  }

  get state(): State {
    return this.current;
  }

  /** Whether it is our turn, pipelining aside. */
  get isOurTurn(): boolean {
    return this.rule.agency === this.role;
  }

  get hasEnded(): boolean {
    return this.rule.agency === 'nobody';
  }

  /** Questions of ours that are not answered yet. */
  get outstanding(): number {
    return this.ahead + (this.role === 'initiator' && this.rule.agency === 'responder' ? 1 : 0);
  }

  send(message: M): void {
    const kind: M['kind'] = message.kind;
    if (this.isOurTurn) {
      const next = this.rule.sends[kind];
      assert(next !== undefined, `${this.protocol.name}: '${kind}' may not be sent in state '${this.current}'`);
      this.channel.send(this.protocol.encode(message));
      this.current = next;
      return;
    }
    const { pipelined, name } = this.protocol;
    assert(this.role === 'initiator' && kind === pipelined && !this.hasEnded, `${name}: '${kind}' may not be sent out of turn`);
    this.channel.send(this.protocol.encode(message));
    this.ahead++;
  }

  /** The peer's next message. Throws PROTOCOL, or SOURCE_UNREACHABLE when the peer is gone or takes too long. */
  async receive(): Promise<M> {
    const { bytesMax, timeoutMs } = this.peersRule();
    const limit = typeof timeoutMs === 'object' && timeoutMs !== null ? between(timeoutMs) : timeoutMs;
    return this.accept(await this.channel.receive(bytesMax, limit, `${this.protocol.name}, ${this.current}`));
  }

  /**
   * The peer's next message as its bytes come, for one that is too large to be put together. Whoever takes it sees to it
   * that it is of that kind, and takes all of it. Throws as `receive`.
   */
  async *receiveInParts(kind: M['kind'], bytesMax: number): AsyncGenerator<Uint8Array, void, undefined> {
    const next = this.peersRule().sends[kind];
    assert(next !== undefined, `${this.protocol.name}: '${kind}' cannot come in state '${this.current}'`);
    for (let isLast = false; !isLast; ) {
      const part = await this.channel.receivePart(bytesMax, null, `${this.protocol.name}, ${this.current}`);
      isLast = part.isLast;
      if (isLast) this.advance(next);
      yield part.bytes;
    }
  }

  /** The peer's next message if it is already here. */
  tryReceive(): M | undefined {
    const bytes = this.channel.tryReceive(this.peersRule().bytesMax);
    return bytes === undefined ? undefined : this.accept(bytes);
  }

  /** A promise when the peer takes less than we send. */
  drained(): Promise<void> | undefined {
    return this.channel.drained();
  }

  private get rule(): StateRule<M['kind'], State> {
    return this.protocol.states[this.current];
  }

  private peersRule(): StateRule<M['kind'], State> {
    const { rule } = this;
    assert(rule.agency !== this.role && rule.agency !== 'nobody', `${this.protocol.name}: nothing can come in state '${this.current}'`);
    return rule;
  }

  private accept(bytes: Uint8Array): M {
    try {
      const message = this.protocol.decode(bytes);
      const kind: M['kind'] = message.kind;
      const next = this.rule.sends[kind];
      if (next === undefined) {
        throw violation(`${this.protocol.name} message '${kind}' in state '${this.current}'`, { state: this.current, kind });
      }
      this.advance(next);
      return message;
    } catch (error) {
      if (error instanceof UnspentError) this.channel.mux.fail(error);
      throw error;
    }
  }

  private advance(next: State): void {
    const { states, pipelined } = this.protocol;
    this.current = next;
    if (this.ahead === 0 || states[next].agency !== this.role || pipelined === null) return;
    const after = states[next].sends[pipelined];
    assert(after !== undefined, `${this.protocol.name}: a pipelined '${pipelined}' has its turn in state '${next}'`);
    this.ahead--;
    this.current = after;
  }
}

function between([least, most]: readonly [number, number]): number {
  return least + Math.random() * (most - least);
}

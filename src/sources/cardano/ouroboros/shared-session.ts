/**
 * A session that several callers use one after another: each waits until the
 * one before is done. It is opened when first needed.
 */
export class SharedSession<Session> {
  private readonly open: () => Session;
  private session: Session | undefined;
  private last: Promise<unknown> = Promise.resolve();

  constructor(open: () => Session) {
    this.open = open;
  }

  take<T>(body: (session: Session) => Promise<T>): Promise<T> {
    const turn = this.last.then(() => {
      this.session ??= this.open();
      return body(this.session);
    });
    // The next one waits for the end of this one, good or bad.
    this.last = turn.catch(() => {});
    return turn;
  }
}

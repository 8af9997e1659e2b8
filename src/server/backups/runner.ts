/**
 * Has the process make a backup: by the same command that a terminal would run,
 * asked over the control socket of the store (ADR 56), which this process itself
 * answers in a thread of its own.
 */
import type { Config } from '../../config/schema.ts';
import { findHolder } from '../../store/control/ask.ts';
import { isUnspentError, UnspentError } from '../../util/errors.ts';
import { BACKUP_REPORT_CHARS_MAX } from '../../util/limits.ts';

interface BackupState {
  /** Since when one is being made; null: none is. */
  readonly running_since: string | null;
  /** What the last one came to; null: none was asked for since the process started. */
  readonly last: { readonly ended_at: string; readonly name: string | null; readonly failure: string | null } | null;
}

export class BackupRunner {
  private readonly config: Config;
  private current: BackupState = { running_since: null, last: null };

  constructor(config: Config) {
    this.config = config;
  }

  state(): BackupState {
    return this.current;
  }

  /** Throws BUSY. */
  begin(): void {
    if (this.current.running_since !== null) throw new UnspentError('BUSY', `a backup is being made since ${this.current.running_since}`);
    this.current = { ...this.current, running_since: new Date().toISOString() };
    void this.run().then(
      (name) => this.end(name, null),
      (error: Error) => this.end(null, isUnspentError(error) ? `${error.code}: ${error.message}` : error.message),
    );
  }

  private end(name: string | null, failure: string | null): void {
    this.current = { running_since: null, last: { ended_at: new Date().toISOString(), name, failure } };
  }

  /** The name of the backup. */
  private async run(): Promise<string> {
    const { data, backup } = this.config;
    const holder = await findHolder(data);
    if (holder === null) throw new UnspentError('UNSUPPORTED', 'the process that has the store open does not take commands');
    const said = { out: '', err: '' };
    const keep = backup.keep === 0 ? [] : ['--keep', `${backup.keep}`];
    const args = ['backup', backup.directory, '--json', '--quiet', ...keep];
    const take = (name: keyof typeof said) => (text: string) => {
      said[name] = (said[name] + text).slice(0, BACKUP_REPORT_CHARS_MAX);
    };
    const request = { args, settings: { data }, cwd: process.cwd(), columns: null, resultColumns: null, colours: false };
    const code = await holder.run(request, { out: take('out'), err: take('err') }, new AbortController().signal);
    if (code !== 0) throw new Error(said.err.trim() || `exit code ${code}`);
    return (JSON.parse(said.out) as { name: string }).name;
  }
}

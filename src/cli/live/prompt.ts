/** A line that is typed while a view is drawn around it: letters, backspace, Ctrl-U, what was typed before, and names completed. */
import type { Key } from './keys.ts';

const HISTORY_MAX = 100;

export class Prompt {
  text = '';
  private readonly names: readonly string[];
  private readonly enter: (line: string) => void;
  private readonly history: string[] = [];
  /** How far back in the history; 0: what is being typed. */
  private back = 0;

  /** `names`: of the commands that Tab completes. */
  constructor(names: readonly string[], enter: (line: string) => void) {
    this.names = names;
    this.enter = enter;
  }

  press(key: Key): void {
    if ('text' in key) this.text += key.text;
    else if (key.name === 'backspace') this.text = [...this.text].slice(0, -1).join('');
    else if (key.name === 'clear' || key.name === 'escape') this.text = '';
    else if (key.name === 'up') this.recall(this.back + 1);
    else if (key.name === 'down') this.recall(this.back - 1);
    else if (key.name === 'tab') this.complete();
    else if (key.name === 'enter') this.submit();
  }

  private submit(): void {
    const line = this.text;
    this.text = '';
    this.back = 0;
    if (line.trim() === '') return;
    this.history.push(line);
    if (this.history.length > HISTORY_MAX) this.history.shift();
    this.enter(line);
  }

  private recall(back: number): void {
    if (back < 0 || back > this.history.length) return;
    this.back = back;
    this.text = back === 0 ? '' : this.history[this.history.length - back];
  }

  private complete(): void {
    const found = this.names.filter((name) => name.startsWith(this.text));
    if (found.length === 1) this.text = `${found[0]} `;
  }
}

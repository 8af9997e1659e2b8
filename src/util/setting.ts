/**
 * What a setting is: its type, default, allowed values and one line of
 * documentation. Below `config`, which reads and shows settings, and below
 * `projections`, whose entries bring the settings that switch them on.
 */

/** The value of a setting. */
export type SettingValue = boolean | number | string;

/** The value of the setting with this key. */
export type SettingReader = (key: string) => SettingValue;

/** The type of a setting, with its default and what it may be. */
type SettingType =
  | { readonly type: 'boolean'; readonly default: boolean }
  | { readonly type: 'integer'; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: 'string'; readonly default: string; readonly filled?: true }
  | {
      readonly type: 'oneOf';
      readonly default: string;
      readonly values: readonly string[];
      /** Other values that it may have: what they look like, and how that is said. */
      readonly or?: { readonly pattern: RegExp; readonly text: string };
    }
  | { readonly type: 'bytes'; readonly default: number; readonly min: number; readonly max: number };

/** A setting: its type, what it may be, and a line of documentation. */
export type Setting = SettingType & {
  /** What it decides. */
  readonly doc: string;
  /** The store holds other data, or other columns, when this changes. */
  readonly shapesStore?: true;
  /** What of it is never shown: all of it, or the password of a URL. */
  readonly secret?: 'all' | 'password';
  /** A value the type allows and this version refuses, with the reason. */
  readonly unavailable?: { readonly value: SettingValue; readonly why: string };
};

/** A setting of that type. */
type SettingOf<T extends Setting['type']> = Extract<Setting, { readonly type: T }>;

/** A setting that decides whether something is kept: true or false, or one of several values where just one means yes. */
export type Switch = { readonly key: string } & (
  | SettingOf<'boolean'>
  | (SettingOf<'oneOf'> & { readonly on: string; readonly off: string })
);

/** The value with which the switch is on, or off. */
export function switchValue(setting: Switch, isOn: boolean): SettingValue {
  if (setting.type === 'boolean') return isOn;
  return isOn ? setting.on : setting.off;
}

/** What a message says somebody has to set: `utxo.history`, or `utxo.store = "mmr"`. */
export function switchText(setting: Switch): string {
  return setting.type === 'boolean' ? setting.key : `${setting.key} = "${setting.on}"`;
}

/**
 * Which wallet a label is of, where it says so: `origin` of BIP329 is how the
 * descriptor of that wallet begins, without its keys, as `wpkh([d34db33f/84'/0'/0'])`.
 */

/** The origins of descriptors; of those without the origin of a key there are none. */
export function originsOf(descriptors: readonly string[]): ReadonlySet<string> {
  return new Set(descriptors.filter((text) => text.includes('[')).map((text) => sameForm(withoutKeys(text))));
}

/** False also where the wallet does not know its own origins. */
export function isForeignOrigin(origin: string, own: ReadonlySet<string>): boolean {
  return own.size > 0 && !own.has(sameForm(origin));
}

/** The checksum goes, and whatever stands behind the origin of a key. */
function withoutKeys(descriptor: string): string {
  return descriptor.replace(/#[^#]*$/, '').replace(/\][^,)]*/g, ']');
}

/** Hardened steps can be written in three ways. */
function sameForm(origin: string): string {
  return origin.replace(/\s/g, '').replace(/\[[^\]]*\]/g, (path) => path.replace(/[hH]/g, "'").toLowerCase());
}

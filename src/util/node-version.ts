/**
 * The first thing that every door of the package imports: on a Node that is too
 * old, a program is told so, and not that something is not a function. In a
 * browser there is no Node, and nothing to check.
 */

const MAJOR = 22;
const MINOR = 18;

const { process } = globalThis as { readonly process?: { readonly versions?: { readonly node?: string } } };
const version = process?.versions?.node;

/** Whether a version of Node, as it calls itself, runs the package. */
export function isSupported(node: string): boolean {
  const [major, minor] = node.split('.').map(Number);
  return major > MAJOR || (major === MAJOR && minor >= MINOR);
}

if (version !== undefined && !isSupported(version)) {
  throw new Error(`unspent needs Node ${MAJOR}.${MINOR} or newer, and this is ${version}: install a newer one (https://nodejs.org)`);
}

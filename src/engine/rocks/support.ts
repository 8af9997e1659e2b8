/**
 * Whether RocksDB's binding runs on this machine. Its package holds two builds;
 * the one for Linux uses instructions that older processors do not have, and
 * there it does not fail to load but kills the process. So the processor is
 * asked first.
 */
import { readRegular } from '../../files/regular.ts';

/** Builds inside the package (its prebuilds/). */
const BUILDS: readonly string[] = ['linux-x64', 'darwin-arm64'];

/** What a compiler uses by itself when told `-march=znver1`, as that package is (binding.gyp), by Linux's names; `abm` is LZCNT. */
const FEATURES: readonly string[] = ['avx2', 'bmi1', 'bmi2', 'fma', 'f16c', 'movbe', 'abm'];

export interface Machine {
  readonly platform: string;
  readonly arch: string;
  /** /proc/cpuinfo of a Linux machine; null: not to be had. */
  readonly cpuInfo: string | null;
}

/** A few kilobytes for each of its processors. */
const CPU_INFO_READ = { bytesMax: 16 * 1024 * 1024, links: 'follow' } as const;

export function thisMachine(): Machine {
  const { platform, arch } = process;
  let cpuInfo: string | null = null;
  try {
    if (platform === 'linux') cpuInfo = new TextDecoder().decode(readRegular('/proc/cpuinfo', CPU_INFO_READ));
  } catch {
    // Without /proc nothing can be told; loading it will show.
  }
  return { platform, arch, cpuInfo };
}

/** Why RocksDB cannot run on it; null: as far as can be told, it can. */
export function whyRocksCannotLoad({ platform, arch, cpuInfo }: Machine): string | null {
  const build = `${platform}-${arch}`;
  if (!BUILDS.includes(build)) return `RocksDB's binding has no build for ${build}`;
  if (platform !== 'linux') return null;
  const flags = new Set(
    /^flags\s*:(.*)$/m
      .exec(cpuInfo ?? '')?.[1]
      .trim()
      .split(/\s+/),
  );
  // Without a list nothing is known against it.
  const missing = flags.size === 0 ? [] : FEATURES.filter((feature) => !flags.has(feature));
  return missing.length === 0 ? null : `this processor lacks ${missing.join(', ')}, which RocksDB's binding uses`;
}

import { locateProgram, postgresFolders } from './lab.js';

/** A program that a line needs beyond redis-server. Without it that line is left out and the others are measured. */
export interface Prerequisite {
  readonly program: string;
  /** Where it may lie beside the PATH. */
  readonly folders?: () => readonly string[];
  /** Package that brings it, by package manager. */
  readonly packages: { readonly apt: string; readonly brew: string };
}

export const REDIS_BENCHMARK = {
  program: 'redis-benchmark',
  packages: { apt: 'redis-tools', brew: 'redis' },
} as const satisfies Prerequisite;

export const MARIADB = {
  program: 'mariadbd',
  packages: { apt: 'mariadb-server', brew: 'mariadb' },
} as const satisfies Prerequisite;

export const POSTGRESQL = {
  program: 'initdb',
  folders: postgresFolders,
  packages: { apt: 'postgresql', brew: 'postgresql@17' },
} as const satisfies Prerequisite;

/** Path of the program; undefined where it is not installed. */
export function locate({ program, folders }: Prerequisite): string | undefined {
  return locateProgram(program, folders?.());
}

/** What is missing and the one command that installs it; undefined when it is there. */
export function missing(
  prerequisite: Prerequisite,
  platform: NodeJS.Platform = process.platform,
): string | undefined {
  if (locate(prerequisite) !== undefined) return undefined;
  const { program, packages } = prerequisite;
  const install =
    platform === 'darwin' ? `brew install ${packages.brew}` : `sudo apt-get install -y ${packages.apt}`;
  return `not measured: ${program} is not installed; install it with: ${install}`;
}

import type { PipelineLibrary } from './pipelines.js';

/** Loaded one at a time: a process that measures one library shall not carry the others in its memory. */
const LIBRARIES = {
  'node-redis': async () => (await import('./node-redis.js')).nodeRedis,
  ioredis: async () => (await import('./ioredis.js')).ioredis,
  iovalkey: async () => (await import('./iovalkey.js')).iovalkey,
  'valkey-glide': async () => (await import('./valkey-glide.js')).valkeyGlide,
} as const satisfies Record<string, () => Promise<PipelineLibrary>>;

export type LibraryName = keyof typeof LIBRARIES;

/** In the order of the table. */
export const libraryNames = [
  'node-redis',
  'ioredis',
  'iovalkey',
  'valkey-glide',
] as const satisfies readonly LibraryName[];

export function loadLibrary(name: LibraryName): Promise<PipelineLibrary> {
  return LIBRARIES[name]();
}

import { createRequire } from 'node:module';

const manifest: { readonly version: string } = createRequire(import.meta.url)('../../package.json');

/** The version of weir itself, from its package.json. */
export const version = manifest.version;

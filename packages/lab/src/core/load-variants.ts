import { readdir } from 'node:fs/promises';
import { basename, extname } from 'node:path';

/**
 * One new variant = one new file. Imports every module of a folder and takes from each the one value that is
 * named after its file (`stream-group.js` exports `streamGroup`). The command line, the services and the tests
 * read these lists, so a new file is offered, documented and tested without touching a shared index.
 *
 * @param folder   file URL of the folder, with a trailing slash
 * @param contract file name (without extension) of the contract and other files that are no variants
 * @param isVariant tells whether an exported value fulfils the contract
 * @returns the variants by name, in the order of their names
 * @throws Error naming the file when it does not export what its name promises; that is a defect, not bad input
 */
export async function loadVariants<Variant extends { readonly name: string }>(
  folder: URL,
  contract: readonly string[],
  isVariant: (value: unknown) => value is Variant,
): Promise<ReadonlyMap<string, Variant>> {
  const variants = new Map<string, Variant>();
  for (const file of (await readdir(folder)).sort()) {
    const extension = extname(file);
    const name = basename(file, extension);
    if (!['.js', '.ts'].includes(extension) || file.endsWith('.d.ts') || contract.includes(name)) continue;
    variants.set(name, await importVariant(new URL(file, folder), name, isVariant));
  }
  return variants;
}

/**
 * One variant by name, without loading the others: a worker that needs one driver does not pay for all.
 * @returns undefined when the folder has no such variant; the other parameters as in {@link loadVariants}
 */
export async function loadVariant<Variant extends { readonly name: string }>(
  folder: URL,
  contract: readonly string[],
  isVariant: (value: unknown) => value is Variant,
  name: string,
): Promise<Variant | undefined> {
  if (contract.includes(name)) return undefined;
  const file = (await readdir(folder)).find((candidate) => [`${name}.js`, `${name}.ts`].includes(candidate));
  return file === undefined ? undefined : importVariant(new URL(file, folder), name, isVariant);
}

async function importVariant<Variant extends { readonly name: string }>(
  file: URL,
  name: string,
  isVariant: (value: unknown) => value is Variant,
): Promise<Variant> {
  const module: Record<string, unknown> = await import(file.href);
  const exported = module[camelCase(name)];
  if (!isVariant(exported)) {
    throw new Error(`${file.pathname} must export ${camelCase(name)} that fulfils the contract`);
  }
  if (exported.name !== name) {
    throw new Error(
      `${file.pathname} registers itself as ${JSON.stringify(exported.name)}; the names must be equal`,
    );
  }
  return exported;
}

/** `stream-group` -> `streamGroup`. */
export function camelCase(kebab: string): string {
  return kebab.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}

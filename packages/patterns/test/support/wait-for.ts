/**
 * Waits until a condition holds. Tests wait for what they need, never for a time.
 * @throws when it does not hold within `withinMs`
 */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 20_000,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > until) throw new Error(`waited ${withinMs} ms in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/**
 * Ends this process with an uncaught error, and with it the trial, whatever the library around the caller would do
 * with an exception: nothing goes wrong in a trial that counts.
 */
export function endTrial(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

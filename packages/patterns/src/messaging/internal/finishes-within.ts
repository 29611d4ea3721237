/** Whether the work ends before the deadline, in milliseconds. It goes on alone if not. */
export async function finishesWithin(work: Promise<unknown>, deadlineMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), deadlineMs);
  });
  const finished = await Promise.race([work.then(() => true), deadline]);
  clearTimeout(timer);
  return finished;
}

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Nothing weir started may outlive it, not even after SIGKILL, when no handler of ours can run. So each server has
 * a guardian: a small shell in a session of its own that reads the pipe we hold. The kernel closes that pipe when
 * we end, however we end; then the guardian kills what is left and removes the folder.
 *
 *     weir ──pipe──▶ guardian ──SIGKILL──▶ process group of the server
 *       └──────────────────────────────────▶ redis-server (session of its own)
 *
 * The pipe carries one line per change: the process group to watch over, or an empty line for none.
 */
const SCRIPT = `
trap '' INT TERM HUP
group=
while read -r line; do group=$line; done
[ -n "$group" ] && kill -9 -"$group" 2>/dev/null
rm -rf "$1"
`;

export interface Guardian {
  /** Names the process group to kill when we are gone; `undefined` when there is none now. */
  watch(group: number | undefined): void;
  /** Lets it do its work now: kill the group still watched, remove the folder. Idempotent. */
  release(): Promise<void>;
}

/** @param folder removed with everything in it at the end */
export function startGuardian(folder: string): Guardian {
  const shell: ChildProcess & { readonly stdin: NodeJS.WritableStream | null } = spawn(
    '/bin/sh',
    ['-c', SCRIPT, 'weir-guardian', folder],
    { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' },
  );
  const ended = once(shell, 'exit').catch(() => undefined);
  // A write to a guardian that somebody killed must not bring weir down.
  shell.stdin?.on('error', () => undefined);
  shell.unref();
  return {
    watch: (group) => {
      shell.stdin?.write(`${group ?? ''}\n`);
    },
    release: async () => {
      shell.ref();
      shell.stdin?.end();
      await ended;
    },
  };
}

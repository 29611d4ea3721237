/**
 * `npm start`, `npm test` and `npm run bench`, on a machine where nothing is set up yet:
 *
 *     check Node -> install packages -> build -> find or install the servers that are needed -> run the command
 *
 * Each step is passed over when its work is already done, so a second run costs well under a second. No
 * dependency, since it runs before there are any. All of its output goes to stderr: stdout belongs to the command
 * (`npm run -s bench -- --json | jq`).
 *
 * Exit codes: those of the command; 64 unknown command; 69 something is missing that cannot be installed from here;
 * 70 installing or building failed; 130 interrupted.
 */
import { spawn, spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { constants as osConstants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));

/** The exit codes of packages/lab/src/core/errors.ts that apply here. */
const EXIT = { usage: 64, unavailable: 69, software: 70 };

/** Servers a command may need: any one of `programs`, and the packages that bring one. */
const NEEDS = {
  redis: { programs: ['redis-server', 'valkey-server'], apt: ['redis-server'], brew: ['redis'] },
  // The tests start databases of their own from these; Debian hides `mariadbd` and `postgres` from the PATH.
  mariadb: { programs: ['mariadb-install-db'], apt: ['mariadb-server'], brew: ['mariadb'] },
  postgres: { programs: ['postgres', 'pg_ctlcluster'], apt: ['postgresql'], brew: ['postgresql@17'] },
};

/** What `npm start` runs; arguments after `--` are added and win. */
const START = [
  'packages/lab/bin/weir.js',
  ...['run', 'messaging', '--quick'],
  ...['--patterns', 'queue,stream-xread,stream-group,pubsub'],
  ...['--batch', '1,100'],
  ...['--store', 'sqlite'],
];

/** `build`: the project whose references are everything the command loads from `dist`. */
const COMMANDS = {
  start: {
    build: 'packages/lab',
    needs: ['redis'],
    script: START,
  },
  test: {
    build: 'packages/lab',
    needs: ['redis', 'mariadb', 'postgres'],
    script: ['node_modules/vitest/vitest.mjs', 'run'],
  },
  bench: { build: 'bench', needs: ['redis'], script: ['bench/dist/main.js'] },
};

/** Folders and files whose change makes a build stale. */
const SOURCES = ['packages/patterns/src', 'packages/lab/src', 'bench/src'];
const BUILD_SETTINGS = [
  'tsconfig.base.json',
  'packages/patterns/tsconfig.json',
  'packages/lab/tsconfig.json',
];

/** A step that cannot be done. `remedy` is what the user can type. */
class SetUpError extends Error {
  constructor(exitCode, message, remedy) {
    super(message);
    this.exitCode = exitCode;
    this.remedy = remedy;
  }
}

// ---- Decisions: pure, tested by packages/lab/test/unit/bootstrap.test.ts ----

/** Whether a Node version (`v20.18.1`) is below what package.json's `engines.node` asks for (`>=20.19`). */
export function isTooOld(version, engines) {
  const numbers = (text) => (text.match(/\d+/g) ?? []).map(Number);
  const [has, wants] = [numbers(version), numbers(engines)];
  const differing = wants.findIndex((want, index) => want !== (has[index] ?? 0));
  return differing !== -1 && (has[differing] ?? 0) < wants[differing];
}

/** Whether something made at `madeMs` is older than one of its sources. `undefined`: it was never made. */
export function isStale(madeMs, sourcesMs) {
  return madeMs === undefined || sourcesMs.some((sourceMs) => sourceMs > madeMs);
}

/**
 * The commands that install a need on this machine.
 * @param machine `{ isRoot, sudoIsFree, has(program) }`; `sudoIsFree`: sudo works without a password
 * @returns `{ state: 'run', commands }`, or `{ state: 'ask', remedy }` with the one command to type
 */
export function installPlan(need, machine) {
  if (machine.has('apt-get')) {
    const install = ['apt-get', 'install', '-y', '--no-install-recommends', ...need.apt];
    if (!machine.isRoot && !machine.sudoIsFree) return { state: 'ask', remedy: `sudo ${install.join(' ')}` };
    const prefix = machine.isRoot ? [] : ['sudo', '-n'];
    const quiet = [...prefix, 'env', 'DEBIAN_FRONTEND=noninteractive'];
    return {
      state: 'run',
      // One broken foreign repository fails the update as a whole; the install may work all the same.
      commands: [
        { line: [...quiet, 'apt-get', 'update'], mayFail: true },
        { line: [...quiet, ...install], mayFail: false },
      ],
    };
  }
  const brew = ['brew', 'install', ...need.brew];
  if (machine.has('brew')) return { state: 'run', commands: [{ line: brew, mayFail: false }] };
  return {
    state: 'ask',
    remedy: `install ${need.programs.join(' or ')} with the package manager of your system`,
  };
}

/** What Node is given for a command of ours: its script, its own arguments, then the user's. */
export function commandLine(name, userArguments) {
  return [...COMMANDS[name].script, ...userArguments];
}

/** Exit code of a child as a shell reports it: 128 + signal when a signal ended it. */
export function exitCodeOf(code, signal) {
  return code ?? 128 + (osConstants.signals[signal] ?? 0);
}

// ---- Steps ----

async function main([name, ...userArguments]) {
  if (!Object.hasOwn(COMMANDS, name ?? '')) {
    throw new SetUpError(
      EXIT.usage,
      `there is no command ${JSON.stringify(name)}`,
      `known: ${Object.keys(COMMANDS)}`,
    );
  }
  process.chdir(ROOT);
  checkNode();
  installPackages();
  build(COMMANDS[name].build);
  for (const need of COMMANDS[name].needs) provide(NEEDS[need]);
  return run(commandLine(name, userArguments));
}

function checkNode() {
  const { engines } = JSON.parse(readFileSync('package.json', 'utf8'));
  if (isTooOld(process.version, engines.node)) {
    throw new SetUpError(
      EXIT.unavailable,
      `this is Node ${process.version}; weir needs ${engines.node}`,
      'install a newer one: https://nodejs.org/en/download',
    );
  }
}

function installPackages() {
  // npm writes this file last, so it also tells an installation that was broken off.
  const installed = modifiedMs('node_modules/.package-lock.json');
  if (!isStale(installed, [modifiedMs('package-lock.json') ?? 0])) return;
  step('npm ci', ['npm', 'ci', '--no-audit', '--no-fund']);
}

function build(project) {
  const stamp = join('node_modules/.cache/weir', `built-${project.replaceAll('/', '-')}`);
  const sources = [...SOURCES.flatMap(filesBelow), ...BUILD_SETTINGS, 'node_modules/.package-lock.json'];
  const hasOutput = existsSync(join(project, 'dist')) && existsSync('packages/patterns/dist');
  if (
    hasOutput &&
    !isStale(
      modifiedMs(stamp),
      sources.map((file) => modifiedMs(file) ?? 0),
    )
  )
    return;
  // A file that changes while the compiler runs must count as newer than the build.
  const begun = new Date();
  step(`tsc -b ${project}`, [process.execPath, 'node_modules/typescript/bin/tsc', '-b', project]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, '');
  utimesSync(stamp, begun, begun);
}

function provide(need) {
  if (need.programs.some(isOnPath)) return;
  const isRoot = process.getuid?.() === 0;
  const plan = installPlan(need, {
    isRoot,
    sudoIsFree:
      !isRoot && isOnPath('sudo') && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status === 0,
    has: isOnPath,
  });
  const missing = `${need.programs.join(' or ')} is needed and not on the PATH`;
  if (plan.state === 'ask') throw new SetUpError(EXIT.unavailable, missing, plan.remedy);
  for (const { line, mayFail } of plan.commands) {
    try {
      step(line.join(' '), line);
    } catch (error) {
      if (!mayFail) throw new SetUpError(EXIT.unavailable, `${missing}; ${error.message}`, line.join(' '));
      say(`${error.message}; going on without it`);
    }
  }
  if (!need.programs.some(isOnPath)) {
    throw new SetUpError(
      EXIT.unavailable,
      `${missing}, though it was installed`,
      'add its folder to the PATH',
    );
  }
}

/** Runs a step of the set-up with its output on stderr. */
function step(title, [program, ...parameters]) {
  say(title);
  const { status, signal, error } = spawnSync(program, parameters, { stdio: ['ignore', 2, 2] });
  if (error !== undefined) throw new SetUpError(EXIT.software, `${title}: ${error.message}`);
  if (status !== 0) throw new SetUpError(EXIT.software, `${title} failed (${signal ?? `exit ${status}`})`);
}

/** Runs the command with our terminal. Signals are its business: we stay until it has ended, then end as it did. */
function run(nodeArguments) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, nodeArguments, { stdio: 'inherit' });
    // Ctrl-C reaches the whole process group, so the child has it already; `kill` reaches only us.
    process.on('SIGINT', () => {});
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
    child.once('error', reject);
    child.once('exit', (code, signal) => resolve(exitCodeOf(code, signal)));
  });
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return folder !== '';
    } catch {
      return false;
    }
  });
}

function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  // Folders as well: they change when a file is removed.
  return [folder, ...readdirSync(folder, { recursive: true }).map((entry) => join(folder, entry))];
}

function modifiedMs(file) {
  return statSync(file, { throwIfNoEntry: false })?.mtimeMs;
}

function say(text) {
  process.stderr.write(`weir set-up: ${text}\n`);
}

if (process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    say(error.message);
    if (error.remedy !== undefined) say(`-> ${error.remedy}`);
    process.exitCode = error.exitCode;
  }
}

import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';

/** Starts the binary without the VIGIL_ variables of the tests, which it would take for settings. */
export function startVigil(args: string[], stdio: StdioOptions): ChildProcess {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VIGIL_')));
  return spawn(process.env.CONSOLE_BIN ?? '../bin/vigil', args, { stdio, env });
}

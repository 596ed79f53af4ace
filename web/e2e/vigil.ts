import { spawn, type ChildProcess, type StdioOptions } from 'node:child_process';
import { once } from 'node:events';

/** Starts the binary without the VIGIL_ variables of the tests, which it would take for settings. Rejects if the binary cannot be started. */
export async function startVigil(args: string[], stdio: StdioOptions): Promise<ChildProcess> {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('VIGIL_')));
  const program = spawn(process.env.CONSOLE_BIN ?? '../bin/vigil', args, { stdio, env });
  await once(program, 'spawn'); // rejects with the event "error"
  return program;
}

export const hasEnded = (program: ChildProcess) => program.exitCode !== null || program.signalCode !== null;

/** Stops a program, unless it has ended, and waits for its end. It is killed if it does not stop within a minute. */
export async function stopVigil(program: ChildProcess): Promise<void> {
  if (hasEnded(program)) return;
  const ended = new Promise<void>((done) => program.once('exit', () => done()));
  const kill = setTimeout(() => program.kill('SIGKILL'), 60_000);
  program.kill('SIGINT');
  await ended;
  clearTimeout(kill);
}

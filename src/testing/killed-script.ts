import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * Starts a script in a process of its own; `lines` is what it prints, `kill` ends it at once,
 * `pause` stops it until `resume`.
 */
export function startScript(script: string, ...args: readonly string[]) {
  const words = ['--input-type=module', '-e', script, ...args];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise((resolve) => child.once('exit', resolve));
  const kill = async () => {
    child.kill('SIGKILL');
    await gone;
  };
  return {
    lines: createInterface({ input: child.stdout }),
    kill,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  };
}

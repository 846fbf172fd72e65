// Answers one question: which commands run until they are stopped, and in which roles?

import type { Command } from '../command/command.ts';

/** What a process does until it is stopped. */
type Role = 'serve' | 'work';

/** How a service is started. */
export type ServiceCommand = Pick<
  Command<never>,
  'name' | 'summary' | 'usage' | 'example' | 'details'
> & { readonly roles: readonly Role[] };

const details = [
  '--allow-anonymous   the intelligence service without a token (EXHIBIT_ALLOW_ANONYMOUS)',
  'Everything else is set by the environment: exhibit config.',
];

/** The commands that run until they are stopped. */
export const SERVICE_COMMANDS: readonly ServiceCommand[] = [
  {
    name: 'up',
    roles: ['serve', 'work'],
    summary: 'Serve and work in one process, on embedded stores unless others are set.',
    usage: 'exhibit up [--allow-anonymous]',
    example: 'exhibit up',
    details,
  },
  {
    name: 'start',
    roles: ['serve', 'work'],
    summary: 'The same; with no source set, the simulated world (npm start).',
    usage: 'exhibit start [--live] [--allow-anonymous]',
    example: 'exhibit start --live',
    details: ["--live              the publisher's list, never the simulated world", ...details],
  },
  {
    name: 'serve',
    roles: ['serve'],
    summary: 'Answer HTTP requests.',
    usage: 'exhibit serve [--allow-anonymous]',
    example: 'EXHIBIT_SURFACES=hosted exhibit serve',
    details,
  },
  {
    name: 'work',
    roles: ['work'],
    summary: 'Refresh lists and do whatever runs without being asked.',
    usage: 'exhibit work',
    example: 'exhibit work',
    details,
  },
];

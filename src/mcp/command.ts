// Standard output carries the protocol and nothing else; messages go to standard error.

import { defineCommand, EXIT } from '../command/command.ts';
import {
  CONNECTION_NOTE,
  CONNECTION_OPTIONS,
  type ConnectionServices,
  findConnection,
} from '../command/connection.ts';
import type { ToolServices } from './stdio.ts';

export const mcpCommand = defineCommand({
  name: 'mcp',
  summary: 'Give an MCP client the tools of a running service.',
  usage: '[--base-url URL] [--key-file FILE]',
  json: null,
  example: 'exhibit mcp --base-url http://127.0.0.1:8080',
  options: CONNECTION_OPTIONS,
  notes: [
    CONNECTION_NOTE,
    'It speaks the protocol over standard input and output, and runs until its input ends.',
    'Each call asks one route of the service and costs what that route costs.',
  ],
  run: async (named, io, services: ConnectionServices & ToolServices) => {
    const to = await findConnection(named, io, services);
    // Loaded here alone: no other command needs the protocol.
    const { serveTools } = await import('./stdio.ts');
    io.err(`Tools of ${to.baseUrl.origin} for an MCP client, until the input ends.`);
    await serveTools(to, services, io.signal);
    return EXIT.done;
  },
});

import { describe, expect, test } from 'vitest';
import { commandHelp, overallHelp, SERVICE_COMMANDS } from '../operator/operate.ts';

import { HELP_GROUPS, localCommands, STORE_COMMANDS } from './commands.ts';

const UNSET = { ok: false, problems: [] } as const;
const LOCAL = localCommands({ configured: UNSET, started: UNSET });

describe('help', () => {
  const all = [...SERVICE_COMMANDS, ...LOCAL, ...STORE_COMMANDS];

  test('every command is under exactly one heading', () => {
    const listed = HELP_GROUPS.flatMap((group) => group.commands.map((one) => one.name));
    expect([...listed].sort()).toEqual(all.map((one) => one.name).sort());
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('every command has a usage and an example that name it', () => {
    for (const command of all) {
      expect(`${command.usage} `.startsWith(`exhibit ${command.name} `)).toBe(true);
      expect(`${command.example} `).toContain(`exhibit ${command.name} `);
      expect(commandHelp(command)).toContain(`  ${command.example}`);
      expect(commandHelp(command).join('\n')).not.toContain('\n\n\n');
    }
  });

  test('no line of the help is wider than a terminal', () => {
    const lines = [overallHelp(HELP_GROUPS, '0.1.0'), ...all.map((one) => commandHelp(one))].flat();
    // An example is pasted as it stands, so that it is not broken.
    const examples = new Set(all.map((one) => `  ${one.example}`));
    const wide = lines.filter((line) => line.length > 100 && !examples.has(line));
    expect(wide).toEqual([]);
  });
});

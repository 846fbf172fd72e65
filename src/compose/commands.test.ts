import { describe, expect, test } from 'vitest';
import { commandHelp, overallHelp } from '../operator/command-line.ts';
import { HELP_GROUPS } from './commands.ts';
import { loadLocal } from './local.ts';

const UNSET = { ok: false, problems: [] } as const;

describe('help', () => {
  const all = HELP_GROUPS.flatMap((group) => group.commands);

  test('every command is under exactly one heading', () => {
    const listed = all.map(({ name }) => name);
    expect(listed.length).toBeGreaterThan(80);
    expect(new Set(listed).size).toBe(listed.length);
  });

  test('what is known of a command that opens no store is what that command declares', async () => {
    const locals = all.flatMap((one) => (one.local === null ? [] : { ...one, local: one.local }));
    expect(locals.length).toBeGreaterThan(20);
    for (const { local, ...declared } of locals) {
      const loaded = await loadLocal({ ...declared, local }, { configured: UNSET, started: UNSET });
      expect(loaded).toEqual({ ...declared, run: expect.any(Function) });
    }
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

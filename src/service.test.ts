// The service of the simulated world as it starts, once for all tests that only ask it: its doors,
// its members, the programs to be copied, and clients of MCP.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { doorsSayTheSame } from './doors.suite.ts';
import { targetsSayWhatIsKnown } from './evidence.suite.ts';
import { examplesDoWhatTheySay } from './examples.suite.ts';
import { clientsAreAnswered, toolsAreServedAlone } from './mcp.suite.ts';
import { memberGetsAlong, OF_MEMBERS } from './members-walk.suite.ts';
import { receiptsAreConfirmed } from './receipts.suite.ts';
import { type Simulated, startSimulated } from './testing/program.ts';

vi.setConfig({ testTimeout: 300_000, hookTimeout: 240_000 });

const home = mkdtempSync(join(tmpdir(), 'exhibit-service-'));
let service: Simulated;
const started = () => service;
beforeAll(async () => {
  service = await startSimulated({ cwd: home, env: OF_MEMBERS });
});
afterAll(() => {
  service.program.child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
});

memberGetsAlong(started);
examplesDoWhatTheySay(started);
clientsAreAnswered(started);
receiptsAreConfirmed(started);
targetsSayWhatIsKnown(started);
describe('the doors', () => doorsSayTheSame(started));

test('when it stops it has printed no warning, live reads included', async () => {
  service.program.child.kill('SIGTERM');
  const { err } = await service.program.ended;
  // Standard error is the log, and holds nothing else.
  expect(err).toContain('"msg":');
  expect(err).not.toContain('Warning');
});

toolsAreServedAlone(home);

// Every state of every tool is what its listed schema says, to the official client of MCP, which
// refuses an answer that is not.

import { expect, test } from 'vitest';
import { CONTRACTS, EVIDENCE_ROUTES, handlerOf } from './compose/list.ts';
import { Answer } from './contract/answer.ts';
import { NOBODY } from './contract/route.ts';
import { why } from './evidence/reasons.ts';
import { type ToolAnswer, toolServer, toolsOf } from './mcp/tools.ts';
import { connectLinked } from './testing/mcp-clients.ts';
import { TEST_SERVICE } from './testing/service.ts';
import { type Ask, asksOf } from './testing/silence-asks.ts';
import { silentPorts } from './testing/twins/ports.ts';
import { WORLDS } from './testing/worlds.ts';

const SILENT = silentPorts(why('store_unreadable', { what: 'The store', fault: 'no answer' }));
const { signal } = new AbortController();

/** What is asked, and the same of a chain that a route with a chain in its path does not serve. */
function inputsOf(asks: readonly Pick<Ask, 'input'>[]): Ask['input'][] {
  return asks.flatMap(({ input }) => {
    const { params } = input;
    const hasChain = typeof params === 'object' && params !== null && 'chain' in params;
    return hasChain ? [input, { ...input, params: { ...params, chain: 'base' } }] : [input];
  });
}

test('each state of each tool passes the client’s check of its schema', async () => {
  let said: ToolAnswer = { status: 200, text: '' };
  const server = toolServer(toolsOf(CONTRACTS), '0.0.0', async () => said);
  const client = await connectLinked((transport) => server.connect(transport));
  const seen = new Set<string>();
  for (const world of WORLDS) {
    for (const [ports, isSilent] of [
      [world.ports, false],
      [SILENT, true],
    ] as const) {
      if (isSilent && world !== WORLDS[0]) continue;
      const given = { ...ports, service: TEST_SERVICE };
      for (const route of EVIDENCE_ROUTES) {
        if (route.tool === null) continue;
        for (const input of inputsOf(asksOf(route, world))) {
          const now = () => world.now;
          const answer = await handlerOf(route.name, given)(input, { now, signal }, NOBODY);
          if (!(answer instanceof Answer)) continue;
          said = { status: 200, text: answer.bytes(world.now).toString() };
          const { isError } = await client.call(route.tool.name, {});
          expect([route.name, answer.state, isError === true]).toEqual([
            route.name,
            answer.state,
            false,
          ]);
          seen.add(`${route.name} ${answer.state}`);
        }
      }
    }
  }
  await client.close();
  const declared = EVIDENCE_ROUTES.flatMap(({ name, tool, absences }) =>
    tool === null ? [] : ['ok', ...absences].map((state) => `${name} ${state}`),
  );
  expect([...seen].sort()).toEqual(declared.sort());
});

test('the list of the tools is under 25 KB, names each argument, and tells that Solana is served', () => {
  const listed = [...toolsOf(CONTRACTS).values()].map((tool) => tool.listed);
  expect(JSON.stringify({ tools: listed }).length).toBeLessThan(25_000);
  expect(listed.length).toBeGreaterThan(6);
  for (const { name, inputSchema } of listed) {
    for (const [argument, schema] of Object.entries({ ...inputSchema.properties })) {
      const { description } = Object(schema);
      expect([name, argument, typeof description]).toEqual([name, argument, 'string']);
    }
  }
  const { inputSchema } = Object(listed.find(({ name }) => name === 'deployer_record'));
  expect(inputSchema.properties.chain.description).toContain('`solana`');
});

// Prints the start text of a service. A first user reads it from top to bottom; a simulated service
// says so before anything else.

import { dirname, join } from 'node:path';
import { PUBLISHER_URL } from '../config/settings.ts';
import type { Config } from '../config.ts';
import { shellCommand } from '../contract/shell-command.ts';
import { Read, unread } from '../evidence/reading.ts';
import { inTime, OUT_OF_TIME, STOPPED_BY_TIME } from '../evidence/waiting.ts';
import type { SourceFreshness } from '../features/health/health.route.tsx';
import { MCP_PATH } from '../mcp/http-door.ts';
import type { RingKeeping } from '../ports/history.ts';
import { SANDBOX_LAUNCHERS } from '../world/corpus.ts';
import { SANDBOX_LABELLED } from '../world/labels.ts';
import { SANDBOX_PARTY } from '../world/listed-parties.ts';
import { LINKS } from './documents.ts';
import type { DatedSource } from './freshness.ts';
import { CREDENTIALS_FILE, type DemoCredentials } from './simulated.ts';

const UNLISTED = '0x00000000219ab540356cbb839cbe05303d7705fa';

/** The first line of every process that serves or fills the simulated world. */
export const SIMULATED_LINE =
  'SIMULATED: everything served here is made up. Nothing it says is about a real address.';

/**
 * Prints the lines of `npm start` over the simulated world after the first one, in a fixed order.
 */
export function announceSimulated(
  demo: DemoCredentials,
  config: Config,
  signInLink: string,
): string[] {
  const { base_url: url, api_key: key } = demo;
  const [listed] = SANDBOX_PARTY.addresses;
  const address = listed === undefined ? UNLISTED : listed.address;
  const bearer = ['-H', { before: 'Authorization: Bearer ', variable: 'EXHIBIT_API_KEY' }] as const;
  const screen = (of: string) =>
    shellCommand(['curl', '-s', ...bearer, `${url}/api/v1/wallet/${of}/ofac`]);
  // The key itself stands in no command: a shell keeps what was pasted.
  const held = join(config.dataDir, CREDENTIALS_FILE);
  const take = shellCommand(['sed', '-n', 's/.*"api_key": "\\(.*\\)".*/\\1/p', held]);
  const many = JSON.stringify({
    addresses: [address, SANDBOX_LABELLED.hot, SANDBOX_LAUNCHERS.flagged, UNLISTED],
  });
  return [
    '',
    `  Base URL       ${url}`,
    `  API key        ${key}`,
    `  Stream token   ${demo.stream_token}`,
    `  Membership     ${demo.membership_id} (${demo.plan})`,
    '',
    'Paste one of these, the first before the others:',
    '',
    '  # the key, for this shell',
    `  export EXHIBIT_API_KEY="$(${take})"`,
    '',
    '  # a listed address',
    `  ${screen(address)}`,
    '',
    '  # an address that is not on the list: a false is not a clearance',
    `  ${screen(UNLISTED)}`,
    '',
    '  # several at once: listed, an exchange wallet, a launcher, an unknown one',
    `  ${shellCommand(
      ['curl', '-s', ...bearer, '-H', 'content-type: application/json'],
      ['-d', many, `${url}/api/v1/bulk/wallet-screen`],
    )}`,
    '',
    '  # how old each source is',
    `  ${shellCommand(['curl', '-s', `${url}/health`])}`,
    '',
    '  # the same as a table, with the demo key',
    `  ${directoryOf(config)}${shellCommand(['bin/exhibit', 'look', address, '--base-url', url])}`,
    '',
    ...pagesOf(url, config),
    `Its settings, once and within a day: ${signInLink}`,
    '',
    'Going live: set a source and start again, for instance',
    '',
    `  EXHIBIT_SDN_URL=${PUBLISHER_URL} npm start`,
    '',
    `The simulated data is kept in ${config.dataDir}; real data never mixes with it.`,
  ];
}

// The demo key lies in the data directory: a terminal that has not set it would look elsewhere.
function directoryOf({ dataDir, shown }: Config): string {
  const isSet = shown.some(({ name, from }) => name === 'EXHIBIT_DATA_DIR' && from === 'set');
  if (!isSet) return '';
  return `EXHIBIT_DATA_DIR=${shellCommand([dirname(dataDir)])} `;
}

type LiveParts = {
  readonly sources: readonly DatedSource[];
  readonly ringReach: RingKeeping['reach'];
};

/**
 * Prints the lines of a live service: for each source, its age or the reason for its silence, and
 * how far the ring of each chain is.
 */
export async function announceLive(
  config: Config,
  { sources, ringReach }: LiveParts,
  url: string | null,
): Promise<string[]> {
  const widest = Math.max(...sources.map(({ facts }) => facts.title.length));
  const lines = await Promise.all(
    sources.map(
      async ({ facts, age }) => `  ${facts.title.padEnd(widest)}  ${freshnessText(await age())}`,
    ),
  );
  return [
    '',
    url === null ? 'Working.' : `Serving ${url}`,
    '',
    'What each part rests on:',
    ...lines,
    '',
    'Listed addresses that are held in full, by chain. Until a chain is whole, a walk that left a',
    'busy address out is not checked:',
    ...(await reachLines(ringReach)),
    '',
    ...(url === null
      ? []
      : [
          'Create a membership and a key:',
          '  bin/exhibit members add --plan desk',
          '  bin/exhibit keys create --membership MEMBERSHIP_ID',
          '',
          ...pagesOf(url, config),
        ]),
    `Data directory: ${config.dataDir}`,
  ];
}

function pagesOf(url: string, { surfaces }: Config): string[] {
  const links = LINKS.flatMap((group) => group.pages.map(({ path }) => url + path));
  const pages = `Pages to open: ${links.join(' ')}`;
  const tools = `For MCP clients, with the API key: ${url}${MCP_PATH}`;
  return [
    ...(surfaces.includes('web') ? [pages] : []),
    ...(surfaces.includes('mcp') ? [tools] : []),
  ];
}

function freshnessText({ state, published, reason }: SourceFreshness): string {
  if (state === 'fresh') return published === null ? 'read' : `of ${published}`;
  if (state === 'stale') return `of ${published}: ${reason}`;
  if (state === 'frozen') return `frozen: ${reason}`;
  return state === 'per_answer' ? 'asked for each answer' : `silent: ${reason}`;
}

/** A start waits so long for the ring to be told. */
const REACH_MS = 2_000;

async function reachLines(ringReach: RingKeeping['reach']): Promise<string[]> {
  const told = await inTime(ringReach, AbortSignal.timeout(REACH_MS));
  const reading = told === OUT_OF_TIME ? unread('raw_ring', STOPPED_BY_TIME) : told;
  if (!(reading instanceof Read)) return [`  not told yet: ${reading.why.reason}`];
  if (reading.value.length === 0) return ['  no chain is read here'];
  const widest = Math.max(...reading.value.map(({ chain }) => chain.length));
  return reading.value.map(({ chain, state, listed, held_in_full }) => {
    return `  ${chain.padEnd(widest)}  ${state}: ${held_in_full} of ${listed}`;
  });
}

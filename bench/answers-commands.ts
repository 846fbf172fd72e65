// Which commands are run beside a service, each in a process of its own: the help of all that the
// overall help names, and what they print, for people and as JSON.

import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Files } from './answers-recorder.ts';
import { ADDRESSES, type Credentials } from './answers-requests.ts';
import { type Ended, type Place, run } from './answers-service.ts';

const { 'listed-evm': LISTED, unlisted: UNLISTED, 'two-hops': TWO_HOPS } = ADDRESSES;
const { entity: ENTITY, 'entity-other': OTHER, 'listed-solana': SOLANA } = ADDRESSES;
/** A command that runs until it is stopped has said by then what it says. */
const WATCHED_MS = 6_000;

const FIXTURES: { readonly [file: string]: string } = {
  'addresses.csv': `id,address\n1,${LISTED}\n2,${UNLISTED}\n3,x\n4,${SOLANA}\n5,${LISTED}\n`,
  'labels.csv':
    'chain,address,entity,label,role,confidence,first_seen\n' +
    `ethereum,${TWO_HOPS},Own Desk,Hot Wallet,hot,web_crawl,2026-02-01\n` +
    `ethereum,x,Own Desk,Hot Wallet,hot,web_crawl,2026-02-01\n`,
  'launches.jsonl': `${JSON.stringify({
    mint: '11111111111111111111111111111112',
    deployer: ADDRESSES['launcher-record'],
    launched_at: 1_790_000_000,
    listed_after_window: true,
    last_checked_at: 1_790_090_000,
  })}\n{"mint":1}\n`,
  'findings.csv':
    'address,etherscan_tag,etherscan_labels,is_contract\n' +
    `${OTHER},Fake_Phishing1,phish-hack,False\nx,y,z,False\n`,
  'list.csv':
    'address,entity,entity_type,programs,entry_id,listed_at\n' +
    `${OTHER},Somebody,individual,P1,E1,2026-01-02\nx,,,,,\n`,
  'cut.json': '{"transaction":',
};

const LOOKED = [
  'listed-evm',
  'listed-solana',
  'listed-monero',
  'unlisted',
  'two-hops',
  'hub',
  'exchange-hot',
  'launcher-flagged',
  'launcher-unsettled',
] as const;

type Line = readonly [name: string, words: string, files?: 'changes'];

/**
 * The command lines, run in this order. Lines that end in `changes` change the answers of later
 * ones.
 */
const LINES: readonly Line[] = [
  ['config', 'config'],
  ['config-reference', 'config --reference'],
  ['doctor', 'doctor'],
  ['members-list', 'members list'],
  ['keys-list', 'keys list'],
  ['tokens-list', 'tokens list'],
  ['payments-list', 'payments list'],
  ['payments-list-bad', 'payments list --outcome nothing'],
  ['sanctions-status', 'sanctions status'],
  ['sanctions-status-literals', 'sanctions status --literals'],
  ['sanctions-check', `sanctions check ${LISTED} ${UNLISTED} ${SOLANA} x`],
  ['sanctions-check-miss', `sanctions check ${UNLISTED}`],
  ['sanctions-check-file', 'sanctions check --file addresses.csv'],
  ['sanctions-check-no-file', 'sanctions check --file nothing.csv'],
  ['sanctions-export', 'sanctions export'],
  ['sanctions-export-csv', 'sanctions export --csv'],
  ['sanctions-diff', 'sanctions diff 2026-11-15 2026-11-18'],
  ['sanctions-diff-newest', 'sanctions diff 2026-11-18 2026-11-21'],
  ['sanctions-import-nothing', 'sanctions import nothing.zip'],
  ['sanctions-refresh', 'sanctions refresh'],
  ['registry-check', 'registry check'],
  ['registry-check-nothing', 'registry check nothing.csv'],
  ['bridges-explain-cut', 'bridges explain --receipt cut.json'],
  ['bridges-explain-nothing', 'bridges explain --receipt nothing.json'],
  ['warehouse-status', 'warehouse status'],
  ['warehouse-ring-status', 'warehouse ring status'],
  ['warehouse-forget', 'warehouse forget --chain ethereum --blocks 1..2'],
  ['warehouse-forget-bad', 'warehouse forget --chain nowhere --blocks 2..1'],
  ['warehouse-import-nothing', 'warehouse import nothing/ --chain ethereum --origin observed'],
  ['warehouse-follow-bad', 'warehouse follow nowhere'],
  ['entity-show', `entity show ${ENTITY}`],
  ['entity-show-bad', 'entity show x'],
  ['entity-explain', `entity explain ${ENTITY} ${OTHER}`],
  ['entity-explain-apart', `entity explain ${ENTITY} ${UNLISTED}`],
  ['entity-import-nothing', 'entity import nothing.json'],
  ['deployers-walk', `deployers walk ${ADDRESSES['deployer-mixed']}`],
  ['deployers-walk-bad', 'deployers walk x'],
  ['corpus-settle', 'corpus settle'],
  ['corpus-evaluate', 'corpus evaluate'],
  ['corpus-evaluate-split', 'corpus evaluate --split 2026-11-01'],
  ['receipts-check', 'receipts check own-receipts'],
  ['receipts-check-nothing', 'receipts check nothing'],
  ['model-card', 'model card'],
  ['model-card-nothing', 'model card nothing.json'],
  ['model-evaluate-nothing', 'model evaluate --data nothing.csv'],
  ['model-publish-nothing', 'model publish nothing.json'],
  ['model-train-nothing', 'model train --data nothing.csv'],
  ...LOOKED.map((name): Line => [`look-${name}`, `look ${ADDRESSES[name]}`]),
  ['look-bad', 'look x'],
  ['look-elsewhere', `look ${LISTED} --base-url http://127.0.0.1:9`],
  ['screen', 'screen addresses.csv'],
  ['screen-required', 'screen addresses.csv --require sanctions_list --column address'],
  ['screen-no-column', 'screen addresses.csv --column nothing'],
  ['labels-import', 'labels import labels.csv --source own', 'changes'],
  ['corpus-import', 'corpus import launches.jsonl', 'changes'],
  ['findings-import', 'findings import findings.csv --source own', 'changes'],
  ['lists-import', 'lists import list.csv --list own --as-of 2026-11-20', 'changes'],
  ['lists-import-again', 'lists import list.csv --list own --as-of 2026-11-21', 'changes'],
  ['labels-import-nothing', 'labels import nothing.csv --source own'],
  ['sanctions-check-lists', `sanctions check ${OTHER}`],
  ['members-add', 'members add --plan analyst --id mem_added', 'changes'],
  ['members-add-again', 'members add --plan nothing'],
  ['members-link', 'members link mem_added', 'changes'],
  ['keys-create', 'keys create --membership mem_added', 'changes'],
  ['keys-create-partner', 'keys create --partner own --budget 10', 'changes'],
  ['keys-create-bad', 'keys create'],
  ['keys-revoke-unknown', 'keys revoke sc_unknown'],
  ['tokens-mint', 'tokens mint --tier pro', 'changes'],
  ['tokens-revoke-unknown', 'tokens revoke tok_unknown'],
  ['members-list-after', 'members list'],
  ['keys-list-after', 'keys list'],
  ['tokens-list-after', 'tokens list'],
  ['members-deactivate', 'members deactivate mem_added', 'changes'],
  ['members-deactivate-unknown', 'members deactivate mem_unknown'],
  ['warehouse-ring-rebuild', 'warehouse ring rebuild', 'changes'],
];

/** These need no service: overall help, faults of usage. */
const BESIDE = [
  '',
  '--help',
  '--version',
  'nothing',
  'sanctions',
  'sanctoins status',
  'keys list --zzz',
];

function transcriptOf(words: string, { status, out, err }: Ended): string {
  return `$ exhibit ${words}\nstatus ${status}\n\n${out}\n--- standard error ---\n${err}`;
}

/** The names of commands in the overall help: each stands between two spaces and a sentence. */
function namesIn(help: string): string[] {
  return [...help.matchAll(/^ {2}([a-z]+(?: [a-z]+){0,2}) {2,}\S/gm)].flatMap(
    (found) => found[1] ?? [],
  );
}

function split(words: string): string[] {
  return words === '' ? [] : words.split(' ');
}

/** Runs the commands that need no store, and asks each for its help. */
export async function runHelp(place: Place, files: Files): Promise<void> {
  const overall = await run(place, ['--help']);
  for (const words of BESIDE) {
    const name = `commands/beside/${words === '' ? 'nothing-typed' : words}`;
    if (files.wants(name)) {
      files.write(name, transcriptOf(words, await run(place, split(words))));
    }
  }
  for (const command of namesIn(overall.out)) {
    const words = `${command} --help`;
    const name = `commands/help/${command}`;
    if (files.wants(name)) {
      files.write(name, transcriptOf(words, await run(place, split(words))));
    }
  }
}

function layOut({ repo, folder }: Place): void {
  for (const [file, text] of Object.entries(FIXTURES)) writeFileSync(join(folder, file), text);
  const receipts = join(repo, 'registry/simulated-receipts');
  const own = join(folder, 'own-receipts');
  mkdirSync(own, { recursive: true });
  if (existsSync(receipts)) cpSync(receipts, own, { recursive: true });
}

/** Runs every command beside the service. */
export async function runCommands(
  place: Place,
  files: Files,
  { key, token }: Credentials,
): Promise<void> {
  layOut(place);
  const settings = { ...place.settings, EXHIBIT_API_KEY: key };
  const beside: Place = { ...place, settings };
  for (const [name, words, changes] of LINES) {
    const forms = changes === undefined ? ['', ' --json'] : [' --json'];
    for (const form of forms) {
      const file = `commands/run/${name}${form === '' ? '' : '-json'}`;
      if (!files.wants(file) && changes === undefined) continue;
      const ended = await run(beside, split(words + form));
      if (files.wants(file)) files.write(file, transcriptOf(words + form, ended));
    }
  }
  if (files.wants('commands/run/watch')) {
    const base = `http://127.0.0.1:${place.port}`;
    const words = `watch --since 0 --base-url ${base} --json`;
    const own = { ...place, settings: { ...settings, EXHIBIT_STREAM_TOKEN: token } };
    const ended = await run(own, split(words), { interruptMs: WATCHED_MS });
    files.write('commands/run/watch', transcriptOf(words, ended));
  }
  if (files.wants('commands/run/mcp')) await speakToTools(beside, files);
}

const MESSAGES = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-11-25',
      capabilities: {},
      clientInfo: { name: 'answers', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/list', params: {} },
  { id: 3, method: 'tools/call', params: { name: 'wallet_ofac', arguments: { address: LISTED } } },
];

/** The tools over a pipe: what comes back of a handshake, their list and a call. */
async function speakToTools(place: Place, files: Files): Promise<void> {
  const input = MESSAGES.map((one) => `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`).join('');
  const ended = await run(place, ['mcp'], { input, interruptMs: WATCHED_MS });
  files.write('commands/run/mcp', transcriptOf('mcp', ended));
}

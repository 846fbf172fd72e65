// The commands of the log: follow one as a stranger does, have a leaf proved, and end an origin.

import { readFile, rename, writeFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';
import { parseLogProof } from '../../chain/signed-note.ts';
import {
  anyText,
  defineCommand,
  EXIT,
  type ExitStatus,
  fail,
  fileArgument,
  flag,
  type Io,
  mandatory,
  numberWithin,
  optional,
  several,
  UsageError,
} from '../../command/command.ts';
import { type ConnectionServices, findService, requestOnce } from '../../command/connection.ts';
import { factLines, print, printable, printJson, printRecord } from '../../command/output.ts';
import { LEAF_KIND_NAMES } from '../../ports/transparency-log.ts';
import type { PlannedRestart, RestartEnd, RestartPlan } from './checkpoints.ts';
import {
  checkProof,
  followOnce,
  type LogSite,
  type LogView,
  type LogWords,
  NotChecked,
  type SeenLog,
} from './follow.ts';

const STATE_FILE = 'exhibit-log.json';
const EVERY_MIN_S = 5;
const EVERY_MAX_S = 86_400;
const MS_PER_S = 1_000;
const WHY_CHARS_MAX = 500;
const OWNER_ONLY = 0o600;

const OF_SERVICE = {
  'base-url': optional('URL', 'the service; without it the one that is configured here', anyText),
  key: several(
    'KEY',
    'a verifier key of the log that you trust; without it the keys that the service names',
    anyText,
  ),
};

const logWords = z.object({
  origin: z.string().nullable(),
  keys: z.array(z.string()),
  former: z.array(z.object({ origin: z.string() })),
});
const seenLog = z.strictObject({
  origin: z.string(),
  keys: z.array(z.string()),
  checkpoint: z.string(),
});
const refusal = z.object({ error: z.string(), reason: z.string().optional() });
const entries = z.object({
  entries: z.array(
    z.object({ index: z.int(), kind: z.enum(LEAF_KIND_NAMES), hash: z.string(), id: z.string() }),
  ),
});

const UNPINNED =
  'No --key: the keys are those that the service names, so that this shows one log to this ' +
  'follower, and not whose log it is.';

/** What a service serves to everybody, as the follower reads it. */
function siteAt(baseUrl: URL, signal: AbortSignal): LogSite {
  const bytes: LogSite['bytes'] = async (path) => {
    const said = await requestOnce(baseUrl, { path }, signal);
    if (said.kind === 'silent') throw new NotChecked(said.reason);
    if (said.status === 404) return null;
    if (said.status === 200) return said.bytes;
    throw new NotChecked(`${baseUrl.origin} answered ${said.status}: ${reasonIn(said.bytes)}`);
  };
  return {
    bytes,
    text: async (path) => {
      const body = await bytes(path);
      return body === null ? null : Buffer.from(body).toString('utf8');
    },
  };
}

function reasonIn(bytes: Uint8Array): string {
  const parsed = refusal.safeParse(jsonIn(Buffer.from(bytes).toString('utf8')));
  if (!parsed.success) return 'it gave no reason';
  const { error, reason } = parsed.data;
  return reason === undefined ? error : reason;
}

function jsonIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    throw new NotChecked('what was read is no JSON');
  }
}

async function wordsOf(site: LogSite): Promise<LogWords> {
  const text = await site.text('/api/log');
  const parsed = logWords.safeParse(text === null ? null : jsonIn(text));
  if (!parsed.success) throw new NotChecked('the service has no signed log');
  return parsed.data;
}

const follow = defineCommand({
  name: 'log follow',
  summary: 'Follow a log: each state must continue the last one that was seen.',
  example: 'exhibit log follow --base-url https://exhibit.example --every 60',
  options: {
    ...OF_SERVICE,
    state: optional('FILE', `where what was seen is kept; without it ${STATE_FILE}`, anyText),
    every: optional(
      'SECONDS',
      'look again and again until stopped; without it once',
      numberWithin(EVERY_MIN_S, EVERY_MAX_S),
    ),
  },
  json: 'one object for each look: kind, size, and for a fork both signed states',
  notes: [
    'Exit status 1: the log showed two views, and both signed states are printed and kept beside',
    'FILE. Exit status 3: it could not be checked, which says nothing of the log.',
  ],
  run: async (options, io, services: ConnectionServices) => {
    const baseUrl = await findService(options['base-url'], services);
    const file = fileArgument(options.state === null ? STATE_FILE : options.state, io);
    if (options.key.length === 0) io.err(UNPINNED);
    const site = siteAt(baseUrl, io.signal);
    for (;;) {
      const status = await lookOnce(site, file, options.key, io);
      if (options.every === null || status === EXIT.failed) return status;
      await wait(options.every * MS_PER_S, undefined, { signal: io.signal }).catch(() => null);
      if (io.signal.aborted) return status;
    }
  },
});

async function lookOnce(
  site: LogSite,
  file: string,
  keys: readonly string[],
  io: Io,
): Promise<ExitStatus> {
  try {
    const seen = await readSeen(file);
    const look = await followOnce(site, await wordsOf(site), seen, keys);
    if (look.kind === 'fork') await keep(`${file}.fork`, `${look.older}\n${look.newer}`);
    else if (look.seen !== null) await keep(file, `${JSON.stringify(look.seen, null, 2)}\n`);
    return tell(look, io);
  } catch (fault) {
    if (!(fault instanceof NotChecked)) throw fault;
    return fail(io, `Not checked: ${fault.message}.`, EXIT.couldNotCheck);
  }
}

async function readSeen(file: string): Promise<SeenLog | null> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (fault) {
    if (fault instanceof Error && 'code' in fault && fault.code === 'ENOENT') return null;
    throw new NotChecked('what was seen before cannot be read');
  }
  const parsed = seenLog.safeParse(jsonIn(text));
  // A damaged file is no first sight: whoever begins anew removes it.
  if (!parsed.success) throw new NotChecked('the file of what was seen before is damaged');
  return parsed.data;
}

async function keep(file: string, text: string): Promise<void> {
  await writeFile(`${file}.new`, text, { mode: OWNER_ONLY });
  await rename(`${file}.new`, file);
}

function tell(look: LogView, io: Io): ExitStatus {
  if (io.json) {
    const { kind } = look;
    const shown =
      kind === 'fork'
        ? look
        : kind === 'ended'
          ? { kind, ...endShown(look.end) }
          : { kind, size: look.size };
    printJson(io, shown);
  }
  switch (look.kind) {
    case 'fork':
      if (!io.json) print(io, [look.older, look.newer].map(printable));
      return fail(io, `Two views of one log: ${look.reason}.`);
    case 'ended': {
      const { origin, next, why, size, held } = look.end;
      const said = `${origin} ended with ${size} leaves, of which ${held} are held: ${why}`;
      io.err(printable(`${said} It goes on as ${next}.`));
      return EXIT.done;
    }
    case 'grown':
      if (!io.json) print(io, [`${look.size} leaves continue the ${look.from} that were seen.`]);
      return EXIT.done;
    default:
      if (!io.json) print(io, [`${look.size} leaves are signed, ${look.kind} as seen.`]);
      return EXIT.done;
  }
}

function endShown({
  origin,
  size,
  next,
  held,
  at,
  why,
}: Extract<LogView, { kind: 'ended' }>['end']) {
  return { origin, size, next, held, at, why };
}

const prove = defineCommand({
  name: 'log prove',
  summary: 'Have a leaf proved to be in the log, and check the proof.',
  example: 'exhibit log prove 17 --base-url https://exhibit.example > 17.tlog-proof',
  arguments: {
    leaf: mandatory('LEAF', 'the index of a leaf, or its kind and hash: signal:0x…', anyText),
  },
  options: OF_SERVICE,
  json: 'the leaf, and the proof as text',
  notes: [
    'It prints the proof (C2SP tlog-proof), which anybody can check offline. Exit status 1: the',
    'log was read whole and does not hold the leaf, or the proof does not hold.',
  ],
  run: async ({ leaf, 'base-url': base, key }, io, services: ConnectionServices) => {
    const site = siteAt(await findService(base, services), io.signal);
    if (key.length === 0) io.err(UNPINNED);
    try {
      const words = await wordsOf(site);
      const text = await site.text(`/api/log/proof/${encodeURIComponent(leaf)}`);
      if (text === null) return fail(io, 'The log does not hold this leaf.');
      const proof = parseLogProof(text);
      if (proof === null) throw new NotChecked('what was answered is no proof');
      const listed = await site.text(`/api/log/entries?from=${proof.index}&limit=1`);
      const parsed = entries.safeParse(listed === null ? null : jsonIn(listed));
      const [told] = parsed.success ? parsed.data.entries : [];
      if (told === undefined) throw new NotChecked('the log does not tell what the leaf is');
      const asked = leaf.includes(':') ? leaf : `${told.kind}:${told.hash}`;
      if (asked !== `${told.kind}:${told.hash}`) return fail(io, 'The proof is of another leaf.');
      const fault = checkProof(text, told, key.length > 0 ? key : words.keys);
      if (fault !== null) return fail(io, `The proof does not hold: ${fault}.`);
      if (io.json) printJson(io, { ...told, proof: text });
      else io.out(text.trimEnd());
      return EXIT.done;
    } catch (fault) {
      if (!(fault instanceof NotChecked)) throw fault;
      return fail(io, `Not checked: ${fault.message}.`, EXIT.couldNotCheck);
    }
  },
});

export const LOG_COMMANDS = [follow, prove];

/** What the command that ends an origin works on. */
export type RestartServices = {
  readonly log: {
    readonly planRestart: () => Promise<PlannedRestart>;
    readonly restart: (why: string) => Promise<RestartEnd>;
  };
};

export const logRestart = defineCommand({
  name: 'log restart',
  summary: 'End the log with a last signed statement, and begin another one.',
  example: 'exhibit log restart --why "The store was put back to the backup of 24 November." --yes',
  options: {
    why: mandatory('TEXT', 'why it ends, in one line; it is published', (text, name) => {
      if (text.length <= WHY_CHARS_MAX && !/\p{C}/u.test(text) && text.trim() !== '')
        return text.trim();
      throw new UsageError(`${name} takes one line of at most ${WHY_CHARS_MAX} characters.`);
    }),
    yes: flag('do it; without it, what would end is shown and nothing is changed'),
  },
  json: 'done, and what ends: origin, size, held, next; frozen while it is not done, else at, why',
  notes: [
    'For a store that was put back and holds less than the log signed (log_behind), and whose',
    'newest copy is gone. It cannot be taken back. What the old log signed stays served.',
  ],
  run: async ({ why, yes }, io, { log }: RestartServices) => {
    if (!yes) {
      const planned = await log.planRestart();
      return planned.kind === 'planned' ? tellPlan(planned.plan, io) : failUndone(planned, io);
    }
    const end = await log.restart(why);
    if (end.kind !== 'restarted') return failUndone(end, io);
    const { origin, size, next, held, at, why: because } = end.ended;
    const shown = { done: true, origin, size, held, next, at, why: because };
    return printRecord(
      shown,
      io,
      `${origin} ended with ${size} leaves, ${held} of them held. ${next} goes on.`,
    );
  },
});

function failUndone(
  undone: Exclude<RestartEnd, { kind: 'restarted' }>,
  io: Pick<Io, 'err'>,
): ExitStatus {
  if (undone.kind === 'refused') return fail(io, undone.reason);
  return fail(io, undone.why.reason, EXIT.couldNotCheck);
}

function tellPlan({ frozen, ...plan }: RestartPlan, io: Io): ExitStatus {
  if (io.json) {
    printJson(io, { done: false, ...plan, frozen: frozen === null ? null : frozen.reason });
    return EXIT.done;
  }
  const { origin, size, held, next } = plan;
  const facts = [
    ['log', origin],
    ['leaves that it signed', size],
    ['of them stored', held],
    ['frozen', frozen === null ? 'no: it signs, and nothing asks for its end' : frozen.reason],
    ['goes on as', next === null ? 'what its last statement names' : next],
  ] as const;
  print(io, ['Nothing was changed. With --yes this log ends for good:', ...factLines(facts, io)]);
  return EXIT.done;
}

import { formatIsoTime } from '../../chain/time.ts';
import { defineCommand, EXIT, fail, optional, UsageError } from '../../command/command.ts';
import { print, printJson, timeText } from '../../command/output.ts';
import type { Why } from '../../evidence/reasons.ts';
import type { EndedAccess, StoreRestore } from '../../ports/store-marks.ts';
import { type RestoreView, viewRestores, type WatchParts } from './watch-store.ts';

const WHY_CHARS_MAX = 500;

type RestoreServices = { readonly restores: Pick<WatchParts, 'marks' | 'seen'> };

const storeRestored = defineCommand({
  name: 'store restored',
  summary: 'Tell whether the control store was put back, and what that opened.',
  example: 'exhibit store restored --accept "the disk of 21 November; both keys are ended again"',
  options: {
    accept: optional('WHY', 'take the store as it is; this is recorded', (text, name) => {
      if (text !== '' && text.length <= WHY_CHARS_MAX) return text;
      throw new UsageError(`${name} takes one to ${WHY_CHARS_MAX} characters.`);
    }),
  },
  json: 'watched, restores (held_to, seen_to, noticed_at, accepted_at, accepted_why), open_again',
  notes: [
    'What ended after the state that is held opens again: end it with keys revoke, tokens revoke',
    'or members deactivate. Exit status 1: a store was put back, and nobody accepted it; 3: it',
    'could not be checked.',
  ],
  run: async ({ accept }, io, { restores }: RestoreServices) => {
    const before = await viewRestores(restores);
    if (isWhy(before)) return fail(io, before.reason, EXIT.couldNotCheck);
    if (accept !== null) {
      const done = await restores.marks.accept(accept, before.open_again);
      if (!done.checked) return fail(io, done.why.reason, EXIT.couldNotCheck);
      if (done.value === 0) return fail(io, 'There is no restore that waits to be accepted.');
    }
    const view = accept === null ? before : await viewRestores(restores);
    if (isWhy(view)) return fail(io, view.reason, EXIT.couldNotCheck);
    if (io.json) {
      const { isWatched: watched, restores: each, open_again } = view;
      printJson(io, { watched, restores: each.map(timesOf), open_again });
    } else print(io, linesOf(view));
    if (view.restores.some(({ accepted_at }) => accepted_at === null)) return EXIT.failed;
    return view.isWatched ? EXIT.done : EXIT.couldNotCheck;
  },
});

export const RESTORE_COMMANDS = [storeRestored];

function timesOf({ held_to, seen_to, noticed_at, accepted_at, accepted_why }: StoreRestore) {
  return {
    held_to: held_to === null ? null : formatIsoTime(held_to),
    seen_to: formatIsoTime(seen_to),
    noticed_at: formatIsoTime(noticed_at),
    accepted_at: accepted_at === null ? null : formatIsoTime(accepted_at),
    accepted_why,
  };
}

export function isWhy(view: RestoreView | Why): view is Why {
  return 'reason' in view;
}

/** Access that opens again, in words. */
export function openText({ what, name, ended_at }: EndedAccess): string {
  return `${what} ${name} (ended ${timeText(ended_at)})`;
}

/** What this machine says of a store without a restore, in words. */
export function unseenText({ isWatched }: Pick<RestoreView, 'isWatched'>): string {
  if (isWatched) return 'this machine saw no later state of it';
  return 'this machine left no mark in it in the last 40 days, and cannot tell a store put back';
}

/** What a store holds that has no mark of before. */
export const NO_MARK_HELD = 'a state without any mark, or is another store';

function linesOf({ isWatched, restores, open_again }: RestoreView): string[] {
  const [newest] = restores;
  if (newest === undefined) return [`The control store: ${unseenText({ isWatched })}.`];
  const each = restores.map(({ held_to, seen_to, noticed_at, accepted_at, accepted_why }) => {
    const held = held_to === null ? NO_MARK_HELD : timeText(held_to);
    const end =
      accepted_at === null
        ? 'not accepted'
        : `accepted ${timeText(accepted_at)}: ${String(accepted_why)}`;
    const noticed = `seen until ${timeText(seen_to)}; noticed ${timeText(noticed_at)}`;
    return `Put back to ${held}; ${noticed}; ${end}.`;
  });
  const open = open_again.map((one) => `open again: ${openText(one)}`);
  const since = timeText(newest.noticed_at);
  return [...each, ...open, `Allowances count what is held, and everything since ${since}.`];
}

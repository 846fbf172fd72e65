// The checks of `exhibit doctor` beyond the machine itself.

import type { Secrets } from '../access/secret.ts';
import { formatIsoTime } from '../chain/time.ts';
import type { Config } from '../config.ts';
import { present } from '../evidence/measure.ts';
import { type Reading, Unread } from '../evidence/reading.ts';
import type { ReasonCode, Why } from '../evidence/reasons.ts';
import type { SourceFreshness } from '../features/health/health.route.tsx';
import { signedText } from '../features/log/standing.ts';
import {
  isWhy,
  NO_MARK_HELD,
  openText,
  unseenText,
} from '../features/restores/restores.command.ts';
import type { RestoreView } from '../features/restores/watch-store.ts';
import { signingFinding } from '../features/signing/signing.command.ts';
import type { CheckResult, DoctorCheck, DoctorServices, PortAbsence } from '../operator/doctor.ts';
import type { KeyStore } from '../ports/access.ts';
import type { AnchoringReport } from '../ports/anchoring.ts';
import type { ProviderReport, ProviderWatch } from '../ports/providers.ts';
import type { KeptKeys } from '../ports/signing.ts';
import type { TransparencyLog } from '../ports/transparency-log.ts';
import type { WithdrawnRange } from '../stores/warehouse/transfers/withdrawn.ts';
import { nowS } from './clock.ts';
import type { StoreCheck } from './documents.ts';
import type { DatedSource } from './freshness.ts';
import { FEATURES } from './list.ts';

const EMBEDDED_NOTE =
  'answers; embedded, it survives a killed process but not a power loss (PostgreSQL does both)';

/** The checks of what this deployment opened, and what each source that is not set answers. */
export function doctorServices(
  config: Config,
  stores: {
    readonly checks: readonly StoreCheck[];
    readonly withdrawn: () => Promise<readonly WithdrawnRange[]>;
    /** Credentials of chats that no configured secret opens. */
    readonly sealedElsewhere: () => Promise<number>;
  },
  sources: readonly DatedSource[],
  keys: Pick<KeyStore, 'underOtherSecrets'>,
  secrets: Secrets,
  providers: ProviderWatch['reports'],
  signed: {
    readonly signing: Pick<KeptKeys, 'all'>;
    readonly log: Pick<TransparencyLog, 'head'>;
    readonly anchoring: (signal: AbortSignal) => Promise<AnchoringReport>;
  },
  restores: () => Promise<RestoreView | Why>,
  storeNow: () => Promise<Reading<number, 'store_marks'>>,
): DoctorServices {
  const pings = stores.checks.map(({ name, ping }): DoctorCheck => {
    const embedded = name === 'control store' && config.store.kind === 'embedded';
    const says = embedded ? EMBEDDED_NOTE : 'answers';
    return {
      name,
      look: () =>
        ping().then(
          (): CheckResult => ({ state: 'ok', says }),
          (): CheckResult => ({ state: 'failed', says: 'does not answer; its routes are silent' }),
        ),
    };
  });
  // The log and the keys have lines of their own: a log that is frozen is no absent source.
  const others = sources.filter(({ facts }) => !OWN_LINES.includes(facts.tag));
  const ages = others.map(({ facts, age }): DoctorCheck => {
    return { name: facts.title.toLowerCase(), look: async () => finding(await age()) };
  });
  const callsADay = providers().map((one): DoctorCheck => {
    const { name, url } = one;
    const budget = name === 'Explorer' ? config.explorerCallsADay : null;
    return {
      name: `calls of ${name.toLowerCase()}`,
      look: async () => {
        const report = providers().find((now) => now.name === name && now.url === url);
        return callsSaid(report === undefined ? one : report, budget);
      },
    };
  });
  const secret = { name: 'secret', look: () => rotation(keys, secrets) };
  const coverage = {
    name: 'held blocks',
    look: async () => withdrawnSaid(await stores.withdrawn()),
  };
  const sealed = {
    name: 'sealed credentials',
    look: async () => sealedSaid(await stores.sealedElsewhere()),
  };
  const signs = { name: 'signing keys', look: () => signingCheck(signed.signing) };
  const log = { name: 'transparency log', look: () => logSaid(signed.log) };
  // Without a contract the absence of it is the line.
  const anchoring: DoctorCheck[] =
    config.anchoring.contract === null
      ? []
      : [
          {
            name: 'anchoring',
            look: async (signal) => anchoringSaid(await signed.anchoring(signal)),
          },
        ];
  const putBack = { name: 'restored store', look: async () => restoredSaid(await restores()) };
  const clock = { name: 'clock', look: async () => clockSaid(await storeNow(), nowS()) };
  const own = [secret, sealed, signs, log, putBack, clock];
  const checks = [...pings, coverage, ...ages, ...callsADay, ...own, ...anchoring];
  return { config, checks, absences: portChecks(config) };
}

/** The sources, by their tags, that have a line of their own. */
const OWN_LINES: readonly string[] = ['transparency_log', 'signing_keys'];

/** Clocks that differ by less are one. */
const CLOCKS_DIFFER_S = 30;

/** How far this machine's clock is from the store's. */
export function clockSaid(store: Reading<number, 'store_marks'>, ownNow: number): CheckResult {
  if (!store.checked) return { state: 'unchecked', says: store.why.reason };
  const ahead = ownNow - store.value;
  if (Math.abs(ahead) < CLOCKS_DIFFER_S) {
    return { state: 'ok', says: "this machine's and the control store's differ by seconds" };
  }
  const where = ahead > 0 ? 'ahead of' : 'behind';
  const says =
    `this machine is ${Math.abs(ahead)} s ${where} the control store; docs/reference/clocks.md ` +
    'tells what each clock decides';
  return { state: 'warning', says };
}

/** Whether the store was put back, and which access that was ended since opens again. */
export function restoredSaid(view: RestoreView | Why): CheckResult {
  if (isWhy(view)) return { state: 'unchecked', says: view.reason };
  const { restores, open_again } = view;
  const [newest] = restores;
  if (newest === undefined) {
    return { state: view.isWatched ? 'ok' : 'absent', says: unseenText(view) };
  }
  const isAccepted = restores.every(({ accepted_at }) => accepted_at !== null);
  const held = newest.held_to === null ? NO_MARK_HELD : formatIsoTime(newest.held_to);
  const open = open_again.map(openText).join(', ');
  const says =
    `it was put back to ${held}, and this machine saw it until ${formatIsoTime(newest.seen_to)}. ` +
    `Ended since and open again: ${open === '' ? 'nothing that was seen' : open}. ` +
    `Allowances count what is held, and everything since ${formatIsoTime(newest.noticed_at)}` +
    (isAccepted ? '' : '. Look, and then take it: exhibit store restored --accept WHY');
  if (!isAccepted) return { state: 'failed', says };
  return { state: open === '' ? 'ok' : 'warning', says };
}

/** What was held in full by an earlier version, and is not any more. */
function withdrawnSaid(ranges: readonly WithdrawnRange[]): CheckResult {
  if (ranges.length === 0) return { state: 'ok', says: 'what counts as held is proved' };
  const each = ranges.map(({ chain, kind, from_block, to_block }) => {
    return `${kind} of ${chain} in blocks ${from_block} to ${to_block}`;
  });
  const says =
    `no longer held in full, since a node's blocks do not prove it: ${each.join('; ')}. ` +
    'It shows, and rules out nothing (docs/reference/coverage.md)';
  return { state: 'warning', says };
}

/** A line for each source that is not set. The simulated world stands in for providers. */
export function portChecks(config: Config): PortAbsence[] {
  return FEATURES.flatMap(({ optional }) => optional)
    .filter(({ isSet }) => !isSet(config))
    .map(({ name, setting, without }) => {
      return { name, state: 'absent', says: `without ${setting}: ${without}` };
    });
}

const FINDING_STATES = {
  fresh: 'ok',
  per_answer: 'ok',
  stale: 'warning',
  frozen: 'failed',
  never_loaded: 'absent',
  unreadable: 'absent',
} as const;

// Of a source that each answer asks anew nothing was asked here, and the line says so.
function finding({ state, reason }: SourceFreshness): CheckResult {
  if (state === 'per_answer') {
    const says = 'set; each answer asks it, doctor did not';
    return { state: 'ok', says: reason === null ? says : reason };
  }
  return { state: FINDING_STATES[state], says: reason === null ? 'read' : reason };
}

/** From this share of a day's budget on doctor warns. */
const NEARLY_SPENT = 0.8;

/** The calls of the last day to a provider, as this process counted them, and the day's budget. */
export function callsSaid(
  { hours, watched_since }: Pick<ProviderReport, 'hours' | 'watched_since'>,
  budget: number | null,
): CheckResult {
  const asked = present(hours.map(({ calls }) => calls));
  const calls = asked.reduce((sum, one) => sum + one.answered + one.failed + one.stopped, 0);
  const of = budget === null ? '' : ` of ${budget} that a day allows`;
  const says = `${calls} calls${of} in the last day, counted since ${formatIsoTime(watched_since)}`;
  return { state: budget !== null && calls >= NEARLY_SPENT * budget ? 'warning' : 'ok', says };
}

/** Chats whose credentials cannot be opened are told nothing until somebody adds them anew. */
export function sealedSaid(elsewhere: number): CheckResult {
  if (elsewhere === 0)
    return { state: 'ok', says: 'every chat opens under the secret that is set' };
  const says =
    `${elsewhere} chats are sealed under a secret that is not set, and are told nothing: set it ` +
    'as EXHIBIT_SECRET_PREVIOUS, or have them added anew';
  return { state: 'failed', says };
}

async function signingCheck(kept: Pick<KeptKeys, 'all'>): Promise<CheckResult> {
  const keys = await kept.all();
  if (keys instanceof Unread) return { state: 'unchecked', says: keys.why.reason };
  return signingFinding(keys.value, nowS());
}

/** What the log signed; one that is frozen signs nothing until somebody has it go on. */
export async function logSaid(log: Pick<TransparencyLog, 'head'>): Promise<CheckResult> {
  const head = await log.head();
  if (head instanceof Unread) {
    const { code, reason } = head.why;
    return { state: code === 'not_configured' ? 'absent' : 'unchecked', says: reason };
  }
  const told = signedText(head.value);
  return typeof told === 'string'
    ? { state: 'ok', says: told }
    : { state: 'failed', says: told.frozen };
}

/** The reasons for which roots wait that pass by themselves. */
const PASSING: ReadonlySet<ReasonCode> = new Set([
  'anchor_behind',
  'anchor_nonce_behind',
  'anchor_fee_high',
]);

/** What a root of the log waits for: for the operator, for time, or for whoever is silent. */
export function anchoringSaid(report: AnchoringReport): CheckResult {
  if (report.state !== 'looked') {
    return { state: 'absent', says: 'this process has no key: another one sends roots, and tells' };
  }
  const { whys } = report;
  if (whys.length === 0) return { state: 'ok', says: 'roots are sent as they fall due' };
  const says = whys.map(({ reason }) => reason).join(' ');
  const lasting = whys.filter(({ code }) => !PASSING.has(code));
  if (lasting.length === 0) return { state: 'warning', says };
  const isFailed = lasting.some(({ code }) => code.startsWith('anchor_') || code === 'log_behind');
  return { state: isFailed ? 'failed' : 'unchecked', says };
}

// The previous secret may go once nothing that is stored was made under it.
async function rotation(
  keys: Pick<KeyStore, 'underOtherSecrets'>,
  [current]: Secrets,
): Promise<CheckResult> {
  const others = await keys.underOtherSecrets(current.fingerprint);
  if (others instanceof Unread) return { state: 'unchecked', says: others.why.reason };
  if (others.value === 0) return { state: 'ok', says: 'nothing is stored under another secret' };
  const says = `${others.value} keys are under a previous secret; keep EXHIBIT_SECRET_PREVIOUS`;
  return { state: 'warning', says };
}

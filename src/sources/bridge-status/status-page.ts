// What does a protocol's own status page say of something that was sent?
// It is that page's word, never a chain's. Each question names one deposit, and an answer that does
// not name the same one is a failure.

import { read, unread } from '../../evidence/reading.ts';
import { why } from '../../evidence/reasons.ts';
import type {
  BridgeArrivals,
  DepositStatus,
  StatusPage,
  StatusQuery,
} from '../../ports/bridges/bridge-arrivals.ts';
import type { BridgeProtocol } from '../../ports/bridges/bridge-registry.ts';
import { fetchJson, type JsonAsk, type JsonLimits } from '../http/fetch-json.ts';
import { shownAddress } from '../http/outbound-call.ts';
import { observation, type ProviderGuard, whyUnanswered, withBudget } from '../http/provider.ts';
import { ACROSS } from './across.ts';
import { CBRIDGE } from './cbridge.ts';
import { isNotKnown } from './empties.ts';
import { HOP } from './hop.ts';
import { LAYERZERO_SCAN } from './layerzero-scan.ts';
import type { PageReader } from './page-reader.ts';
import { SYNAPSE } from './synapse.ts';
import { WORMHOLESCAN } from './wormholescan.ts';

const PORT = 'bridge_arrivals';
const HTTP_OK = 200;
const LIMITS: JsonLimits = { deadlineMs: 8_000, bytesMax: 2 ** 20 };
/** One question, and once more after a passing failure. */
const CALLS_MAX = 2;

const READERS: readonly PageReader[] = [
  ...[ACROSS, LAYERZERO_SCAN, WORMHOLESCAN],
  ...[CBRIDGE, SYNAPSE, HOP],
];

/** A page that is set. `key` goes as a bearer token, as Across asks for one. */
type SetPage = { readonly url: URL; readonly key: string | null; readonly guard: ProviderGuard };

/** The pages that are set. */
type StatusPagesOptions = {
  readonly pages: ReadonlyMap<StatusPage, SetPage>;
  /** Unix seconds. */
  readonly now: () => number;
  readonly timeMs: number;
};

/** The status pages. */
export function statusPages(
  options: StatusPagesOptions,
): Pick<BridgeArrivals, 'pageOf' | 'statusOf'> {
  const { pages, now, timeMs } = options;
  const setFor = (protocol: BridgeProtocol) => {
    const reader = READERS.find((one) => one.protocols.includes(protocol));
    const set = reader === undefined ? undefined : pages.get(reader.page);
    return reader === undefined || set === undefined ? null : { reader, ...set };
  };
  return {
    pageOf: (protocol) => {
      const set = setFor(protocol);
      return set === null ? null : set.reader.page;
    },
    statusOf: async (asked, signal) => {
      const set = setFor(asked.protocol);
      if (set === null) return unread(PORT, why('not_configured', { what: 'A status page' }));
      const { reader, url, key, guard } = set;
      const { page } = reader;
      const question = reader.question(url, asked);
      if (question === null) return unread(PORT, why('status_page_unasked', { page }));
      const shown = shownAddress(url);
      const ask = key === null ? question : { ...question, headers: bearer(key) };
      try {
        const told = await withBudget({ timeMs, callsMax: CALLS_MAX, signal }, (budget) =>
          guard.ask(budget, (within) => answered(reader, ask, asked, within)),
        );
        const named = { name: `${page} ${shown}`, url: shown, simulated: false };
        return read(told, { port: PORT, source: observation(named, now) });
      } catch (error) {
        const failed = (fault: string) => why('provider_failed', { provider: shown, fault });
        const cause = whyUnanswered(error, failed);
        const late = cause.code === 'time_budget';
        return unread(PORT, late ? why('arrivals_out_of_time') : cause);
      }
    },
  };
}

type Question = NonNullable<ReturnType<PageReader['question']>> & Pick<JsonAsk, 'headers'>;

function bearer(key: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${key}` };
}

async function answered(
  reader: PageReader,
  question: Question,
  asked: StatusQuery,
  signal: AbortSignal,
): Promise<DepositStatus> {
  const { page } = reader;
  let isKnown = true;
  const isAnswer = (status: number, said: unknown) => {
    isKnown = !isNotKnown(page, status, said);
    return !isKnown;
  };
  const answer = await fetchJson({ ...question, isAnswer, limits: LIMITS, signal });
  if (!isKnown || isNotKnown(page, HTTP_OK, answer)) {
    return { page, state: 'unknown', tx: null, word: 'unknown' };
  }
  return { page, ...reader.read(answer, asked) };
}

// The last day of each provider, in the memory of one process: counts by hour, in a ring that does
// not grow with the calls.

import { HOUR_S } from '../../chain/time.ts';
import type {
  CallOutcome,
  HourOfCalls,
  OnCallEnd,
  ProviderFacts,
  ProviderReport,
  ProviderWatch,
} from '../../ports/providers.ts';

/** Hours that are kept, the one under way included. */
export const HOURS_KEPT = 24;

/** Counts a call to no provider that is watched. */
export const UNWATCHED: OnCallEnd = () => undefined;

/** Watches the providers of a process. `now`: Unix seconds. */
export function providerWatch(now: () => number): ProviderWatch {
  const byKey = new Map<string, WatchedProvider>();
  return {
    watch: (facts) => {
      const key = `${facts.name} ${facts.url}`;
      const known = byKey.get(key);
      const one = known === undefined ? new WatchedProvider(facts, now) : known;
      if (known === undefined) byKey.set(key, one);
      else one.addPorts(facts.ports);
      return one.count;
    },
    reports: () => [...byKey.values()].map((one) => one.report()),
  };
}

type Hour = { -readonly [K in keyof HourOfCalls]: number } & { readonly hour: number };

class WatchedProvider {
  readonly #now: () => number;
  readonly #since: number;
  #facts: ProviderFacts;
  #hours: Hour[] = [];
  #lastAnswered: number | null = null;
  #silentSince: number | null = null;
  #fault: string | null = null;

  constructor(facts: ProviderFacts, now: () => number) {
    this.#facts = facts;
    this.#now = now;
    this.#since = now();
  }

  addPorts(ports: readonly string[]): void {
    this.#facts = { ...this.#facts, ports: [...new Set([...this.#facts.ports, ...ports])] };
  }

  readonly count = (end: CallOutcome): void => {
    const at = this.#now();
    this.#hourOf(at)[end.outcome] += 1;
    if (end.outcome === 'answered') {
      this.#lastAnswered = at;
      this.#silentSince = null;
      this.#fault = null;
      return;
    }
    if (this.#silentSince === null) this.#silentSince = at;
    if (end.outcome === 'failed') this.#fault = end.fault;
  };

  report(): ProviderReport {
    const newest = hourAt(this.#now());
    const oldest = Math.max(hourAt(this.#since), newest - HOURS_KEPT + 1);
    const hours = Array.from({ length: Math.max(newest - oldest + 1, 1) }, (_, i) => {
      const found = this.#hours.find(({ hour }) => hour === oldest + i);
      return { from: (oldest + i) * HOUR_S, calls: found === undefined ? null : callsOf(found) };
    });
    return {
      ...this.#facts,
      state: this.#state(),
      silent_since: this.#silentSince,
      fault: this.#fault,
      last_answered: this.#lastAnswered,
      watched_since: this.#since,
      hours,
    };
  }

  #state(): ProviderReport['state'] {
    if (this.#silentSince !== null) return this.#fault === null ? 'unanswered' : 'silent';
    return this.#lastAnswered === null ? 'not_asked' : 'answered';
  }

  #hourOf(at: number): Hour {
    const hour = hourAt(at);
    const found = this.#hours.find((one) => one.hour === hour);
    if (found !== undefined) return found;
    const made = { hour, answered: 0, failed: 0, stopped: 0 };
    this.#hours = [...this.#hours, made].slice(-HOURS_KEPT);
    return made;
  }
}

function callsOf({ answered, failed, stopped }: Hour): HourOfCalls {
  return { answered, failed, stopped };
}

function hourAt(at: number): number {
  return Math.floor(at / HOUR_S);
}

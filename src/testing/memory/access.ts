// Answers one question: how do the access stores behave, without any database.
// For tests: it keeps the same promises in memory and loses everything with the process.

import type { UnixSeconds } from '../../chain/time.ts';
import type {
  AddedKey,
  ApiKey,
  IntelligenceToken,
  KeyStore,
  KeysOf,
  NewKey,
  NewToken,
  Revoked,
  SecretHash,
  TokenStore,
} from '../../ports/access/key-store.ts';
import type {
  Membership,
  MembershipEvent,
  MembershipStore,
} from '../../ports/access/membership-store.ts';
import type { Allowance, Charge, QuotaStore } from '../../ports/access/quota-store.ts';
import {
  type ControlContext,
  controlReadings,
} from '../../stores/control/engine/control-readings.ts';
import { StoreUnavailable } from '../../stores/control/engine/database.ts';
import { checkAllowance, left } from '../../stores/control/quotas.ts';

/** The access stores in memory; `silence(true)` makes all of them unreachable. */
export type MemoryAccess = {
  readonly memberships: MembershipStore;
  readonly keys: KeyStore;
  readonly tokens: TokenStore;
  readonly quota: QuotaStore;
  readonly silence: (silent: boolean) => void;
};

type Held<T> = { row: T; hex: string; pepper: string };
type State = {
  silent: boolean;
  readonly memberships: Map<string, Membership>;
  readonly keys: Held<ApiKey>[];
  readonly tokens: Held<IntelligenceToken>[];
  readonly used: Map<string, number>;
};

/** Opens empty stores. */
export function memoryAccess(context: ControlContext): MemoryAccess {
  const state: State = {
    silent: false,
    memberships: new Map(),
    keys: [],
    tokens: [],
    used: new Map(),
  };
  return {
    memberships: membershipsOf(state, context),
    keys: keysOf(state, context),
    tokens: tokensOf(state, context),
    quota: quotaOf(state, context),
    silence: (silent) => {
      state.silent = silent;
    },
  };
}

function reachable(state: State): void {
  if (state.silent) throw new StoreUnavailable('it was silenced', 'ESILENT');
}

function membershipsOf(state: State, context: ControlContext): MembershipStore {
  const readings = controlReadings('memberships', 'The memberships', context);
  const ask = <T>(question: () => T) =>
    readings.ask(async () => {
      reachable(state);
      return question();
    });
  return {
    durable: false,
    find: (membershipId) =>
      ask(() => {
        const found = state.memberships.get(membershipId);
        return found === undefined ? null : found;
      }),
    list: () => ask(() => [...state.memberships.values()].sort(byAge)),
    record: (event) => ask(() => recordEvent(state, event)),
  };
}

function byAge(a: Membership, b: Membership): number {
  return a.created_at - b.created_at || (a.membership_id < b.membership_id ? -1 : 1);
}

function recordEvent(state: State, { at, ...event }: MembershipEvent) {
  const before = state.memberships.get(event.membership_id);
  if (before !== undefined && before.updated_at > at) return { membership: before, applied: false };
  const created_at = before === undefined ? at : before.created_at;
  const membership = { ...event, created_at, updated_at: at };
  state.memberships.set(event.membership_id, membership);
  return { membership, applied: true };
}

function hexOf(secret: SecretHash): string {
  return Buffer.from(secret.hash).toString('hex');
}

function heldUnderOne<T>(rows: readonly Held<T>[], secrets: readonly SecretHash[]): Held<T> | null {
  for (const secret of secrets) {
    const hex = hexOf(secret);
    const found = rows.find((held) => held.hex === hex);
    if (found !== undefined) return found;
  }
  return null;
}

function keysOf(state: State, context: ControlContext): KeyStore {
  const readings = controlReadings('keys', 'The keys', context);
  const ask = <T>(question: () => T) =>
    readings.ask(async () => {
      reachable(state);
      return question();
    });
  return {
    find: (secrets) =>
      ask(() => {
        const held = heldUnderOne(state.keys, secrets);
        if (held === null) return null;
        const { row: key, pepper } = held;
        if (key.holder.kind === 'scp') return { key, membership: null, pepper };
        const membership = state.memberships.get(key.holder.membership_id);
        return { key, membership: membership === undefined ? null : membership, pepper };
      }),
    add: (key, activeMax) => ask(() => addKey(state, key, activeMax)),
    list: (of) =>
      ask(() =>
        state.keys
          .map((held) => held.row)
          .filter((key) => isOf(key, of))
          .sort(newestFirst),
      ),
    revoke: (idOrPrefix, at, membershipId) =>
      ask(() =>
        revokeHeld(
          state.keys.filter(
            ({ row }) => membershipId === null || isOf(row, { membership_id: membershipId }),
          ),
          idOrPrefix,
          at,
        ),
      ),
    noteUse: ({ id, secret, at }) => {
      const held = state.keys.find(({ row }) => row.id === id);
      if (held === undefined || state.silent) return;
      held.row = { ...held.row, last_used_at: at };
      held.hex = hexOf(secret);
      held.pepper = secret.pepper;
    },
    underOtherSecrets: (pepper) =>
      ask(() => {
        const nowS = context.nowMs() / 1_000;
        return state.keys.filter((held) => held.pepper !== pepper && isActive(held.row, nowS))
          .length;
      }),
  };
}

function isActive(key: ApiKey, at: UnixSeconds): boolean {
  return key.revoked_at === null && key.expires_at > at;
}

function isOf({ holder }: ApiKey, of: KeysOf): boolean {
  if (of === 'everyone') return true;
  if ('partner' in of) return holder.kind === 'scp' && holder.partner === of.partner;
  return holder.kind === 'sc' && holder.membership_id === of.membership_id;
}

function newestFirst(a: { created_at: number; id: string }, b: { created_at: number; id: string }) {
  return b.created_at - a.created_at || (a.id < b.id ? -1 : 1);
}

function addKey(state: State, { secret, ...fresh }: NewKey, activeMax: number): AddedKey {
  const { holder } = fresh;
  if (holder.kind === 'sc') {
    if (!state.memberships.has(holder.membership_id)) return { outcome: 'no_membership' };
    const active = state.keys.filter(
      ({ row }) => isOf(row, holder) && isActive(row, fresh.created_at),
    ).length;
    if (active >= activeMax) return { outcome: 'limit', active };
  }
  const key: ApiKey = { ...fresh, last_used_at: null, revoked_at: null };
  state.keys.push({ row: key, hex: hexOf(secret), pepper: secret.pepper });
  return { outcome: 'added', key };
}

type Revocable = {
  readonly id: string;
  readonly prefix: string;
  readonly revoked_at: number | null;
};

function revokeHeld<T extends Revocable>(
  rows: readonly Held<T>[],
  idOrPrefix: string,
  at: UnixSeconds,
): Revoked<T> {
  const named = rows.filter(({ row }) => row.id === idOrPrefix || row.prefix === idOrPrefix);
  const [first, ...others] = named;
  if (first === undefined) return { outcome: 'unknown' };
  if (others.length > 0) return { outcome: 'ambiguous', ids: named.map(({ row }) => row.id) };
  if (first.row.revoked_at === null) first.row = { ...first.row, revoked_at: at };
  return { outcome: 'revoked', revoked: first.row };
}

function tokensOf(state: State, context: ControlContext): TokenStore {
  const readings = controlReadings('tokens', 'The tokens', context);
  const ask = <T>(question: () => T) =>
    readings.ask(async () => {
      reachable(state);
      return question();
    });
  return {
    find: (secrets) =>
      ask(() => {
        const held = heldUnderOne(state.tokens, secrets);
        return held === null ? null : held.row;
      }),
    add: ({ secret, ...fresh }: NewToken) =>
      ask(() => {
        const row: IntelligenceToken = { ...fresh, revoked_at: null };
        state.tokens.push({ row, hex: hexOf(secret), pepper: secret.pepper });
        return row;
      }),
    list: () => ask(() => state.tokens.map((held) => held.row).sort(newestFirst)),
    revoke: (idOrPrefix, at) => ask(() => revokeHeld(state.tokens, idOrPrefix, at)),
  };
}

function quotaOf(state: State, context: ControlContext): QuotaStore {
  const readings = controlReadings('quota', 'The quota counters', context);
  const ask = <T>(question: () => T) =>
    readings.ask(async () => {
      reachable(state);
      return question();
    });
  const usedOf = (subject: string, period: string) => {
    const used = state.used.get(`${period} ${subject}`);
    return used === undefined ? UNUSED : used;
  };
  const chargeOne = ({ subject, period, limit }: Allowance): Charge => {
    const used = usedOf(subject, period);
    if (used >= limit) return { granted: false, used, limit };
    state.used.set(`${period} ${subject}`, used + 1);
    return { granted: true, used: used + 1, limit };
  };
  return {
    charge: (allowance) => {
      checkAllowance(allowance);
      return ask(() => chargeOne(allowance));
    },
    remaining: (allowance) => {
      checkAllowance(allowance);
      return ask(() => left(usedOf(allowance.subject, allowance.period), allowance.limit));
    },
    usage: (subject, period) => ask(() => usedOf(subject, period)),
  };
}

/** A counter that was never charged. */
const UNUSED = 0;

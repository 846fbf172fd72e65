// What happened when, as far as the parts of a dossier tell it? Only moments that an answer dates.

import { given } from '../../evidence/measure.ts';
import type {
  BridgesData,
  EvidenceData,
  ExchangesData,
  LaunchesData,
  ListsData,
  Parts,
} from './dossier.contract.ts';

/** Something that happened at a moment, as ISO text. `part` is the part that tells of it. */
export type Happening = {
  readonly at: string;
  readonly says: string;
  readonly who: string | null;
  readonly part: keyof Parts;
};

/** All moments that the parts date, the newest first. */
export function timelineOf(parts: Parts): readonly Happening[] {
  const { lists, evidence, exchanges, bridges, launches } = parts;
  const all = [
    ...(lists?.state === 'ok' ? ofLists(lists.data) : []),
    ...(evidence?.state === 'ok' ? ofEvidence(evidence.data) : []),
    ...(exchanges?.state === 'ok' ? ofExchanges(exchanges.data) : []),
    ...(bridges?.state === 'ok' ? ofBridges(bridges.data) : []),
    ...(launches?.state === 'ok' ? ofLaunches(launches.data) : []),
  ];
  return all.sort((one, other) => other.at.localeCompare(one.at));
}

function ofLists({ proximity: { hops_detail: hops } }: ListsData): Happening[] {
  return given(hops).map(({ at, from, to, chain }) => ({
    at,
    says: `Transfer on ${chain} on the way to a listed address`,
    who: to === from ? null : to,
    part: 'lists',
  }));
}

function ofEvidence({ facts, findings }: EvidenceData): Happening[] {
  const { first_seen: first, last_seen: last, funded_by: funded } = facts;
  const part = 'evidence';
  const told: Happening[] = [];
  if (first !== null)
    told.push({ at: first, says: 'First transfer that was seen', who: null, part });
  if (funded !== null) told.push({ at: funded.at, says: 'Funded by', who: funded.address, part });
  if (last !== null) told.push({ at: last, says: 'Last transfer that was seen', who: null, part });
  for (const { title, evidence } of findings) {
    const [first] = evidence.flatMap(({ at }) => (at === null ? [] : [at])).sort();
    if (first !== undefined) told.push({ at: first, says: title, who: null, part });
  }
  return told;
}

function ofExchanges({ activity: { exchanges } }: ExchangesData): Happening[] {
  return given(exchanges).flatMap(({ entity, first_seen: first, last_seen: last }): Happening[] => {
    const told = (at: string, which: string) => {
      return { at, says: `${which} with ${entity}`, who: null, part: 'exchanges' } as const;
    };
    if (first === last) return [told(first, 'Transfer')];
    return [told(first, 'First transfer'), told(last, 'Last transfer')];
  });
}

function ofBridges({ contacts, chain }: BridgesData): Happening[] {
  return given(contacts).map(({ at, name, direction }) => ({
    at,
    says: direction === 'out' ? `Sent to ${name} on ${chain}` : `Received from ${name} on ${chain}`,
    who: null,
    part: 'bridges',
  }));
}

const MS_PER_S = 1_000;
const isoOf = (seconds: number): string => new Date(seconds * MS_PER_S).toISOString();

function ofLaunches(data: LaunchesData): Happening[] {
  const part = 'launches';
  if (data.chain === 'ethereum') {
    return data.record.launches.map(({ created_at, address, outcome }) => {
      const says = `Launched a token (${outcome.replaceAll('_', ' ')})`;
      return { at: isoOf(created_at), says, who: address, part };
    });
  }
  return data.wallet.entries.map(({ launched_at, mint, outcome }) => {
    return { at: isoOf(launched_at), says: `Launched a token (${outcome})`, who: mint, part };
  });
}

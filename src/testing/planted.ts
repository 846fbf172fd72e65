// The facts planted in a world, and the negatives that they rule out.

import type { ChainName } from '../chain/chain.ts';
import { addressNamed, evm } from './addresses.ts';
import { STILL_NOW } from './clock.ts';
import type { SilencePorts } from './silence-ports.ts';
import { CHAINS_READ } from './twins/history.ts';
import { type Planted, plantedPorts } from './twins/ports.ts';

export const HOUR_S = 3_600;
/** The address that most worlds are about. */
export const SUBJECT = evm('subject');

/** Something that is so in a world, and what may therefore not be said there. */
export type Fact = {
  readonly name: string;
  /** The address that has to be asked about, in the form in which it is asked. */
  readonly about: string;
  /** The day that has to be asked about; `null` for today. */
  readonly on: string | null;
  /** The chain that it is on: named, or the one that a route takes by itself. */
  readonly chain: string;
  /** The value of its list item under one of its keys, if it is in one. */
  readonly item: string;
  /** The claims that it contradicts, by route and pattern. */
  readonly contradicts: { readonly [route: string]: readonly string[] };
  /** What it contradicts beside that, as long as the ring is not read whole. */
  readonly ringless: Fact['contradicts'];
};

/** A world as it is written down. */
export type Plan = Planted & {
  readonly name: string;
  readonly about: string;
  readonly on?: string;
  readonly chain?: string;
  readonly item?: string;
  readonly contradicts: Fact['contradicts'];
  readonly ringless?: Fact['contradicts'];
  readonly subjects?: readonly string[];
  readonly days?: readonly string[];
};

/** Worlds of the walk are asked about their subject alone. */
export function walkPlan(plan: Omit<Plan, 'about' | 'subjects'>): Plan {
  return { ...plan, about: SUBJECT, subjects: [SUBJECT] };
}

/** A world: its ports, whom and which days it is asked about, and what is planted in it. */
export type World = {
  readonly name: string;
  /** True for the world in which nothing is held of those who are asked about. */
  readonly empty: boolean;
  /** Unix seconds. */
  readonly now: number;
  readonly ports: SilencePorts;
  readonly subjects: readonly string[];
  readonly days: readonly string[];
  readonly facts: readonly Fact[];
  /** The chains whose transfers are read at all. */
  readonly chainsRead: readonly ChainName[];
  /** A chain of which transfers are held only in part; `null`: all are held. */
  readonly unheld: ChainName | null;
};

/** Strangers of each kind, of whom no world holds anything. */
const STRANGERS = {
  evm: evm('stranger'),
  solana: addressNamed('solana', 'stranger'),
  bitcoin: addressNamed('bitcoin', 'stranger'),
  tron: addressNamed('tron', 'stranger'),
};

/** The world of a plan. */
export function worldOf(plan: Plan): World {
  const { name, about, contradicts, days = [], on = null, item = about, chain = 'ethereum' } = plan;
  const { subjects = [STRANGERS.evm, about, about], ringless = {} } = plan;
  const facts = [{ name, about, on, chain, item, contradicts, ringless }];
  return worldOver(plan, { name, empty: false, subjects, days, facts });
}

/** The world in which nothing is held of those who are asked about. */
export function emptyWorld(days: readonly string[]): World {
  const subjects = Object.values(STRANGERS);
  return worldOver({}, { name: 'empty', empty: true, subjects, days, facts: [] });
}

function worldOver(
  planted: Planted,
  of: Pick<World, 'name' | 'empty' | 'subjects' | 'days' | 'facts'>,
): World {
  return {
    ...of,
    now: STILL_NOW,
    chainsRead: CHAINS_READ,
    unheld: planted.coverage === undefined ? null : 'ethereum',
    ports: plantedPorts(planted, STRANGERS.evm),
  };
}

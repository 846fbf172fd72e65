// The routes of the matrix: each access rule with each kind of route.

import { z } from 'zod';
import { html, text } from '../contract/reply.ts';
import { type AccessRule, evidenceRoute, plainRoute, type Surface } from '../contract/route.ts';
import { why } from '../evidence/reasons.ts';
import type { Mounted } from './answer.ts';

/** The answer of each rule to each caller; `charged`: with the figures of an allowance. */
export const RULES: {
  readonly [rule in AccessRule]: {
    readonly refused: 401 | 402 | null;
    readonly right: Credential;
    readonly less: Credential;
    readonly caller: string;
    readonly charged: boolean;
    /** Whoever sends nothing is let in; what is sent and opens nothing is refused. */
    readonly optional?: true;
  };
} = {
  analyst: { refused: 402, right: 'analyst', less: 'partner', caller: 'member', charged: true },
  desk: { refused: 402, right: 'desk', less: 'analyst', caller: 'member', charged: true },
  enterprise: { refused: 402, right: 'enterprise', less: 'desk', caller: 'member', charged: true },
  partner: { refused: 402, right: 'partner', less: 'enterprise', caller: 'partner', charged: true },
  bearer: { refused: 401, right: 'token', less: 'enterprise', caller: 'token', charged: false },
  session: { refused: 401, right: 'session', less: 'ended', caller: 'session', charged: false },
  visitor: { refused: null, right: 'session', less: 'ended', caller: 'session', charged: false },
  optional_key: {
    refused: 402,
    right: 'analyst',
    less: 'partner',
    caller: 'member',
    charged: false,
    optional: true,
  },
  operator: { refused: 401, right: 'operator', less: 'token', caller: 'operator', charged: false },
  open: { refused: null, right: 'nobody', less: 'nobody', caller: 'nobody', charged: false },
};
export const ACCESS = Object.keys(RULES) as AccessRule[];

export type Credential =
  | 'analyst'
  | 'desk'
  | 'enterprise'
  | 'partner'
  | 'token'
  | 'session'
  | 'ended'
  | 'operator'
  | 'nobody';

/** Each kind of route, and what its right answer begins with. */
export const KINDS: {
  readonly [kind: string]: {
    readonly mounted: (facts: Facts, heard: Heard) => Mounted;
    readonly begins: string;
  };
} = {
  evidence: {
    begins: '{"state":"not_supported"',
    mounted: (facts, heard) => {
      const route = evidenceRoute({
        ...facts,
        data: z.strictObject({ caveat: z.string() }),
        absences: ['not_supported'],
        tool: null,
      });
      const absent = { subject: 's', why: why('form_not_recognised') };
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.absent.not_supported(absent);
      };
      return { route, handle };
    },
  },
  plain: {
    begins: '{"fine":true}',
    mounted: (facts, heard) => {
      const route = plainRoute({
        ...facts,
        responses: { 200: z.strictObject({ fine: z.literal(true) }) },
        headers: { 200: { etag: 'Names the answer.' } },
      });
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.reply(200, { fine: true }, { etag: '"1"' });
      };
      return { route, handle };
    },
  },
  text: {
    begins: '<feed/>',
    mounted: (facts, heard) => {
      const route = plainRoute({ ...facts, responses: { 200: text('application/atom+xml') } });
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.reply(200, '<feed/>');
      };
      return { route, handle };
    },
  },
  page: {
    begins: '<p>Shown.',
    mounted: (facts, heard) => {
      const route = plainRoute({ ...facts, responses: { 200: html() } });
      const handle: Mounted['handle'] = async (_input, _asked, { kind }) => {
        heard(kind);
        return route.reply(200, '<p>Shown.');
      };
      return { route, handle };
    },
  },
};

export type Heard = (caller: string) => void;
export type Facts = ReturnType<typeof factsOf>;

export function factsOf(kind: string, surface: Surface, access: AccessRule) {
  const name = `${kind}_${surface}_${access}`;
  return {
    name,
    surface,
    access,
    method: 'GET',
    path: `/${name}`,
    summary: 'Of the matrix.',
  } as const;
}

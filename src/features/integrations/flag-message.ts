// Answers one question: what is a chat told of a flag, of one taken back, and of missing ones?

import type { DispatchMessage } from '../../ports/chat/dispatches.ts';
import type { FlagDispatch } from '../../ports/chat/flags-told.ts';
import type { FlagEvent } from '../../ports/flags/flag-events.ts';

const FLAG_CAVEAT =
  'A flag is what a model made of what was known when the launch was scored: evidence about a ' +
  'launch and no judgement of anybody. What was not flagged was not cleared by that.';
const RETRACTION_CAVEAT =
  'What the flag rested on is gone. That it was taken back says nothing else about the token or ' +
  'about who launched it.';
const GAP_CAVEAT =
  'What they said is not known here any more. That you were told of no flag among them says ' +
  'nothing about any token.';

/** The dispatch of an event of the log. */
export function flagDispatch(event: FlagEvent): FlagDispatch {
  const { seq, chain, address, token } = event;
  return { key: `flag:${seq}`, chain, address, message: messageOf(event) };

  function messageOf({ simulated, model_version }: FlagEvent): DispatchMessage {
    const facts = [`Chain: ${chain}`, `Token: ${token}`, `Launched by: ${address}`];
    const shown = { path: `/deployer/${chain}/${address}`, simulated };
    if (event.kind === 'flag') {
      return {
        title: `A launch was flagged on ${chain}`,
        facts: [...facts, `Evidence: ${event.evidence}`, `Model: ${model_version}`, `Flag: ${seq}`],
        caveat: FLAG_CAVEAT,
        ...shown,
        at: event.flagged_at,
      };
    }
    return {
      title: `Flag ${event.retracts} was taken back on ${chain}`,
      facts: [...facts, `Why: ${event.reason}`],
      caveat: RETRACTION_CAVEAT,
      ...shown,
      at: event.retracted_at,
    };
  }
}

/** The dispatch of flags that the log had let go of before anybody was told of them. */
export function gapDispatch(
  from: number,
  to: number,
  said: Pick<DispatchMessage, 'at' | 'simulated'>,
): FlagDispatch {
  return {
    key: `gap:${from}`,
    chain: null,
    address: null,
    message: {
      title: 'Flags are missing here',
      facts: [`Flags ${from} to ${to} were not told: the log let go of them before they could be.`],
      caveat: GAP_CAVEAT,
      path: '/leaderboard',
      ...said,
    },
  };
}

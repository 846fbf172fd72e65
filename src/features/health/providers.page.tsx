// How the providers answered this process in its last day.

import { ageText, countWords, Moment, momentText, Table } from '../../pages/words.tsx';
import type { CallsOfHour, ProviderView } from './shapes.ts';

type Props = {
  readonly providers: readonly ProviderView[];
  /** Of ports, by their tags. */
  readonly titles: ReadonlyMap<string, string>;
  readonly now: number;
};

/** Each provider: whether it answers, what rests on it and its last day; unasked ones folded. */
export function Providers({ providers, ...props }: Props) {
  const { now } = props;
  const idle = providers.filter(({ state }) => state === 'not_asked');
  const asked = providers.filter((one) => !idle.includes(one));
  const [since, ...others] = new Set(providers.map((one) => momentText(one.watched_since)));
  // A process sees all of them from its start: it is told once.
  const isOnce = since !== undefined && others.length === 0;
  const told = { ...props, isOnce };
  return (
    <>
      <p class="quiet">
        As this process saw them: another process asks for itself. In an hour in which nobody asked
        a provider, whether it was up is not known.
        {isOnce && providers.slice(0, 1).map((one) => <Watched key={since} of={one} now={now} />)}
      </p>
      {asked.length > 0 && <ProviderTable caption="Providers" providers={asked} {...told} />}
      {idle.length > 0 && (
        <details>
          <summary>{countWords(idle.length, 'provider')} that this process has not asked</summary>
          <ProviderTable caption="Providers not asked" providers={idle} {...told} />
        </details>
      )}
      <Legend />
    </>
  );
}

type TableProps = Props & { readonly caption: string; readonly isOnce: boolean };

function ProviderTable({ caption, providers, titles, now, isOnce }: TableProps) {
  return (
    <Table
      caption={caption}
      look="lines"
      rows={providers}
      columns={[
        {
          head: 'Provider',
          look: 'provider',
          cell: ({ name, url }) => (
            <>
              <strong>{name}</strong> <span class="quiet">{url}</span>
            </>
          ),
        },
        { head: 'State', cell: (one) => <State of={one} now={now} /> },
        {
          head: 'What rests on it',
          cell: (one) => (
            <>
              <span class="narrow quiet">Carries: </span>
              {carriedText(one, titles)}
            </>
          ),
        },
        {
          head: 'Its last day',
          cell: (one) => (
            <>
              <Day of={one} />
              {!isOnce && <Watched of={one} now={now} />}
            </>
          ),
        },
      ]}
    />
  );
}

const STATES: { readonly [S in ProviderView['state']]: string } = {
  answered: 'answered',
  silent: 'silent',
  unanswered: 'no answer seen',
  not_asked: 'not asked',
};

function State({ of, now }: { of: ProviderView; now: number }) {
  const { state, silent_since, last_answered, fault } = of;
  const at = silent_since === null ? last_answered : silent_since;
  return (
    <>
      <span class={`state ${state}`}>{STATES[state]}</span>
      {at !== null && (
        <span>
          {silent_since === null ? ' ' : ' since '}
          <Moment at={at} /> <span class="quiet">{ageText(now - at)}</span>
        </span>
      )}
      {fault !== null && <span class="quiet"> It {fault}.</span>}
      {state === 'unanswered' && (
        <span class="quiet"> Each call since was stopped before it ended.</span>
      )}
    </>
  );
}

function carriedText(
  { ports, carries }: ProviderView,
  titles: ReadonlyMap<string, string>,
): string {
  const named = ports.flatMap((tag) => {
    const title = titles.get(tag);
    return title === undefined ? [] : [title];
  });
  const all = carries === null ? named : [...named, sentence(carries)];
  return all.length === 0 ? ports.join(', ') : all.join(', ');
}

function sentence(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const HOURS = 24;
const STEP = 9;
const BAR = 7;
const HEIGHT = 28;
const IDLE = 3;

/** Since when a provider is watched, where that is no whole day. */
function Watched({ of: { hours, watched_since: at }, now }: { of: ProviderView; now: number }) {
  if (hours.length >= HOURS) return null;
  return (
    <span class="quiet">
      {' '}
      Watched since <Moment at={at} />, {ageText(now - at)}.
    </span>
  );
}

function Day({ of }: { of: ProviderView }) {
  const { hours } = of;
  const blank = HOURS - hours.length;
  return (
    <>
      <svg
        class="day"
        viewBox={`0 0 ${HOURS * STEP} ${HEIGHT}`}
        role="img"
        aria-label={`${of.name}, hour by hour: ${dayText(of)}`}
      >
        <rect class="axis" x={0} y={HEIGHT - 1} width={HOURS * STEP} height={1} />
        {hours.map(({ from, calls }, i) => (
          <Hour key={from} x={(blank + i) * STEP} calls={calls} />
        ))}
      </svg>
      <span>{dayText(of)}</span>
    </>
  );
}

function Hour({ x, calls }: { x: number; calls: CallsOfHour | null }) {
  if (calls === null) {
    return <rect class="idle" x={x} y={HEIGHT - IDLE} width={BAR} height={IDLE} />;
  }
  const { answered, failed, stopped } = calls;
  const made = answered + failed + stopped;
  const heightOf = (count: number) => Math.round((count / made) * HEIGHT);
  const bad = heightOf(failed);
  const open = heightOf(stopped);
  return (
    <>
      <rect class="answered" x={x} y={bad + open} width={BAR} height={HEIGHT - bad - open} />
      <rect class="stopped" x={x} y={bad} width={BAR} height={open} />
      <rect class="failed" x={x} y={0} width={BAR} height={bad} />
    </>
  );
}

/** The day in words, which the picture repeats. */
function dayText({ hours }: ProviderView): string {
  const asked = hours.flatMap(({ calls }) => (calls === null ? [] : [calls]));
  const span = countWords(hours.length, 'hour');
  if (asked.length === 0) return `Not asked in ${span}.`;
  const sumOf = (key: keyof CallsOfHour) => asked.reduce((sum, calls) => sum + calls[key], 0);
  const [answered, failed, stopped] = [sumOf('answered'), sumOf('failed'), sumOf('stopped')];
  const ends = [
    `${answered.toLocaleString('en')} answered`,
    ...(failed === 0 ? [] : [`${failed.toLocaleString('en')} failed`]),
    ...(stopped === 0 ? [] : [`${stopped.toLocaleString('en')} stopped`]),
  ];
  const idle = hours.length - asked.length;
  const rest = idle === 0 ? '' : ` Not asked in ${idle} of ${span}.`;
  return `${countWords(answered + failed + stopped, 'call')}: ${ends.join(', ')}.${rest}`;
}

function Legend() {
  return (
    <p class="quiet legend">
      Each bar is an hour, the newest on the right: filled from below by the calls that were
      answered, from above by those that failed, hatched where a call was stopped before it ended. A
      line at the foot: nobody asked.
    </p>
  );
}

// Which event says that a contract's owner, admin, beacon or code became another one?

import { declaredEvent } from '../../chain/abi.ts';
import type { SetBy, SetFact } from '../../ports/accounts/chain-facts.ts';

/** Every form in which each event is declared: some index what others do not. */
const EVENTS: { readonly [F in SetFact]: readonly string[] } = {
  implementation: ['event Upgraded(address indexed next)', 'event Upgraded(address next)'],
  admin: [
    'event AdminChanged(address previous, address next)',
    'event AdminChanged(address indexed previous, address indexed next)',
  ],
  beacon: ['event BeaconUpgraded(address indexed next)'],
  owner: [
    'event OwnershipTransferred(address indexed previous, address indexed next)',
    'event OwnershipTransferred(address previous, address next)',
  ],
  delegates_to: [],
};

/** A log as it is needed here; hex in lower case. */
type SettingLog = {
  readonly topics: readonly string[];
  readonly data: string;
  readonly transactionHash: string;
  readonly blockNumber: number;
  readonly logIndex: number;
};

/** The topic of the event that sets a fact; `null` where there is none. */
export function settingTopic(fact: SetFact): string | null {
  const [declared] = EVENTS[fact];
  return declared === undefined ? null : declaredEvent(declared).topic;
}

/** The newest of a contract's logs that made a fact name this address; `null` where none did. */
export function newestSetting(
  fact: SetFact,
  address: string,
  logs: readonly SettingLog[],
): SetBy | null {
  const events = EVENTS[fact].map((declared) => declaredEvent(declared));
  const own = logs.filter((log) =>
    events.some((event) => Reflect.get(Object(event.fieldsOf(log)), 'next') === address),
  );
  let newest: SettingLog | null = null;
  for (const log of own) {
    const isNewer =
      newest === null ||
      log.blockNumber > newest.blockNumber ||
      (log.blockNumber === newest.blockNumber && log.logIndex > newest.logIndex);
    if (isNewer) newest = log;
  }
  return newest === null ? null : { tx: newest.transactionHash, block: newest.blockNumber };
}

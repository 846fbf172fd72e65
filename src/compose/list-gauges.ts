// Gauges of the sanctions list, of which alarms are made: by the store's clock, as the answers are,
// and none while no list is loaded.

import { startOfDay } from '../chain/time.ts';
import type { Snapshot, WatchedList } from '../stores/snapshots/sanctions.ts';
import type { GaugeReading } from '../transport/metrics.ts';

export function listGauges(snapshot: Pick<Snapshot, 'watched'>): GaugeReading[] {
  const gauge = (
    name: string,
    help: string,
    of: (watched: WatchedList) => number,
  ): GaugeReading => ({
    name: `exhibit_sanctions_${name}`,
    help,
    value: () => {
      const watched = snapshot.watched();
      return watched === null ? null : of(watched);
    },
  });
  return [
    gauge(
      'list_age_seconds',
      'Time since the list in force was last known to be the newest.',
      ({ now, publication }) => now - publication.checked_at,
    ),
    gauge(
      'publication_age_seconds',
      'Time since the publication date of the list in force.',
      ({ now, publication }) => now - startOfDay(publication.published),
    ),
    gauge(
      'superseded_seconds',
      'Time since a newer list was first seen and refused; 0 where none stands.',
      ({ now, superseded }) => (superseded === null ? 0 : now - superseded.since),
    ),
    gauge(
      'refused_files',
      'Files refused since the list in force was accepted.',
      ({ refusals }) => refusals,
    ),
  ];
}

// Records of screens: what was answered on which versions, kept for whoever has to show it later.

import { PLANS, planReader } from '../../access/plan.ts';
import { nowS } from '../../compose/clock.ts';
import {
  type Base,
  feature,
  type Members,
  type OpenedRests,
  type Service,
  servePage,
  serveRoute,
} from '../../compose/feature.ts';
import type { ScreeningRecords, ServedVersions } from '../../ports/screening.ts';
import { screeningRecordTable } from '../../stores/control/screening-records.ts';
import { servedVersions } from '../../stores/snapshots/sanctions.ts';
import { sanctions } from '../sanctions/feature.ts';
import { type OfacPorts, walletOfacHandler } from '../sanctions/wallet-ofac.route.ts';
import type { ScreenPorts } from '../screening/bulk-screen.ts';
import { bulkWalletScreenHandler } from '../screening/bulk-wallet-screen.route.ts';
import { tables } from '../tables/feature.ts';
import { recordsLocal } from './local.ts';
import {
  recordForm,
  recordFormHandler,
  screenPage,
  screenPageHandler,
  screensPage,
  screensPageHandler,
} from './record-pages.route.tsx';
import {
  type RecordsDependencies,
  recordBulkScreen,
  recordBulkScreenHandler,
  recordScreen,
  recordScreenHandler,
  screenRecord,
  screenRecordHandler,
  screenRecords,
  screenRecordsHandler,
  screenReplay,
  screenReplayHandler,
} from './records.route.ts';

type Rested = OpenedRests<{ tables: typeof tables; sanctions: typeof sanctions }>;
type RecordsOpened = OfacPorts &
  ScreenPorts & {
    readonly screeningRecords: ScreeningRecords;
    readonly servedVersions: ServedVersions;
    readonly service: Service;
  };

export const records = feature({
  name: 'records',
  heading: 'Records of screens',
  rests: { tables, sanctions },
  open: ({ config: { simulate: simulated }, context, database }: Base, opened: Rested) => {
    const { list, store } = opened.sanctions.services.sanctions;
    const { imports } = opened.tables;
    return {
      ports: {
        screeningRecords: screeningRecordTable(database, context),
        servedVersions: servedVersions({ list, store, imports, simulated, now: nowS }),
      },
      services: {},
    };
  },
  ports: {
    screeningRecords: {
      tag: 'screening_records',
      title: 'Records of screens',
      says: 'What a membership had screened, and what was answered',
      pages: true,
      freshness: { kind: 'per_answer', absence: () => null },
    },
    servedVersions: {
      tag: 'served_versions',
      title: 'Versions of lists and tables',
      says: 'Which versions answers rest on',
      pages: false,
      freshness: { kind: 'per_answer', absence: () => null },
    },
  },
  routes: [
    serveRoute(recordScreen, (given: RecordsOpened) => recordScreenHandler(recordsOver(given))),
    serveRoute(recordBulkScreen, (given: RecordsOpened) =>
      recordBulkScreenHandler(recordsOver(given)),
    ),
    serveRoute(screenRecords, (given: RecordsOpened) => screenRecordsHandler(recordsOver(given))),
    serveRoute(screenRecord, (given: RecordsOpened) => screenRecordHandler(recordsOver(given))),
    serveRoute(screenReplay, (given: RecordsOpened) => screenReplayHandler(recordsOver(given))),
  ],
  local: recordsLocal,
  pages: [
    servePage(screensPage, null, (given: RecordsOpened, facts) =>
      screensPageHandler(pagePorts(given), facts),
    ),
    servePage(screenPage, null, (given: RecordsOpened, facts) =>
      screenPageHandler(pagePorts(given), facts),
    ),
    servePage(recordForm, null, (given: RecordsOpened & { readonly members: Members }, facts) => {
      const { reading, settings } = given.members;
      const planOf = planReader(settings.memberships);
      return recordFormHandler({ ...recordsOver(given), reading, planOf }, facts);
    }),
  ],
});

function pagePorts({ screeningRecords: records, service: { base } }: RecordsOpened) {
  return { records, base };
}

const RECORDS_MAX = {
  analyst: PLANS.analyst.screening_records,
  desk: PLANS.desk.screening_records,
  enterprise: PLANS.enterprise.screening_records,
};

function recordsOver(given: RecordsOpened): RecordsDependencies {
  return {
    records: given.screeningRecords,
    versions: given.servedVersions,
    screensOver: (list) => {
      const sanctionsList = list === null ? given.sanctionsList : list;
      return {
        wallet_ofac: walletOfacHandler({ ...given, sanctionsList }),
        bulk_wallet_screen: bulkWalletScreenHandler({ ...given, sanctionsList }),
      };
    },
    code_version: given.service.version,
    recordsMax: RECORDS_MAX,
  };
}

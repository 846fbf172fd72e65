// Records of screens: what was answered on which versions, kept for whoever has to show it later.

import { PLANS } from '../../access/plan.ts';
import { recordNotShown, recordPage, recordsPage } from '../../features/records/record.page.tsx';
import {
  type DrawRecords,
  screenPage,
  screensPage,
} from '../../features/records/record-pages.contract.ts';
import {
  screenPageHandler,
  screensPageHandler,
} from '../../features/records/record-pages.route.ts';
import {
  recordBulkScreen,
  recordScreen,
  screenRecord,
  screenReplay,
} from '../../features/records/records.contract.ts';
import {
  type RecordsDesk,
  recordBulkScreenHandler,
  recordScreenHandler,
  screenRecordHandler,
  screenReplayHandler,
  UNKNOWN,
} from '../../features/records/records.route.ts';
import { type OfacPorts, walletOfacHandler } from '../../features/sanctions/wallet-ofac.route.ts';
import type { ScreenPorts } from '../../features/screening/bulk-screen.ts';
import { bulkWalletScreenHandler } from '../../features/screening/bulk-wallet-screen.route.ts';
import type { PageFacts } from '../../pages/layout.tsx';
import type { ScreeningRecords } from '../../ports/screening/screening-records.ts';
import type { ServedVersions } from '../../ports/screening/served-versions.ts';
import { screeningRecordTable } from '../../stores/control/screening-records.ts';
import { servedVersions } from '../../stores/snapshots/served-versions.ts';
import { nowS } from '../clock.ts';
import {
  type Base,
  feature,
  type OpenedRests,
  type Service,
  served,
  shownPage,
} from '../feature.ts';
import { sanctions } from './sanctions.ts';
import { tables } from './tables.ts';

type Rested = OpenedRests<{ tables: typeof tables; sanctions: typeof sanctions }>;
type Given = OfacPorts &
  ScreenPorts & {
    readonly screeningRecords: ScreeningRecords;
    readonly servedVersions: ServedVersions;
    readonly service: Service;
  };

export const records = feature({
  name: 'records',
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
    served(recordScreen, (given: Given) => recordScreenHandler(deskOf(given))),
    served(recordBulkScreen, (given: Given) => recordBulkScreenHandler(deskOf(given))),
    served(screenRecord, (given: Given) => screenRecordHandler(deskOf(given))),
    served(screenReplay, (given: Given) => screenReplayHandler(deskOf(given))),
  ],
  pages: [
    shownPage(screensPage, null, (given: Given, facts) =>
      screensPageHandler(pagesOf(given), drawRecords(facts)),
    ),
    shownPage(screenPage, null, (given: Given, facts) =>
      screenPageHandler(pagesOf(given), drawRecords(facts)),
    ),
  ],
});

function pagesOf({ screeningRecords: records, service: { base } }: Given) {
  return { records, base };
}

function drawRecords(facts: PageFacts): DrawRecords {
  return {
    list: (shown) => recordsPage(facts, shown),
    one: (shown) => recordPage(facts, shown),
    unread: (reason) => recordNotShown(facts, reason),
    unknown: () => recordNotShown(facts, UNKNOWN),
  };
}

const RECORDS_MAX = {
  analyst: PLANS.analyst.screening_records,
  desk: PLANS.desk.screening_records,
  enterprise: PLANS.enterprise.screening_records,
};

function deskOf(given: Given): RecordsDesk {
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

// What the service is, and how old each of its sources: `/health`.

import { health as healthContract } from '../../features/health/health.contract.ts';
import { healthHandler } from '../../features/health/health.route.ts';
import { feature, type Service, served } from '../feature.ts';

export const health = feature({
  name: 'health',
  open: () => ({ ports: {}, services: {} }),
  optional: [
    {
      name: 'operator token',
      setting: 'EXHIBIT_ADMIN_TOKEN',
      isSet: ({ adminToken }) => adminToken !== null,
      without: '/metrics and the detail of /ready are on the operations port only',
    },
  ],
  ports: {},
  routes: [
    served(healthContract, ({ service }: { readonly service: Service }) => healthHandler(service)),
  ],
});

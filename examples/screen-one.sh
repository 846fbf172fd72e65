#!/usr/bin/env bash
# Is one address on the published sanctions list, now or on a day in the past?
#   API_KEY=… examples/screen-one.sh ADDRESS [YYYY-MM-DD]
# Prints the answer. It was checked only where `state` is `ok`: see verdict.ts.
set -euo pipefail
address=${1:?which address?}
curl --silent --show-error --fail-with-body --max-time 30 --get \
  --header "Authorization: Bearer ${API_KEY:?an API key}" \
  ${2:+--data-urlencode "on=$2"} \
  "${BASE_URL:-http://127.0.0.1:8080}/api/v1/wallet/$address/ofac"

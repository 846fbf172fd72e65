#!/usr/bin/env bash
# What do the tables hold of several addresses? One question, one charge, no outside call.
#   API_KEY=… examples/screen-many.sh ADDRESS…
# Each result has flags of its own under `checked`; what is not checked there denies nothing.
set -euo pipefail
: "${1:?which addresses?}"
list=$(printf '"%s",' "$@")
curl --silent --show-error --fail-with-body --max-time 30 \
  --header "Authorization: Bearer ${API_KEY:?an API key}" \
  --header 'Content-Type: application/json' \
  --data "{\"addresses\":[${list%,}]}" \
  "${BASE_URL:-http://127.0.0.1:8080}/api/v1/bulk/wallet-screen"

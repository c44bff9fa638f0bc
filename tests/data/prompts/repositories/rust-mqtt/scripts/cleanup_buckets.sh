#!/usr/bin/env bash
set -euo pipefail
influx bucket list | awk '/test-/ {print $1}' | xargs -r -n1 influx bucket delete --id

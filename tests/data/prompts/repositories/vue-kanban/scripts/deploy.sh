#!/usr/bin/env bash
set -euo pipefail
rsync -a apps/web/dist/ deploy@planka.example:/srv/planka/

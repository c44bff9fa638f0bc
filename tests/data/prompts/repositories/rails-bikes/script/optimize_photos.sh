#!/usr/bin/env bash
set -euo pipefail
for f in public/photos/*.jpg; do
  jpegoptim --max=80 "$f"
done

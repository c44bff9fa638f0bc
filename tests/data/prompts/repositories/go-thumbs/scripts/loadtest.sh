#!/usr/bin/env bash
set -euo pipefail
hey -n 2000 -c 50 -m POST -D testdata/cat.jpg http://localhost:8080/v1/images

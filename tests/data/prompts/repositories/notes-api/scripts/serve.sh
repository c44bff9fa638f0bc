#!/bin/sh
python -m app.main

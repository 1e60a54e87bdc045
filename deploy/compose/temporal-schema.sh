#!/bin/sh
# Creates the tables of the Temporal server, or brings them to the version of this image.
# Doing it again changes nothing.
set -eu
for database in temporal temporal_visibility; do
  kind=${database#temporal_}
  run() { temporal-sql-tool --plugin postgres12 --endpoint postgres --port 5432 --user temporal --database "$database" "$@"; }
  run setup-schema --version 0.0
  run update-schema --schema-dir "/etc/temporal/schema/postgresql/v12/$kind/versioned"
done

# A database that may not be written can be read.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

sweep --model "$ssmax" --context-lengths 256 --depths 0 --samples 1 --db a.db
needlegrid heatmap --db a.db >before
chmod a-w a.db
needlegrid heatmap --db a.db | cmp - before && echo "it reads as before"
if [ -w a.db ]; then # the superuser writes all the same, so there is nothing to see
    cat <<'EOF'
$ needlegrid run
needlegrid: cannot write a.db: it is read-only
exit 2
EOF
else
    try run --model "$ssmax" --context-lengths 512 --depths 0 --samples 1 --db a.db |
        sed '1s/run .*/run/'
fi

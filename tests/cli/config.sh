# Options from a file; the command line beats it.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

cat >sweep.json <<'EOF'
{
  "model": ["models/tiny-softmax.gguf", "models/tiny-ssmax.gguf"],
  "context-lengths": [256, "1k"],
  "depths": "0,50.5",
  "samples": 2,
  "isa": "generic",
  "no-reuse": true,
  "db": "from-config.db"
}
EOF
needlegrid run --config sweep.json
needlegrid heatmap --db from-config.db

echo "---- the command line beats it"
needlegrid run --config sweep.json --model "$ssmax" --samples 1 --depths=100 --db from-line.db
needlegrid export --format grid --db from-line.db

echo "---- the run keeps what was said"
sqlite3 from-line.db "SELECT json_extract(settings, '\$.depths'), json_extract(settings, '\$.samples')
    FROM run"

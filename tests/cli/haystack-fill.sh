# A text that is too short for a length: what each --haystack-fill makes of it.
# shellcheck source=/dev/null
. "$ROOT/tests/support/cli.sh"

head -c 6000 "$ROOT/haystacks/essays/01-tides.txt" >short.txt
for fill in generate repeat shuffle; do
    echo "---- $fill"
    sweep --model "$ssmax" --haystack short.txt --haystack-fill $fill --context-lengths 256,512,2k \
        --depths 50 --samples 1 --db a.db
done
echo "---- refuse"
try run --model "$ssmax" --haystack short.txt --haystack-fill refuse --context-lengths 256,512,2k \
    --depths 50 --samples 1 --db refused.db
try run --model "$ssmax" --haystack short.txt --haystack-fill refuse --context-lengths 256 --dry-run
try run --model "$ssmax" --haystack short.txt --haystack-fill enlarge --dry-run
echo "---- stored"
sqlite3 a.db 'SELECT run_id, context_length, trial.haystack_name, outcome
    FROM trial ORDER BY run_id, context_length'
ls

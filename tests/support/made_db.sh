# shellcheck shell=sh
#
# A database whose outcomes are known, without inference: the schema is the program's own, the
# trials are written through sqlite3.

# made_db DB: an empty database of the program's schema with one run of one trial, then none.
made_db() {
    sweep --model "$softmax" --context-lengths 256 --depths 0 --samples 1 --db "$1" >/dev/null 2>&1
    sqlite3 "$1" "DELETE FROM trial; UPDATE run SET model_name = 'made', training_length = 256"
}

# made_trials DB LENGTHS DEPTHS SAMPLES RIGHT: trials of run 1. LENGTHS and DEPTHS are JSON arrays,
# RIGHT an SQL expression over length, depth and sample that is 1 for a hit.
made_trials() {
    sqlite3 "$1" "
        CREATE TEMP TABLE made AS
        WITH RECURSIVE samples(sample) AS
            (SELECT 0 UNION ALL SELECT sample + 1 FROM samples WHERE sample < $4 - 1)
        SELECT length.value AS length, depth.value AS depth, sample, 0 AS is_right
        FROM json_each('$2') AS length, json_each('$3') AS depth, samples;
        UPDATE made SET is_right = $5;
        INSERT INTO trial (run_id, trial_key, pair_key, context_length, target_depth, actual_depth,
            sample, seed, prompt_tokens, haystack_tokens, max_tokens, question_at, needle_at,
            needle_tokens, n_expected, expected, absent, response, outcome, counted, scorer, score,
            latency_ms, evaluated_tokens, reused_tokens)
        SELECT 1, lower(hex(randomblob(32))), lower(hex(randomblob(32))), length, depth, depth,
            sample, '0', 200, 150, 16, 190, 10, 12, 1, '1234567', 0, '',
            CASE WHEN is_right THEN 'hit' ELSE 'wrong' END, 1, 'number', is_right, 0, 0, 0
        FROM made"
}

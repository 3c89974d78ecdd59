/*
 * The schema, with each column explained where `sqlite3 FILE .schema` prints it.
 *
 * Never change a step that was released: add one, and raise STORE_VERSION.
 */
#include "store_impl.h"

/* Seeds are unsigned 64-bit numbers, which an INTEGER cannot hold: they are decimal TEXT. */

static const char run_table[] =
    "CREATE TABLE run ( -- one configuration under test; starting it again continues it\n"
    "  run_id INTEGER PRIMARY KEY,\n"
    "  run_key TEXT NOT NULL UNIQUE -- SHA-256 in hex of all that makes it this run\n"
    "    CHECK (length(run_key) = 64 AND run_key NOT GLOB '*[^0-9a-f]*'),\n"
    "  model_name TEXT NOT NULL, -- general.name of the model's file, or the file's name\n"
    "  model_hash TEXT, -- SHA-256 of the model's file, in hex\n"
    "  backend TEXT, -- 'embedded'\n"
    "  rule TEXT NOT NULL, -- attention rule as run: 'softmax', 'ssmax', ...\n"
    "  rule_detail TEXT, -- where the rule's scales come from, rope overrides\n"
    "  task TEXT NOT NULL, -- 'single', ...\n"
    "  template_name TEXT,\n"
    "  template_hash TEXT, -- SHA-256 of template_text, in hex\n"
    "  template_text TEXT,\n"
    "  haystack_name TEXT, -- as asked for; trial.haystack_name is the one used\n"
    "  tokenizer_hash TEXT,\n"
    "  isa TEXT, -- instruction set of the kernels\n"
    "  numerics INTEGER NOT NULL, -- revision of the engine's arithmetic\n"
    "  training_length INTEGER -- tokens the model was trained at; NULL if unknown\n"
    "    CHECK (training_length > 0),\n"
    "  seed TEXT NOT NULL -- unsigned, decimal; ORDER BY length(seed), seed\n"
    "    CHECK (length(seed) BETWEEN 1 AND 20 AND seed NOT GLOB '*[^0-9]*'),\n"
    "  -- not part of the key:\n"
    "  model_path TEXT, -- where the model lay\n"
    "  tool_version TEXT, -- of the program that started the run\n"
    "  started_at TEXT, -- UTC, ISO 8601\n"
    "  settings TEXT -- JSON: every option as given\n"
    ") STRICT";

#define OUTCOME_COLUMNS                                                                            \
    "  outcome TEXT NOT NULL CHECK (outcome IN ('hit', 'decoy', 'partial', 'refusal', 'wrong',\n"  \
    "    'empty', 'length-stopped', 'truncated-by-server', 'over-length', 'transport-error',\n"    \
    "    'skipped', 'no-verdict')),\n"                                                             \
    "  counted INTEGER NOT NULL -- 1: the model's doing, in the denominator\n"                     \
    "    CHECK (counted = (outcome IN ('hit', 'decoy', 'partial', 'refusal', 'wrong', 'empty',\n"  \
    "      'length-stopped'))),\n"

static const char trial_table[] =
    "CREATE TABLE trial ( -- one question asked: a needle at one depth of one context length\n"
    "  trial_id INTEGER PRIMARY KEY,\n"
    "  run_id INTEGER NOT NULL REFERENCES run,\n"
    "  trial_key TEXT NOT NULL UNIQUE -- SHA-256 in hex of all that affects prompt or answer\n"
    "    CHECK (length(trial_key) = 64 AND trial_key NOT GLOB '*[^0-9a-f]*'),\n"
    "  pair_key TEXT NOT NULL -- the same for every model and rule that got this prompt\n"
    "    CHECK (length(pair_key) = 64 AND pair_key NOT GLOB '*[^0-9a-f]*'),\n"
    "  context_length INTEGER NOT NULL -- tokens: prompt and generation reserve together\n"
    "    CHECK (context_length > 0),\n"
    "  target_depth REAL -- where the needle was wanted, percent of the haystack; NULL: nowhere\n"
    "    CHECK (target_depth BETWEEN 0 AND 100),\n"
    "  actual_depth REAL -- where it starts, snapped to a sentence; NULL: there is none\n"
    "    CHECK (actual_depth BETWEEN 0 AND 100),\n"
    "  sample INTEGER NOT NULL CHECK (sample >= 0), -- counts from 0\n"
    "  seed TEXT NOT NULL -- as run.seed\n"
    "    CHECK (length(seed) BETWEEN 1 AND 20 AND seed NOT GLOB '*[^0-9]*'),\n"
    "  haystack_name TEXT,\n"
    "  haystack_hash TEXT, -- of its content\n"
    "  prompt_tokens INTEGER NOT NULL CHECK (prompt_tokens >= 0),\n"
    "  haystack_tokens INTEGER NOT NULL CHECK (haystack_tokens >= 0), -- of the prompt\n"
    "  max_tokens INTEGER NOT NULL CHECK (max_tokens >= 0), -- the generation reserve\n"
    "  question_at INTEGER NOT NULL CHECK (question_at >= 0), -- token index in the prompt\n"
    "  needle_at INTEGER NOT NULL CHECK (needle_at >= 0), -- of the first needle asked for\n"
    "  needle_tokens INTEGER NOT NULL CHECK (needle_tokens >= 0),\n"
    "  needle_key TEXT, -- the city\n"
    "  needles TEXT, -- JSON: [[at, n, value_at, value_n, asked], ...] in tokens of the prompt\n"
    "  n_expected INTEGER NOT NULL CHECK (n_expected >= 0), -- values asked for\n"
    "  expected TEXT, -- these values, joined by ', '\n"
    "  decoys TEXT, -- the values of all other needles, joined by ', '\n"
    "  absent INTEGER NOT NULL CHECK (absent IN (0, 1)), -- 1: naming a value is the miss\n"
    "  response TEXT, -- the answer, raw\n" OUTCOME_COLUMNS "  scorer TEXT, -- 'number', ...\n"
    "  scorer_hash TEXT, -- of its rules, pattern and refusals\n"
    "  score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),\n"
    "  logprob REAL, -- mean natural-log probability per token of the right answer\n"
    "  worst_rank INTEGER CHECK (worst_rank >= 1), -- of those tokens; 1: all are the argmax\n"
    "  finish_reason TEXT, -- 'stop', 'length', ...\n"
    "  excerpt TEXT, -- of the prompt: its start, around the needle, its end\n"
    "  error TEXT, -- why a trial that is not counted failed, or its scorer\n"
    "  -- left out of the canonical dump:\n"
    "  latency_ms REAL NOT NULL CHECK (latency_ms >= 0),\n"
    "  evaluated_tokens INTEGER NOT NULL CHECK (evaluated_tokens >= 0),\n"
    "  reused_tokens INTEGER NOT NULL CHECK (reused_tokens >= 0), -- found in the cache\n"
    "  tool_version TEXT,\n"
    "  finished_at TEXT -- UTC, ISO 8601\n"
    ") STRICT";

static const char verdict_table[] =
    "CREATE TABLE verdict ( -- what another scorer said later; the trial's own verdict stays\n"
    "  trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,\n"
    "  scorer TEXT NOT NULL,\n"
    "  scorer_hash TEXT, -- of its rules, pattern and refusals\n"
    "  pattern TEXT, -- of the scorer 'regex'\n" OUTCOME_COLUMNS
    "  score REAL NOT NULL CHECK (score BETWEEN 0 AND 1),\n"
    "  error TEXT, -- why there is no verdict\n"
    "  -- left out of the canonical dump:\n"
    "  tool_version TEXT,\n"
    "  scored_at TEXT, -- UTC, ISO 8601\n"
    "  PRIMARY KEY (trial_id, scorer)\n"
    ") STRICT, WITHOUT ROWID";

static const char attention_table[] =
    "CREATE TABLE attention ( -- what the prompt's last token attends to\n"
    "  trial_id INTEGER NOT NULL REFERENCES trial ON DELETE CASCADE,\n"
    "  layer INTEGER NOT NULL CHECK (layer >= 0),\n"
    "  head INTEGER NOT NULL CHECK (head >= 0),\n"
    "  needle_mass REAL NOT NULL, -- share on the needle's tokens\n"
    "  value_mass REAL NOT NULL, -- on its value's\n"
    "  entropy REAL NOT NULL, -- nats\n"
    "  max REAL NOT NULL, -- the largest weight\n"
    "  PRIMARY KEY (trial_id, layer, head)\n"
    ") STRICT, WITHOUT ROWID";

/*
 * The order of store_each_trial(), and all that the view `grid` and another scorer's cells read:
 * they never see the table.
 */
static const char trial_index[] =
    "CREATE INDEX trial_by_cell ON trial\n"
    "  (run_id, context_length, target_depth, sample, counted, outcome, score, logprob, scorer)";

static const char trials_view[] =
    "CREATE VIEW trials AS -- one row a trial, columns of its run joined\n"
    "SELECT t.trial_id, t.run_id, t.trial_key, t.pair_key, r.model_name AS model, r.model_hash,\n"
    "  r.backend, r.rule, r.rule_detail, r.isa, r.numerics, r.training_length, r.task,\n"
    "  r.template_name AS template, r.template_hash, t.haystack_name AS haystack,\n"
    "  t.haystack_hash, r.tokenizer_hash, t.context_length, t.target_depth, t.actual_depth,\n"
    "  t.sample, t.seed, t.prompt_tokens, t.haystack_tokens, t.max_tokens, t.question_at,\n"
    "  t.needle_at, t.needle_tokens, t.needle_key, t.needles, t.n_expected, t.expected,\n"
    "  t.decoys, t.absent, t.response, t.outcome, t.counted, t.scorer, t.scorer_hash, t.score,\n"
    "  t.logprob, t.worst_rank, t.finish_reason, t.excerpt, t.error, t.latency_ms, "
    "t.evaluated_tokens,\n"
    "  t.reused_tokens, t.tool_version, t.finished_at\n"
    "FROM trial AS t JOIN run AS r ON r.run_id = t.run_id";

static const char grid_view[] =
    "CREATE VIEW grid AS -- one row a cell: n trials count, hits of them are right\n"
    "SELECT c.run_id, r.model_name AS model, r.rule, r.task, c.context_length, c.target_depth,\n"
    "  c.n, c.hits, c.score / nullif(c.n, 0) AS accuracy, c.not_counted, c.mean_logprob,\n"
    "  c.score -- sum over the trials that count\n"
    "FROM (\n"
    "  SELECT run_id, context_length, target_depth, sum(counted) AS n,\n"
    "    sum(outcome = 'hit') AS hits, sum(1 - counted) AS not_counted,\n"
    "    avg(logprob) FILTER (WHERE counted) AS mean_logprob,\n"
    "    total(score) FILTER (WHERE counted) AS score\n"
    "  FROM trial GROUP BY run_id, context_length, target_depth\n"
    ") AS c JOIN run AS r ON r.run_id = c.run_id";

static const char verdicts_view[] =
    "CREATE VIEW verdicts AS -- one row a trial and scorer: the trial's own, and those made later\n"
    "SELECT run_id, trial_id, context_length, target_depth, scorer, 1 AS own, outcome, counted,\n"
    "  score FROM trial\n"
    "UNION ALL\n"
    "SELECT t.run_id, t.trial_id, t.context_length, t.target_depth, v.scorer, 0, v.outcome,\n"
    "  v.counted, v.score FROM verdict AS v JOIN trial AS t ON t.trial_id = v.trial_id";

static const char *const version_1[] = {
    run_table, trial_table,   verdict_table, attention_table, trial_index, trials_view,
    grid_view, verdicts_view, NULL,
};

const char *const *const store_steps[STORE_VERSION] = {version_1};

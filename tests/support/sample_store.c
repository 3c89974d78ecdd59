#include "sample_store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void key_of(const char *kind, int number, char hex[HASH_HEX_SIZE])
{
    struct error e;
    char text[64];
    int n = snprintf(text, sizeof(text), "%s %d", kind, number);

    if (hash_memory(text, (size_t)n, hex, &e) != OK)
        abort();
}

void sample_run(struct sample_run *r, int number)
{
    memset(r, 0, sizeof(*r));
    key_of("run", number, r->key);
    r->record.run_key = r->key;
    r->record.model_name = "tiny";
    r->record.model_hash = "c0ffee";
    r->record.backend = "embedded";
    r->record.rule = number % 2 ? "ssmax" : "softmax";
    r->record.rule_detail = "scales of the file";
    r->record.task = "single";
    r->record.template_name = "base";
    r->record.template_hash = "7e3a";
    r->record.template_text = "{haystack}\n{question}";
    r->record.haystack_name = "essays";
    r->record.tokenizer_hash = "70ce";
    r->record.isa = "generic";
    r->record.numerics = 1;
    r->record.training_length = 256;
    r->record.seed = UINT64_MAX;
    r->record.model_path = "models/tiny.gguf";
    r->record.tool_version = "v1";
    r->record.started_at = "2025-01-31T12:00:00Z";
    r->record.settings = "{\"seed\":\"18446744073709551615\"}";
}

void sample_trial(struct sample_trial *t, int number)
{
    memset(t, 0, sizeof(*t));
    key_of("trial", number, t->key);
    key_of("pair", number, t->pair);
    t->record.trial_key = t->key;
    t->record.pair_key = t->pair;
    t->record.context_length = 256;
    t->record.target_depth = 50;
    t->record.actual_depth = 48.5;
    t->record.sample = number;
    t->record.seed = UINT64_MAX;
    t->record.haystack_name = "essays";
    t->record.haystack_hash = "4a75";
    t->record.prompt_tokens = 240;
    t->record.haystack_tokens = 200;
    t->record.max_tokens = 16;
    t->record.question_at = 228;
    t->record.needle_at = 120;
    t->record.needle_tokens = 12;
    t->record.needle_key = "Tokyo";
    t->record.needles = "[[120,12,128,3,1],[60,12,68,3,0]]";
    t->record.n_expected = 1;
    t->record.expected = "8106422";
    t->record.decoys = "3105577";
    t->record.response = " 8106422.";
    t->record.outcome = "hit";
    t->record.counted = true;
    t->record.scorer = "number";
    t->record.scorer_hash = "5c0e";
    t->record.score = 1;
    t->record.has_logprob = true;
    t->record.logprob = -0.1;
    t->record.worst_rank = 1;
    t->record.finish_reason = "stop";
    t->record.excerpt = "start [...] needle [...] end";
    t->record.latency_ms = 12.5;
    t->record.evaluated_tokens = 200;
    t->record.reused_tokens = 40;
    t->record.tool_version = "v1";
    t->record.finished_at = "2025-01-31T12:00:01Z";
}

void sample_fail(struct sample_trial *t)
{
    t->record.response = NULL;
    t->record.outcome = "transport-error";
    t->record.counted = false;
    t->record.score = 0;
    t->record.has_logprob = false;
    t->record.error = "connection refused";
}

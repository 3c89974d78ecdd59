/* The words of generated prose: data in prose_words.c and prose_topics.c, used by prose.c. */
#ifndef TEXT_PROSE_IMPL_H
#define TEXT_PROSE_IMPL_H

#include <stddef.h>

/* A list of phrases; the last is NULL. */
typedef const char *const *phrases;

/* A place with what belongs to it. */
struct topic {
    const char *place; /* "the mill" */
    const char *at;    /* "at the mill" */
    phrases figures;   /* "miller": people by role */
    phrases things;    /* "the sluice gate": singular, stands still */
    phrases goods;     /* "sacks of barley": can be counted and carried */
    phrases chores;    /* "mend|mended|mending|the torn sacks" */
    phrases truths;    /* "a millstone wears first at the rim" */
};

extern const struct topic prose_topics[];
extern const size_t prose_n_topics;

/* A time of day: phrases to begin a paragraph with, to go on with, to end with. */
struct daypart {
    phrases open;
    phrases later;
    phrases end;
};

extern const struct daypart prose_dayparts[];
extern const size_t prose_n_dayparts;

extern const phrases prose_weathers[]; /* clauses, one list per kind of weather */
extern const size_t prose_n_weathers;

/*
 * Lists that a sentence form names as {name}, besides those of topic, daypart and weather; a
 * phrase can have slots of its own.
 */
struct word_list {
    const char *name;
    phrases words;
};

extern const struct word_list prose_lists[];
extern const size_t prose_n_lists;

/*
 * Sentence forms. Slots in braces, with a capital where the phrase begins a sentence:
 *   {figure} the person of the paragraph, {who} the same or a pronoun, {he} {him} {his},
 *   {other} a second person, {place} {at} {thing} {goods} {truth}, {chore} {chore.ed} {chore.ing},
 *   {weather}, {open} {later} {end} of the time of day, and the lists of prose_lists.
 */
extern const char *const prose_openings[];
extern const char *const prose_middles[];
extern const char *const prose_closings[];

#endif

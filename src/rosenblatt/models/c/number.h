/* The score is the number. */
static double NAME_decide(const double *scores) { return scores[0]; }

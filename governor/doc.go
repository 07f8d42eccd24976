// Package governor finds the hidden rate limit of a provider and stays just below it.
//
// The package is pure arithmetic. The current time is a parameter; nothing here sleeps, reads a clock or starts a
// goroutine. One Governor belongs to one provider. It decides when the next request may be sent, learns from
// every response, and returns what the next run should remember. Package governor/governhttp does the waiting for
// HTTP; other transports can do the same.
//
// A program creates one Call per request. Call.Next returns how long to wait, or an error if the request must not
// be sent. Call.Observe reports the outcome and returns whether to send the request again. Config holds the
// numbers that a program may set; DefaultConfig suits a provider with an unknown limit. Governor.Snapshot returns
// the learned state and RestoreLearned reads it in the next run.
//
// There is one control variable: the interval between requests. It starts at the discovery interval and shrinks
// with every success until the provider refuses a request. The refusal shows the limit: the rate that was
// delivered since the refusal before. The governor resumes just below that limit and slowly climbs past it,
// because only a faster request can discover that a limit has risen. The more a refusal costs, the slower the
// climb. Errors never shorten the interval, and no success brings it below the owner's minimum, Config.Ceiling.
//
// If responses take longer than the interval, one request at a time cannot reach the limit. With Config.Lanes the
// governor also chooses how many requests may be in flight. It starts with one lane, adds lanes while they
// increase the rate, and removes one after a refusal. The interval still decides when a request is sent.
//
// Several runs may share one quota. Governor.SetShare sets the number of runs and the position of this one. The
// runs exchange PeerUpdate values, apply them with Governor.ApplyPeerUpdate, and send in turns.
//
// The governor obeys the provider's explicit instructions: a Retry-After delays all requests until that instant,
// and an exhausted quota delays them until its reset. Neither ever shortens the interval.
package governor

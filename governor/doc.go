// Package governor finds the hidden limit of a provider and holds it.
//
// It is arithmetic: now is a parameter, nothing here waits, reads a clock or
// starts a goroutine. A Governor belongs to one provider and answers three
// questions at once: when may the next request leave, what follows from an
// answer, and what is worth remembering for the next run. Waiting is done by
// governor/governhttp, for every transport.
//
// For each request a program makes a Call. Call.Next says how long to wait, or that the
// request is not to be sent; Call.Observe takes what came of it and says whether to send
// again. Config holds the few numbers that a program may set; Default is right for a
// provider about which nothing is known. Snapshot gives what was learned and Restore
// reads it back in the next run.
//
// The one control variable is the interval between requests. It starts at the
// discovery interval and shrinks with every success until the provider refuses.
// From then on the pacer remembers the limit as the rate that was delivered
// between two refusals, resumes just below it and climbs slowly past it, because
// a limit that rose can be found in no other way. The more a refusal costs, the
// slower it climbs. An error never speeds it up, and nothing undercuts the
// owner's ceiling.
//
// Where answers take longer than the interval, one request at a time is slower than any
// limit. With Config.Lanes the governor also finds out how many should be in flight:
// one at first, more for as long as that pays, fewer when something is refused. The
// interval stays what decides when a request leaves.
//
// Several runs on one allowance are told of each other by Divide, and pass on what they
// find out as News, which Heed takes in; then they take turns.
//
// What the provider announces is obeyed as it is announced: a Retry-After holds
// everything until that instant, and an exhausted quota holds everything until
// its reset. Neither makes the pace faster.
package governor

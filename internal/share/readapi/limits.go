package readapi

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/pdpp-go/pdpp/internal/share/grants"
)

// GrantLimits bound what one grant can ask of this server; zero means the usual.
type GrantLimits struct {
	InFlight  int           // reads at once, of which one reads and the others wait for it
	PerMinute int           // reads on average, and as many at once after a quiet minute
	Deadline  time.Duration // of one read
}

// Default limits. A client that reads page by page never meets the first two.
const (
	usualInFlight  = 2
	usualPerMinute = 600
	usualDeadline  = 10 * time.Second
)

// maxReaders is how many grants are remembered before quiet ones are forgotten.
const maxReaders = 1000

// limiter counts the reads of grants. It identifies them by the digests of their tokens, so that it can reject a read
// before any database query. A known token is not proof that it is valid.
type limiter struct {
	GrantLimits
	now     func() time.Time
	mu      sync.Mutex
	readers map[[sha256.Size]byte]*reader
}

// reader is one grant.
type reader struct {
	inFlight int
	feeds    int
	pace     *rate.Limiter
	turn     chan struct{} // held by the one read that reads, so that no grant keeps two processors busy
}

func newLimiter(l GrantLimits, now func() time.Time) *limiter {
	l.InFlight, l.PerMinute = cmp.Or(l.InFlight, usualInFlight), cmp.Or(l.PerMinute, usualPerMinute)
	l.Deadline = cmp.Or(l.Deadline, usualDeadline)
	return &limiter{GrantLimits: l, now: now, readers: map[[sha256.Size]byte]*reader{}}
}

// reader returns the reader with the token; nil if there is none.
func (l *limiter) reader(token string) *reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.readers[sha256.Sum256([]byte(token))]
}

// remember makes the bearer of a grant's token a reader.
func (l *limiter) remember(token string) *reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := sha256.Sum256([]byte(token))
	if r := l.readers[name]; r != nil {
		return r
	}
	l.forget(l.now())
	r := &reader{pace: rate.NewLimiter(rate.Limit(float64(l.PerMinute)/60), l.PerMinute), turn: make(chan struct{}, 1)}
	l.readers[name] = r
	return r
}

// begin admits a read when it is its turn, until done is called, or returns when to retry.
func (l *limiter) begin(r *reader) (done func(), err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if r.inFlight >= l.InFlight {
		return nil, tooMany(fmt.Sprintf("The grant has %d reads under way, and may have no more at once.", l.InFlight),
			time.Second)
	}
	if next := r.pace.ReserveN(now, 1); next.DelayFrom(now) > 0 {
		wait := next.DelayFrom(now)
		next.CancelAt(now)
		return nil, tooMany(fmt.Sprintf("The grant has read more than %d times in a minute.", l.PerMinute), wait)
	}
	r.inFlight++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		r.inFlight--
	}, nil
}

// enterFeed counts one more feed, unless there are enough.
func (l *limiter) enterFeed(r *reader) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if r.feeds >= maxFeedsOfGrant {
		return false
	}
	r.feeds++
	return true
}

func (l *limiter) leaveFeed(r *reader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	r.feeds--
}

// forget drops the grants that have their whole allowance again, once there are many.
func (l *limiter) forget(now time.Time) {
	if len(l.readers) < maxReaders {
		return
	}
	for name, r := range l.readers {
		if r.inFlight+r.feeds == 0 && r.pace.TokensAt(now) >= float64(l.PerMinute) {
			delete(l.readers, name)
		}
	}
}

// queueFull rejects a caller if the queue of strangers is full.
func queueFull() error {
	return tooMany("Too many requests from this address wait to be told apart.", time.Second)
}

func tooMany(message string, wait time.Duration) error {
	e := grants.Refused(grants.CodeRateLimit, "", message,
		"Wait as long as Retry-After says, and read one page after the other.")
	e.RetryAfter = time.Duration(math.Ceil(wait.Seconds())) * time.Second
	return e
}

// errDeadline reports that a read was ended before it was complete.
func errDeadline(after time.Duration) error {
	return grants.Refused(grants.CodeReadTimeout, "", fmt.Sprintf("The read was ended after %s without an answer.", after),
		"Ask for less at once: leave a filter out that matches few records and choose among the records yourself, or "+
			"search for rarer words.")
}

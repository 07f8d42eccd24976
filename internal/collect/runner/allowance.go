package runner

import (
	"context"
	"sync"
	"time"

	"github.com/pdpp-go/pdpp/protocol"
)

// Allowances lets runs share what a provider allows all of them together.
type Allowances interface {
	// Join has the run draw on an allowance, and gives its part. From then on hear is told, from any goroutine,
	// whenever the part changes or others have news; it does not block.
	Join(ctx context.Context, c Claim, hear func(Part)) (Drawing, Part, error)
}

// Claim is what a connector says that a sender draws on. Provider and account are neither stored nor logged.
type Claim struct {
	Sender   string // who draws on it
	Provider string
	Account  string // empty: what everybody at this address has
}

// Part is a run's part of an allowance: how many runs there are, and which this one is.
type Part struct {
	Runs, Place int
	Learned     protocol.Numbers // by runs before this one; in the answer to Join alone
	News        []protocol.AllowanceNews
}

// Drawing is a run that draws on an allowance, until it leaves.
type Drawing interface {
	// Tell passes on what the connector tells the runs beside it, and those after it. It does not block.
	Tell(news, learned protocol.Numbers)
	Leave(ctx context.Context)
}

const (
	// joinWithin bounds the joining and the leaving: a run is better alone than held up.
	joinWithin = 5 * time.Second
	// hearEvery is the least time between two lines of news to a connector; what comes meanwhile comes together.
	hearEvery = 100 * time.Millisecond
	// tellEvery is how often a run may tell something of its allowances in the long run, and tellAtOnce how
	// often in a row. What is told beyond that is left out: the next news says all of it again.
	tellEvery, tellAtOnce = 100 * time.Millisecond, 20
)

// allowance joins an allowance, or passes on what is told of one.
func (s *session) allowance(ctx context.Context, m *protocol.Allowance) error {
	d := s.drawings[m.Sender]
	broken := func(want string) error {
		return &protocol.Violation{Subtype: protocol.InvalidField, MessageType: m.Type(), Expected: []string{want}}
	}
	switch {
	case s.spec.Allowances == nil:
		return broken("no ALLOWANCE: START does not say that it is understood")
	case m.RequestID == "" && d == nil:
		return broken("news of a sender that draws on an allowance")
	case m.RequestID == "":
		if s.mayTell(time.Now()) {
			d.Tell(m.News, m.Learned)
		}
		return nil
	case d != nil:
		return broken("one allowance of each sender")
	case len(s.drawings) == protocol.MaxAllowances:
		return broken("at most 8 allowances of a run")
	}
	d = &drawing{session: s, sender: m.Sender, wake: make(chan struct{}, 1), news: map[int64]protocol.AllowanceNews{}}
	ctx, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	joined, part, err := s.spec.Allowances.Join(ctx, Claim{Sender: m.Sender, Provider: m.Provider, Account: m.Account}, d.hear)
	if err != nil {
		joined, part = nobody{}, Part{Runs: 1} // it goes on by itself
	}
	d.Drawing = joined
	if s.drawings == nil {
		s.drawings = map[string]*drawing{}
	}
	s.drawings[m.Sender] = d
	s.send("allowance_share", &protocol.AllowanceShare{
		RequestID: m.RequestID, Sender: m.Sender, Runs: part.Runs, Place: part.Place, Learned: part.Learned, News: part.News,
	})
	s.background.Go(d.deliver)
	return nil
}

// mayTell takes a connector's word on an allowance, or leaves it out when there were too many.
func (s *session) mayTell(now time.Time) bool {
	s.tells = max(0, s.tells-float64(now.Sub(s.lastTold))/float64(tellEvery))
	s.lastTold = now
	if s.tells >= tellAtOnce {
		return false
	}
	s.tells++
	return true
}

// leaveAllowances gives the run's part of them back.
func (s *session) leaveAllowances(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, joinWithin)
	defer cancel()
	for _, d := range s.drawings {
		d.Leave(ctx)
	}
}

// nobody is a drawing that was not to be had.
type nobody struct{}

func (nobody) Tell(_, _ protocol.Numbers) {}
func (nobody) Leave(_ context.Context)    {}

// drawing is a sender that draws on an allowance, and what its connector has not been told yet.
type drawing struct {
	Drawing
	session *session
	sender  string
	wake    chan struct{}

	mu   sync.Mutex
	part Part
	news map[int64]protocol.AllowanceNews // the newest of each run
}

func (d *drawing) hear(p Part) {
	d.mu.Lock()
	d.part = p
	for _, n := range p.News {
		d.news[n.From] = n
	}
	d.mu.Unlock()
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// deliver tells the connector what there is to tell, until the dialogue is over.
func (d *drawing) deliver() {
	over := d.session.over.Done()
	for {
		select {
		case <-over:
			return
		case <-d.wake:
		}
		line, err := protocol.AppendLine(nil, d.next())
		if err != nil {
			continue // it is said again with the next
		}
		select {
		case <-over:
			return
		case d.session.outgoing <- outgoing{"allowance_share", line}:
		}
		pause := time.NewTimer(hearEvery)
		select {
		case <-over:
			pause.Stop()
			return
		case <-pause.C:
		}
	}
}

func (d *drawing) next() *protocol.AllowanceShare {
	d.mu.Lock()
	defer d.mu.Unlock()
	m := &protocol.AllowanceShare{Sender: d.sender, Runs: d.part.Runs, Place: d.part.Place}
	for _, n := range d.news {
		m.News = append(m.News, n)
	}
	clear(d.news)
	return m
}
